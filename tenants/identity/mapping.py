"""From the groups a provider names to the groups and roles a person has here.

Only what a provider gave is taken away again: memberships and roles given by hand stay.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from audit.services import record_action
from tenants.models import Group, GroupMembership, GroupSource, Role, RoleAssignment, User
from tenants.provisioning.selectors import groups_told
from tenants.services import lock_people

from .claims import Claims
from .models import ExternalIdentity, GroupRule, IdentityProvider


@dataclass(frozen=True, slots=True)
class Given:
    """What rules make of a person's groups at the provider."""

    groups: frozenset[UUID]
    roles: frozenset[tuple[str, UUID | None]]


@dataclass(frozen=True, slots=True)
class Difference:
    """What one person would gain and lose, in words."""

    user: User
    gains: tuple[str, ...]
    loses: tuple[str, ...]


def given_by(rules: Iterable[GroupRule], said: Collection[str]) -> Given:
    """`said`: the provider's own names of groups, compared exactly."""
    hits = [rule for rule in rules if rule.value in said]
    return Given(
        groups=frozenset(rule.group_id for rule in hits if rule.group_id),
        roles=frozenset((rule.role, rule.department_id) for rule in hits if rule.role),
    )


@transaction.atomic
def apply_groups(*, user: User, provider: IdentityProvider, said: Collection[str]) -> bool:
    """Make the person's provider-given groups and roles exactly what the rules say. True if changed.

    Call it only with what the provider did say: an absent claim is no empty one.
    """
    wanted = given_by(provider.rules.all(), said)
    lock_people([user.pk])
    memberships, roles = _provider_given(user)
    joins = wanted.groups - {row.group_id for row in _memberships(user)}
    leaves = [row for row in memberships if row.group_id not in wanted.groups]
    held = {(row.role, row.department_id) for row in user.role_assignments.all()}
    takes = wanted.roles - held
    drops = [row for row in roles if (row.role, row.department_id) not in wanted.roles]
    GroupMembership.objects.filter(pk__in=[row.pk for row in leaves]).delete()
    RoleAssignment.objects.filter(pk__in=[row.pk for row in drops]).delete()
    for group_id in sorted(joins, key=str):
        GroupMembership.objects.create(
            user=user, group_id=group_id, source=GroupSource.IDENTITY_PROVIDER
        )
    for role, department_id in sorted(takes, key=str):
        RoleAssignment.objects.create(
            user=user,
            role=role,
            department_id=department_id,
            source=GroupSource.IDENTITY_PROVIDER,
        )
    if not (joins or leaves or takes or drops):
        return False
    record_action(
        action="identity.groups_applied",
        actor=None,
        object_ids={
            "user": user.pk,
            "provider": provider.pk,
            "joined": sorted(joins, key=str),
            "left": [row.group_id for row in leaves],
        },
        facts={
            "roles_given": sorted(role for role, _ in takes),
            "roles_taken": sorted(row.role for row in drops),
        },
    )
    return True


def known_groups(provider: IdentityProvider) -> dict[User, Collection[str]]:
    """Everybody whose groups the provider has told: through its directory, else at a sign-in."""
    identities = ExternalIdentity.objects.filter(provider=provider, groups__isnull=False)
    at_sign_in = {one.user: one.groups for one in identities.select_related("user")}
    return at_sign_in | groups_told(provider)


def foresee(provider: IdentityProvider, rules: Collection[GroupRule]) -> list[Difference]:
    """What these rules would change for everybody whose groups the provider has told."""
    names = dict(Group.objects.values_list("pk", "name"))
    differences = []
    for user, said in sorted(known_groups(provider).items(), key=lambda known: known[0].email):
        wanted = given_by(rules, said)
        memberships, roles = _provider_given(user)
        held = {row.group_id for row in _memberships(user)}
        has = {(row.role, row.department_id) for row in user.role_assignments.all()}
        gains = [names[group] for group in wanted.groups - held]
        gains += [Role(role).label for role, _ in wanted.roles - has]
        loses = [names[row.group_id] for row in memberships if row.group_id not in wanted.groups]
        loses += [
            Role(row.role).label
            for row in roles
            if (row.role, row.department_id) not in wanted.roles
        ]
        if gains or loses:
            differences.append(Difference(user, tuple(sorted(gains)), tuple(sorted(loses))))
    return differences


def given_in_words(provider: IdentityProvider, claims: Claims) -> list[str]:
    """What somebody with these claims would have here by the provider's rules."""
    rules = provider.rules.select_related("group", "department")
    hits = [rule for rule in rules if rule.value in (claims.groups or ())]
    return sorted({str(rule.group or Role(rule.role).label) for rule in hits})


def _memberships(user: User):
    return GroupMembership.objects.filter(user=user, group__built_in=False)


def _provider_given(user: User) -> tuple[list[GroupMembership], list[RoleAssignment]]:
    by_provider = GroupSource.IDENTITY_PROVIDER
    return (
        list(_memberships(user).filter(source=by_provider)),
        list(RoleAssignment.objects.filter(user=user, source=by_provider)),
    )
