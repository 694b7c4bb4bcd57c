"""Reads about people and tenants. The first few run before a tenant is known."""

import hashlib
from collections.abc import Iterable
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from .models import ApiToken, Department, Group, Role, Tenant, User
from .scope import current_tenant_id


class NotFound(Exception):
    """It is not there, or not for this caller: the two are never told apart."""


def _ask(function: str, key: str) -> UUID | None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return cursor.fetchone()[0]


def tenant_of_email(email: str) -> UUID | None:
    return _ask("precept_tenant_of_email", email)


def tenant_of_user(user_id: object) -> UUID | None:
    """The tenant of an active account; None for no, an unknown or a deactivated one."""
    try:
        key = UUID(str(user_id))
    except ValueError:
        return None
    return _ask("precept_tenant_of_user", str(key))


def tenant_of_token(token: str) -> UUID | None:
    return _ask("precept_tenant_of_token", token_digest(token))


def tenant_of_slug(slug: str) -> UUID:
    tenant_id = _ask("precept_tenant_of_slug", slug)
    if tenant_id is None:
        raise NotFound(
            f"There is no tenant '{slug}'. Create it with: manage.py create_tenant {slug}"
        )
    return tenant_id


def all_tenant_ids() -> list[UUID]:
    """For the dispatcher and platform commands, which then enter one scope at a time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_tenant_ids()")
        return [row[0] for row in cursor.fetchall()]


def current_tenant() -> Tenant:
    return Tenant.objects.get(pk=current_tenant_id())


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def usable_token(token: str) -> ApiToken | None:
    """The token's row if it is neither revoked nor expired and its person is active."""
    return (
        ApiToken.objects.select_related("user")
        .filter(
            digest=token_digest(token),
            revoked_at=None,
            expires_at__gt=timezone.now(),
            user__is_active=True,
        )
        .first()
    )


def roles_of(user: User) -> frozenset[Role]:
    """The roles a person holds now. Everybody is an employee."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    held = user.role_assignments.filter(tenant_id=user.tenant_id).values_list("role", flat=True)
    return frozenset({Role.EMPLOYEE, *(Role(role) for role in held)})


def departments_administered_by(user: User) -> QuerySet[Department]:
    """All departments for a tenant administrator, one's own for a department administrator."""
    roles = roles_of(user)
    if Role.TENANT_ADMIN in roles:
        return Department.objects.all()
    if Role.DEPARTMENT_ADMIN not in roles:
        return Department.objects.none()
    return Department.objects.filter(
        roleassignment__user=user, roleassignment__role=Role.DEPARTMENT_ADMIN
    )


def user_by_email(email: str) -> User:
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        raise NotFound(f"There is no account {email} in this tenant.")
    return user


def names_of_people(*, ids: Iterable[UUID]) -> dict[UUID, str]:
    """What accounts of this tenant are called; ids of nobody are left out."""
    return {user.id: str(user) for user in User.objects.filter(id__in=list(ids))}


def group_by_name(name: str) -> Group:
    group = Group.objects.filter(name__iexact=name).first()
    if group is None:
        raise NotFound(f"There is no group '{name}' in this tenant.")
    return group


def subject_by_name(subject: str) -> User | Group:
    """`group:NAME` or `user:EMAIL`. Raises NotFound, or ValidationError for another form."""
    kind, _, name = subject.partition(":")
    if kind == "group" and name:
        return group_by_name(name)
    if kind == "user" and name:
        return user_by_email(name)
    raise ValidationError(f"'{subject}' names nobody: write group:NAME or user:E-MAIL.")
