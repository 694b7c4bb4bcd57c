"""Every write about identity providers, their rules and domains, and how people may sign in."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import URLValidator
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import Role, User
from tenants.selectors import roles_of

from . import selectors
from .claims import ProviderFailed
from .domains import check_domain_name, proof_is_published
from .mapping import apply_groups, known_groups
from .models import (
    EmailDomain,
    GroupRule,
    IdentityProvider,
    LinkPermission,
    Protocol,
    ProviderState,
    SignInPolicy,
    UsedAssertion,
)
from .outbound import get_bytes
from .saml_metadata import read_metadata
from .secrets import reseal, seal

LINK_LIFETIME = timedelta(days=14)


def _require_administrator(actor: User | None) -> None:
    """`actor` None is the platform's operator."""
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator changes how people sign in.")


@transaction.atomic
def save_provider(
    *,
    provider: IdentityProvider,
    client_secret: str = "",
    metadata_address: str = "",
    actor: User | None = None,
) -> IdentityProvider:
    """Add a provider or change one. An empty secret keeps the one that is stored.

    A SAML provider's metadata is `saml_metadata`, or is fetched from `metadata_address` now; its
    issuer is what the metadata says. What is changed has to be tried again before it is used. Raises
    ValidationError, PermissionDenied.
    """
    _require_administrator(actor)
    if provider.protocol == Protocol.SAML:
        _describe_by_metadata(provider, metadata_address, client_secret)
    else:
        _describe_by_issuer(provider, metadata_address, client_secret)
    new = provider._state.adding
    if not new:
        provider.state, provider.tried_at = ProviderState.DRAFT, None
    provider.clean_fields()
    try:
        with transaction.atomic():
            provider.save()
    except IntegrityError:
        raise ValidationError(
            "This client of this issuer is registered here already, or people sign in through it "
            "and its issuer and protocol must stay as they are. Add another provider instead."
        ) from None
    _record("identity.provider_added" if new else "identity.provider_changed", provider, actor)
    return provider


def _describe_by_issuer(provider: IdentityProvider, metadata_address: str, secret: str) -> None:
    provider.issuer = provider.issuer.strip()
    if provider.saml_metadata or metadata_address:
        raise ValidationError("Metadata belongs to SAML 2.0. Leave it empty for OpenID Connect.")
    if not provider.client_id:
        raise ValidationError("OpenID Connect needs the client ID that the provider has given.")
    URLValidator(schemes=["http", "https"], message="Enter the issuer's address.")(provider.issuer)
    if secret:
        provider.client_secret = seal(secret)


def _describe_by_metadata(provider: IdentityProvider, address: str, secret: str) -> None:
    if provider.client_id or secret:
        raise ValidationError("A client ID and secret belong to OpenID Connect, not to SAML 2.0.")
    try:
        if address:
            provider.saml_metadata = get_bytes(address).decode()
        if not provider.saml_metadata.strip():
            raise ValidationError("SAML 2.0 needs the provider's metadata, or the address of it.")
        provider.issuer = read_metadata(provider.saml_metadata).entity_id
    except UnicodeDecodeError:
        raise ValidationError("The metadata is not UTF-8 text.") from None
    except ProviderFailed as failure:
        raise ValidationError(str(failure)) from None


@transaction.atomic
def note_trial(*, provider: IdentityProvider, actor: User) -> None:
    """The provider has answered and was believed: it may be switched on."""
    _require_administrator(actor)
    provider.tried_at = timezone.now()
    if provider.state == ProviderState.DRAFT:
        provider.state = ProviderState.TRIED
    provider.save(update_fields=["tried_at", "state"])
    _record("identity.provider_tried", provider, actor)


@transaction.atomic
def switch_provider(*, provider: IdentityProvider, on: bool, actor: User | None = None) -> bool:
    """True if it changed. Raises ValidationError for one that was not tried as it is now."""
    _require_administrator(actor)
    provider = IdentityProvider.objects.select_for_update().get(pk=provider.pk)
    if on == (provider.state == ProviderState.ON):
        return False
    if on and provider.tried_at is None:
        raise ValidationError("Try it first: sign in once with “Try it”.")
    if not on and not selectors.policy().passwords:
        raise ValidationError("Allow passwords first, or nobody could sign in.")
    provider.state = ProviderState.ON if on else ProviderState.OFF
    provider.save(update_fields=["state"])
    _record(f"identity.provider_switched_{'on' if on else 'off'}", provider, actor)
    return True


@transaction.atomic
def set_rules(
    *,
    provider: IdentityProvider,
    add: Collection[GroupRule],
    remove: Collection[GroupRule],
    actor: User | None = None,
) -> int:
    """Change what the provider's groups mean; returns for how many people something changed.

    It takes effect at once for everybody whose groups are known. Raises ValidationError.
    """
    _require_administrator(actor)
    GroupRule.objects.filter(pk__in=[rule.pk for rule in remove], provider=provider).delete()
    for rule in add:
        rule.provider = provider
        rule.clean_fields(exclude=["tenant"])
        try:
            with transaction.atomic():
                rule.save(force_insert=True)
        except IntegrityError:
            raise ValidationError(
                f"The rule for “{rule.value}” is there already, or gives not exactly one group or role "
                "(a department for department administrators)."
            ) from None
    changed = sum(
        apply_groups(user=user, provider=provider, said=said)
        for user, said in known_groups(provider).items()
    )
    record_action(
        action="identity.rules_set",
        actor=actor and actor.pk,
        object_ids={"provider": provider.pk},
        facts={"added": len(add), "removed": len(remove), "people_changed": changed},
    )
    return changed


@transaction.atomic
def name_domain(
    *, domain: str, provider: IdentityProvider | None = None, actor: User | None = None
) -> EmailDomain:
    """A domain to be proven. Raises ValidationError."""
    _require_administrator(actor)
    row = EmailDomain(
        domain=check_domain_name(domain), proof=secrets.token_urlsafe(24), provider=provider
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(f"{row.domain} is in the list already.") from None
    record_action(
        action="identity.domain_named",
        actor=actor and actor.pk,
        object_ids={"domain": row.pk},
    )
    return row


@transaction.atomic
def send_domain_to(
    *, row: EmailDomain, provider: IdentityProvider | None, actor: User | None = None
) -> None:
    """Whom the domain's people sign in with."""
    _require_administrator(actor)
    row.provider = provider
    row.save(update_fields=["provider"])
    record_action(
        action="identity.domain_sent",
        actor=actor and actor.pk,
        object_ids={"domain": row.pk, "provider": provider and provider.pk},
    )


def prove_domain(*, row: EmailDomain, actor: User | None = None) -> bool:
    """Look for the proof in the DNS now. True if the domain is proven. Raises ValidationError."""
    _require_administrator(actor)
    if row.proven_at is not None:
        return True
    if not proof_is_published(row.domain, row.proof):
        return False
    with transaction.atomic():
        row.proven_at = timezone.now()
        try:
            with transaction.atomic():
                row.save(update_fields=["proven_at"])
        except IntegrityError:
            raise ValidationError(
                f"{row.domain} cannot be used here; ask the operator of Precept."
            ) from None
        record_action(
            action="identity.domain_proven",
            actor=actor and actor.pk,
            object_ids={"domain": row.pk},
        )
    return True


@transaction.atomic
def forget_domain(*, row: EmailDomain, actor: User | None = None) -> None:
    _require_administrator(actor)
    key = row.pk
    row.delete()
    record_action(
        action="identity.domain_forgotten", actor=actor and actor.pk, object_ids={"domain": key}
    )


@transaction.atomic
def allow_link(*, user: User, provider: IdentityProvider, actor: User | None = None) -> None:
    """Whoever proves the account's address at the provider within two weeks takes it over."""
    _require_administrator(actor)
    LinkPermission.objects.update_or_create(
        provider=provider,
        user=user,
        used_at=None,
        defaults={"expires_at": timezone.now() + LINK_LIFETIME},
    )
    record_action(
        action="identity.link_allowed",
        actor=actor and actor.pk,
        object_ids={"user": user.pk, "provider": provider.pk},
    )


@transaction.atomic
def set_sign_in_policy(
    *, passwords: bool, break_glass: User | None, reason: str, actor: User | None = None
) -> bool:
    """Whether passwords may be used, and by whom in any case. True if it changed.

    Raises ValidationError where nobody could administer the tenant any more.
    """
    _require_administrator(actor)
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise ValidationError({"reason": "Write why; the reason is kept in the audit record."})
    if break_glass is not None and (
        not break_glass.has_usable_password() or Role.TENANT_ADMIN not in roles_of(break_glass)
    ):
        raise ValidationError("The emergency account must be an administrator's, with a password.")
    if not passwords and break_glass is None and not selectors.administrators_by_provider():
        raise ValidationError(
            "No administrator has signed in through a provider that is in use yet. Do that first, or "
            "name an emergency account; else nobody could undo this."
        )
    policy = SignInPolicy.objects.select_for_update().first() or SignInPolicy()
    former = (policy.passwords, policy.break_glass_id)
    if former == (passwords, break_glass and break_glass.pk):
        return False
    policy.passwords, policy.break_glass = passwords, break_glass
    policy.save()
    record_action(
        action="identity.policy_set",
        actor=actor and actor.pk,
        object_ids={"break_glass": break_glass and break_glass.pk},
        facts={"passwords": passwords, "reason": reason[:300]},
    )
    return True


def reseal_secrets() -> int:
    """Encrypt every stored secret of this tenant with the newest key; how many there were."""
    count = 0
    for provider in IdentityProvider.objects.exclude(client_secret=""):
        with transaction.atomic():
            provider.client_secret = reseal(provider.client_secret)
            provider.save(update_fields=["client_secret"])
        count += 1
    return count


@transaction.atomic
def use_up_assertion(*, provider: IdentityProvider, identifier: str, expires_at: datetime) -> bool:
    """False if it was used before. It is remembered until `expires_at`, when nobody takes it any more."""
    UsedAssertion.objects.filter(provider=provider, expires_at__lt=timezone.now()).delete()
    digest = hashlib.sha256(identifier.encode()).hexdigest()
    _, new = UsedAssertion.objects.get_or_create(
        provider=provider, digest=digest, defaults={"expires_at": expires_at}
    )
    return new


def record_sign_in(*, user: User, how: str, provider: IdentityProvider | None = None) -> None:
    record_action(
        action="sign_in.succeeded",
        actor=user.pk,
        object_ids={"user": user.pk, **({"provider": provider.pk} if provider else {})},
        facts={"how": how},
    )


def record_refusal(
    *, code: str, how: str, user: User | None = None, provider: IdentityProvider | None = None
) -> str:
    """The id of the record, for the person to give to their administrator."""
    objects = {"user": user and user.pk, "provider": provider and provider.pk}
    row = record_action(
        action="sign_in.refused",
        actor=user and user.pk,
        object_ids={key: value for key, value in objects.items() if value},
        facts={"how": how, "code": code},
    )
    return str(row.pk)


def _record(action: str, provider: IdentityProvider, actor: User | None) -> None:
    record_action(action=action, actor=actor and actor.pk, object_ids={"provider": provider.pk})
