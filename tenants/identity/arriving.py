"""Whose account somebody is whom a provider has vouched for."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit.services import record_action
from tenants.models import User
from tenants.provisioning.selectors import account_of_subject, groups_told_of, looks_after
from tenants.services import create_user

from .claims import Claims
from .mapping import apply_groups
from .models import ExternalIdentity, IdentityProvider, LinkPermission
from .selectors import is_proven_for

_REASONS = {
    "inactive": "This account has been deactivated.",
    "no_email": "Your organisation's sign-in did not say which e-mail address is yours.",
    "email_unverified": "Your organisation's sign-in has not confirmed your e-mail address.",
    "domain": "Your e-mail address does not belong to a domain of this organisation.",
    "no_account": "There is no account here for you yet.",
    "address_taken": "Your account here is not linked with your organisation's sign-in yet.",
}


class NotLetIn(Exception):
    """The provider vouches for somebody who has no account to go to. The message says what to do."""

    def __init__(self, code: str):
        super().__init__(f"{_REASONS[code]} Ask your organisation's administrator.")
        self.code = code


@transaction.atomic
def arrive(*, provider: IdentityProvider, claims: Claims) -> User:
    """The account of this subject, with its groups as they are at the provider now.

    Found by provider and subject. A subject seen for the first time gets an account only where the
    provider makes accounts, or takes one over only where an administrator has allowed that; both
    need a confirmed address of a domain that this tenant has proven. Raises NotLetIn.
    """
    identity = (
        ExternalIdentity.objects.select_related("user")
        .filter(provider=provider, subject=claims.subject)
        .first()
    ) or _first_arrival(provider, claims)
    user = identity.user
    if not user.is_active:
        raise NotLetIn("inactive")
    identity.last_seen_at = timezone.now()
    if claims.groups is not None:  # nothing said changes nothing
        identity.groups = sorted(claims.groups)
    pushed = groups_told_of(provider, user)  # what a directory pushes is newer than any claim
    said = claims.groups if pushed is None else pushed
    if said is not None:
        apply_groups(user=user, provider=provider, said=said)
    identity.save(update_fields=["last_seen_at", "groups"])
    return user


def _first_arrival(provider: IdentityProvider, claims: Claims) -> ExternalIdentity:
    """Nobody's yet: the account that the directory told of under this subject, or by address."""
    told = account_of_subject(provider, claims.subject)
    if told and not ExternalIdentity.objects.filter(provider=provider, user=told).exists():
        return _link(provider, claims, told, "provisioned")
    if not claims.email:
        raise NotLetIn("no_email")
    if not claims.email_verified:
        raise NotLetIn("email_unverified")
    if not is_proven_for(provider, claims.email):
        raise NotLetIn("domain")
    known = User.objects.filter(email__iexact=claims.email).first()
    user = _linked(provider, known) if known else _made(provider, claims)
    return _link(provider, claims, user, "existing" if known else "new")


def _link(provider: IdentityProvider, claims: Claims, user: User, kind: str) -> ExternalIdentity:
    identity = ExternalIdentity.objects.create(provider=provider, subject=claims.subject, user=user)
    record_action(
        action="identity.linked",
        actor=user.pk,
        object_ids={"user": user.pk, "provider": provider.pk},
        facts={"account": kind},
    )
    return identity


def _linked(provider: IdentityProvider, user: User) -> User:
    taken = ExternalIdentity.objects.filter(provider=provider, user=user).exists()
    # An account that the provider's own directory looks after is the provider's already.
    if taken or not (looks_after(provider, user) or may_take_over(provider=provider, user=user)):
        raise NotLetIn("address_taken")
    return user


def may_take_over(*, provider: IdentityProvider, user: User) -> bool:
    """Whether an administrator has allowed that; the permission is used up by asking."""
    open_permission = LinkPermission.objects.filter(
        provider=provider, user=user, used_at=None, expires_at__gt=timezone.now()
    )
    return bool(open_permission.update(used_at=timezone.now()))


def _made(provider: IdentityProvider, claims: Claims) -> User:
    if not provider.creates_accounts:
        raise NotLetIn("no_account")
    try:
        return create_user(email=claims.email, password=None, name=claims.name)
    except ValidationError:
        # The address is somebody's in another organisation, which is nobody's business here.
        raise NotLetIn("no_account") from None
