"""Reads about what directories have told."""

from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from tenants.identity.models import IdentityProvider
from tenants.models import User
from tenants.selectors import NotFound, token_digest

from .models import ProvisionedAccount, ProvisionedGroup, ProvisionedMembership, ScimToken


def tenant_of_scim_token(token: str) -> UUID | None:
    """Asked before a tenant is known."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_tenant_of_scim_token(%s)", [token_digest(token)])
        return cursor.fetchone()[0]


def usable_scim_token(token: str) -> ScimToken | None:
    """The token's row if it is neither revoked nor expired."""
    return (
        ScimToken.objects.select_related("provider")
        .filter(digest=token_digest(token), revoked_at=None, expires_at__gt=timezone.now())
        .first()
    )


def accounts(provider: IdentityProvider) -> QuerySet[ProvisionedAccount]:
    """Those that the provider's directory looks after now, in a stable order."""
    rows = ProvisionedAccount.objects.filter(provider=provider, removed_at=None)
    return rows.select_related("user").order_by("created_at", "pk")


def groups(provider: IdentityProvider) -> QuerySet[ProvisionedGroup]:
    rows = ProvisionedGroup.objects.filter(provider=provider)
    return rows.prefetch_related("members__user").order_by("created_at", "pk")


def account_of(provider: IdentityProvider, key: str) -> ProvisionedAccount:
    """By the account's id, which is its id towards the directory too. Raises NotFound."""
    return _one(accounts(provider), "user_id", key)


def group_of(provider: IdentityProvider, key: str) -> ProvisionedGroup:
    """Raises NotFound."""
    return _one(groups(provider), "pk", key)


def _one(rows: QuerySet, field: str, key: str):
    try:
        row = rows.filter(**{field: UUID(key)}).first()
    except ValueError:
        row = None
    if row is None:
        raise NotFound("There is no such resource; it may have been removed.")
    return row


def account_of_subject(provider: IdentityProvider, subject: str) -> User | None:
    """Whom the directory told of under what the provider calls its subject."""
    row = accounts(provider).filter(external_id=subject).first() if subject else None
    return row and row.user


def looks_after(provider: IdentityProvider, user: User) -> bool:
    return accounts(provider).filter(user=user).exists()


def groups_told(provider: IdentityProvider) -> dict[User, frozenset[str]]:
    """By person, every name that rules may know their groups by. Empty until a group is pushed."""
    if not ProvisionedGroup.objects.filter(provider=provider).exists():
        return {}
    told: dict[UUID, set[str]] = {row.pk: set() for row in accounts(provider)}
    for row in ProvisionedMembership.objects.filter(
        group__provider=provider, account__removed_at=None
    ).select_related("group"):
        told[row.account_id] |= names_of(row.group)
    return {row.user: frozenset(told[row.pk]) for row in accounts(provider)}


def groups_told_of(provider: IdentityProvider, user: User) -> frozenset[str] | None:
    """As `groups_told`, of one person. None: the directory has not told, and says nothing."""
    account = accounts(provider).filter(user=user).first()
    if account is None or not ProvisionedGroup.objects.filter(provider=provider).exists():
        return None
    return frozenset().union(*(names_of(group) for group in account.groups.all()))


def names_of(group: ProvisionedGroup) -> set[str]:
    """Okta's claims name groups, Entra's give their object ids, which it sends as external id."""
    return {name for name in (group.name, group.external_id) if name}
