"""Every write that a directory asks for. One transaction and an audit record each.

Writes of one provider wait for each other, so that two changes of a group both count.
"""

import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.utils import timezone

from audit.services import record_action
from tenants import services as people
from tenants.identity.arriving import may_take_over
from tenants.identity.mapping import apply_groups
from tenants.identity.models import ExternalIdentity, IdentityProvider
from tenants.identity.selectors import is_proven_for
from tenants.models import Role, User
from tenants.selectors import roles_of, token_digest

from . import selectors
from .models import ProvisionedAccount, ProvisionedGroup, ProvisionedMembership, ScimToken


class Taken(Exception):
    """Somebody has this name, address or id already. Whose they are is not said."""


@dataclass(frozen=True, slots=True)
class Person:
    """What a directory says of somebody.

    `email` is empty where it gave no address, `active` None where it did not say.
    """

    user_name: str
    email: str
    name: str
    active: bool | None = None
    external_id: str = ""
    attributes: dict[str, object] = field(default_factory=dict)


def _require_administrator(actor: User) -> None:
    if Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator lets a directory in.")


@transaction.atomic
def issue_scim_token(
    *, provider: IdentityProvider, lifetime: timedelta, actor: User
) -> tuple[ScimToken, str]:
    """(row, token). The token is shown this once; only its digest is kept."""
    _require_administrator(actor)
    if lifetime <= timedelta():
        raise ValidationError("The token would have expired already; give it a day at least.")
    token = f"precept_scim_{secrets.token_urlsafe(32)}"
    row = ScimToken.objects.create(
        provider=provider, digest=token_digest(token), expires_at=timezone.now() + lifetime
    )
    record_action(
        action="provisioning.token_issued",
        actor=actor.pk,
        object_ids={"token": row.pk, "provider": provider.pk},
    )
    return row, token


@transaction.atomic
def revoke_scim_token(*, token: ScimToken, actor: User) -> bool:
    """True if it was in force."""
    _require_administrator(actor)
    if token.revoked_at is not None:
        return False
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    record_action(
        action="provisioning.token_revoked", actor=actor.pk, object_ids={"token": token.pk}
    )
    return True


def note_scim_token_use(*, token: ScimToken) -> None:
    ScimToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())


def wait_for_others(*, provider: IdentityProvider) -> None:
    """Until the transaction ends, nobody else writes what this provider's directory told."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_lock_exclusive('provider', %s)", [provider.pk])


# --- People --------------------------------------------------------------------------------------


@transaction.atomic
def create_account(*, token: ScimToken, person: Person) -> ProvisionedAccount:
    """The account of this person, looked after by the directory from now on.

    It is the one that this directory had removed, or the one of this subject of the provider, or a
    new one for an address of a domain that the tenant has proven. One that exists under the address
    is taken over only with an administrator's permission. Raises Taken, ValidationError.
    """
    provider = token.provider
    _refuse_taken(provider, person)
    former = _former(provider, person)
    account = former or _account_for(provider, person)
    account.removed_at = None
    _write(account, person, returning=former is not None)
    _record("account_added", token, user=account.user_id)
    return account


@transaction.atomic
def change_account(*, token: ScimToken, account: ProvisionedAccount, person: Person) -> None:
    """Make the account what the directory says. Raises Taken, ValidationError."""
    _refuse_taken(token.provider, person, other_than=account)
    _write(account, person)
    _record("account_changed", token, user=account.user_id)


@transaction.atomic
def remove_account(*, token: ScimToken, account: ProvisionedAccount) -> None:
    """The account stays, deactivated and without what the provider gave; its history stays too."""
    if (
        account.user.is_active
    ):  # one that an administrator deactivated is not the directory's to open
        _tell_active(account, False)
    account.removed_at = timezone.now()
    account.revision += 1
    account.save()
    account.memberships.all().delete()
    ExternalIdentity.objects.filter(provider=token.provider, user=account.user).update(groups=[])
    _record("account_removed", token, user=account.user_id)
    apply_groups(user=account.user, provider=token.provider, said=())


def _refuse_taken(
    provider: IdentityProvider, person: Person, other_than: ProvisionedAccount | None = None
) -> None:
    others = selectors.accounts(provider).exclude(pk=other_than and other_than.pk)
    if others.filter(user_name__iexact=person.user_name).exists():
        raise Taken("There is a user of this userName already.")
    if person.external_id and others.filter(external_id=person.external_id).exists():
        raise Taken("There is a user of this externalId already.")


def _former(provider: IdentityProvider, person: Person) -> ProvisionedAccount | None:
    """The same person's, removed earlier. A name alone can be a successor's, so an id decides."""
    gone = ProvisionedAccount.objects.filter(provider=provider, removed_at__isnull=False)
    gone = gone.select_related("user").filter(external_id=person.external_id)
    if not person.external_id:
        gone = gone.filter(user_name__iexact=person.user_name)
    return gone.order_by("-removed_at").first()


def _account_for(provider: IdentityProvider, person: Person) -> ProvisionedAccount:
    user = _user_of_subject(provider, person.external_id)
    if user is None:
        _require_address(provider, person.email)
        user = User.objects.filter(email__iexact=person.email).first()
        if user is not None and not may_take_over(provider=provider, user=user):
            raise _address_taken()
    if user is None:
        try:
            user = people.create_user(email=person.email, password=None, name=person.name)
        except ValidationError:
            raise _address_taken() from None
    elif ProvisionedAccount.objects.filter(provider=provider, user=user).exists():
        raise _address_taken()
    return ProvisionedAccount(provider=provider, user=user)


def _user_of_subject(provider: IdentityProvider, subject: str) -> User | None:
    known = ExternalIdentity.objects.select_related("user").filter(provider=provider)
    identity = known.filter(subject=subject).first() if subject else None
    return identity and identity.user


def _require_address(provider: IdentityProvider, email: str) -> None:
    if not email:
        raise ValidationError("Give an e-mail address: as userName or as the primary of emails.")
    if not is_proven_for(provider, email):
        raise ValidationError(
            "The e-mail address is not of a domain that is proven here and leads to this provider. "
            "Add the domain under Sign-in → E-mail domains."
        )


def _address_taken() -> Taken:
    # In the same words whether the account is of this organisation or of another.
    return Taken("An account with this address cannot be provisioned here.")


def _write(account: ProvisionedAccount, person: Person, *, returning: bool = False) -> None:
    user = account.user
    if person.email and person.email.lower() != user.email.lower():
        _require_address(account.provider, person.email)
        try:
            people.change_email(user=user, email=person.email)
        except ValidationError:
            raise _address_taken() from None
    if person.name and person.name != user.name:
        people.update_user(user=user, name=person.name)
    account.user_name, account.external_id = person.user_name, person.external_id
    account.attributes = person.attributes
    if not account._state.adding:
        account.revision += 1
    account.clean_fields(exclude=["tenant"])
    account.save()
    wanted = person.active if person.active is not None or not returning else True
    if wanted is not None and wanted != user.is_active:
        _tell_active(account, wanted)


def _tell_active(account: ProvisionedAccount, active: bool) -> None:
    """Ending an account always counts; opening one only where the directory itself had ended it."""
    if active and account.told_active:
        return  # an administrator ended it
    people.set_user_active(user=account.user, active=active)
    account.told_active = active
    account.save(update_fields=["told_active"])


# --- Groups --------------------------------------------------------------------------------------


@transaction.atomic
def create_group(
    *, token: ScimToken, name: str, external_id: str = "", members: Collection[str] = ()
) -> ProvisionedGroup:
    """Members are ids of accounts that this directory looks after. Raises Taken, ValidationError."""
    group = ProvisionedGroup(provider=token.provider)
    _write_group(group, name, external_id, members)
    _record("group_added", token, group=group.pk)
    return group


@transaction.atomic
def change_group(
    *,
    token: ScimToken,
    group: ProvisionedGroup,
    name: str,
    external_id: str = "",
    members: Collection[str] = (),
) -> None:
    """As create_group; exactly these are the members now, and may do what follows from it at once."""
    _write_group(group, name, external_id, members)
    _record("group_changed", token, group=group.pk)


@transaction.atomic
def remove_group(*, token: ScimToken, group: ProvisionedGroup) -> None:
    members, key = list(group.members.select_related("user")), group.pk
    group.delete()
    _record("group_removed", token, group=key)
    _apply(members)


def _write_group(
    group: ProvisionedGroup, name: str, external_id: str, members: Collection[str]
) -> None:
    same_name = ProvisionedGroup.objects.filter(provider=group.provider, name__iexact=name)
    if same_name.exclude(pk=group.pk).exists():
        raise Taken("There is a group of this displayName already.")
    new = group._state.adding
    renamed = (group.name, group.external_id) != (name, external_id)
    group.name, group.external_id = name, external_id
    group.revision += 0 if new else 1
    group.clean_fields(exclude=["tenant"])
    group.save()
    former = {} if new else {row.pk: row for row in group.members.select_related("user")}
    wanted = {row.pk: row for row in _members(group.provider, members)}
    left, joined = former.keys() - wanted.keys(), wanted.keys() - former.keys()
    group.memberships.filter(account__in=left).delete()
    ProvisionedMembership.objects.bulk_create(
        ProvisionedMembership(group=group, account=wanted[key]) for key in sorted(joined, key=str)
    )
    everybody = former | wanted
    _apply(everybody[key] for key in (everybody if renamed else left | joined))


def _members(provider: IdentityProvider, ids: Collection[str]) -> list[ProvisionedAccount]:
    wanted = set(ids)
    known = [row for row in selectors.accounts(provider) if str(row.user_id) in wanted]
    if len(known) != len(wanted):
        raise ValidationError("A member is none of the users that were provisioned here.")
    return known


def _apply(accounts: Iterable[ProvisionedAccount]) -> None:
    """What the provider's rules make of their groups now, also when the last group has gone."""
    accounts = list(accounts)
    people.lock_people([account.user_id for account in accounts])
    for account in accounts:
        said = selectors.groups_told_of(account.provider, account.user) or ()
        apply_groups(user=account.user, provider=account.provider, said=said)


def _record(what: str, token: ScimToken, **objects) -> None:
    record_action(
        action=f"provisioning.{what}",
        actor=None,
        object_ids={**objects, "provider": token.provider_id, "token": token.pk},
    )
