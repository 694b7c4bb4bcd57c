"""Every write about tenants, people, groups, roles and tokens."""

import secrets
import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from audit.services import record_action

from .models import (
    ApiToken,
    Department,
    Group,
    GroupMembership,
    RefusalPolicy,
    Role,
    RoleAssignment,
    Tenant,
    User,
    every_use,
)
from .scope import current_tenant_id, tenant_scope
from .selectors import roles_of, token_digest

TOKEN_LIFETIME = timedelta(days=90)


def create_tenant(
    *,
    slug: str,
    name: str,
    default_language: str = "en",
    languages: list[str] | None = None,
    **policies,
) -> Tenant:
    """A new organisation with its built-in group "everyone". Raises ValidationError."""
    tenant = Tenant(
        id=uuid.uuid4(),
        slug=slug,
        name=name,
        default_language=default_language,
        languages=languages or [default_language],
        **policies,
    )
    tenant.clean_fields()
    with tenant_scope(tenant.id), transaction.atomic():
        try:
            tenant.save(force_insert=True)
        except IntegrityError:
            raise ValidationError(f"The short name '{slug}' is taken; choose another.") from None
        record_action(action="tenant.created", actor=None, object_ids={"tenant": tenant.id})
    return tenant


@transaction.atomic
def set_refusal_policy(*, policy: RefusalPolicy, reason: str, actor: User | None = None) -> bool:
    """How this tenant refuses; a compliance decision. True if it changed.

    `actor` None is the platform's operator. Raises PermissionDenied for anybody but a tenant
    administrator, ValidationError without a written reason.
    """
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator changes this policy.")
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise ValidationError({"reason": "Write why; the reason is kept in the audit record."})
    tenant = Tenant.objects.select_for_update().get(pk=current_tenant_id())
    former, policy = tenant.refusal_policy, RefusalPolicy(policy)
    if former == policy:
        return False
    tenant.refusal_policy = policy
    tenant.save(update_fields=["refusal_policy"])
    record_action(
        action="tenant.refusal_policy_set",
        actor=actor and actor.id,
        object_ids={"tenant": tenant.id},
        facts={"from": former, "to": policy.value, "reason": reason[:300]},
    )
    return True


@transaction.atomic
def set_retention(*, deleted_days: int, answers_days: int | None, reason: str) -> bool:
    """How long this tenant keeps what was deleted, and the words of answers (None: for ever).

    By the platform's operator, on the tenant's written word. True if it changed. Raises
    ValidationError.
    """
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise ValidationError({"reason": "Write why; the reason is kept in the audit record."})
    if deleted_days < 0 or (answers_days is not None and answers_days < 1):
        raise ValidationError("Days are whole numbers: from 0 for documents, from 1 for answers.")
    tenant = Tenant.objects.select_for_update().get(pk=current_tenant_id())
    former = (tenant.keep_deleted_days, tenant.keep_answers_days)
    if former == (deleted_days, answers_days):
        return False
    tenant.keep_deleted_days, tenant.keep_answers_days = deleted_days, answers_days
    tenant.save(update_fields=["keep_deleted_days", "keep_answers_days"])
    record_action(
        action="tenant.retention_set",
        actor=None,
        object_ids={"tenant": tenant.id},
        facts={"from": former, "to": [deleted_days, answers_days], "reason": reason[:300]},
    )
    return True


@transaction.atomic
def create_user(
    *,
    email: str,
    password: str | None,
    name: str = "",
    roles: list[tuple[Role, Department | None]] | None = None,
    groups: list[Group] | None = None,
    actor: User | None = None,
) -> User:
    """An account in the current tenant. Without a password it cannot sign in by e-mail.

    Raises ValidationError; an address taken in another tenant is refused in the same words.
    """
    user = User(email=User.objects.normalize_email(email).strip().lower(), name=name)
    if password is None:
        user.set_unusable_password()
    else:
        validate_password(password, user)
        user.set_password(password)
    user.clean_fields()
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(f"An account for {email} cannot be created here.") from None
    for role, department in roles or []:
        RoleAssignment.objects.create(user=user, role=role, department=department)
    for group in groups or []:
        GroupMembership.objects.get_or_create(group=group, user=user)
    record_action(
        action="user.created",
        actor=actor and actor.id,
        object_ids={"user": user.id, "groups": [group.id for group in groups or []]},
        facts={"roles": [str(role) for role, _ in roles or []]},
    )
    return user


@transaction.atomic
def set_user_active(*, user: User, active: bool, actor: User | None = None) -> bool:
    """Deactivating ends every session, token and admission of the person at once, for good.

    True if it changed.
    """
    if actor == user and not active:
        raise ValidationError("You cannot deactivate yourself; ask another administrator.")
    lock_people([user.pk])
    changed = User.objects.filter(pk=user.pk).exclude(is_active=active).update(is_active=active)
    user.is_active = active
    if changed and not active:
        _end_sessions_and_tokens(user)
    if changed:
        record_action(
            action="user.activated" if active else "user.deactivated",
            actor=actor and actor.id,
            object_ids={"user": user.id},
        )
    return bool(changed)


def _end_sessions_and_tokens(user: User) -> None:
    """They stay ended when the account is activated again."""
    User.objects.filter(pk=user.pk).update(session_generation=F("session_generation") + 1)
    user.refresh_from_db(fields=["session_generation"])
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


@transaction.atomic
def set_password(*, user: User, password: str, actor: User | None = None) -> None:
    """A new password; every session of the person ends. Raises ValidationError for a weak one."""
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    record_action(
        action="user.password_set", actor=actor and actor.id, object_ids={"user": user.id}
    )


@transaction.atomic
def update_user(*, user: User, name: str, actor: User | None = None) -> User:
    user.name = name.strip()
    user.clean_fields(exclude=["password"])
    user.save(update_fields=["name"])
    record_action(action="user.updated", actor=actor and actor.id, object_ids={"user": user.id})
    return user


@transaction.atomic
def change_email(*, user: User, email: str, actor: User | None = None) -> User:
    """Raises ValidationError; an address taken in another tenant is refused in the same words."""
    user.email = User.objects.normalize_email(email).strip().lower()
    user.clean_fields(exclude=["password"])
    try:
        with transaction.atomic():
            user.save(update_fields=["email"])
    except IntegrityError:
        raise ValidationError(f"The address {email} cannot be used here.") from None
    record_action(
        action="user.email_changed", actor=actor and actor.id, object_ids={"user": user.id}
    )
    return user


@transaction.atomic
def set_roles(
    *, user: User, roles: list[tuple[Role, Department | None]], actor: User | None = None
) -> None:
    """Replace the person's roles by exactly these. Nobody gives up the last word on themselves, and
    nobody gives themselves a role. Raises PermissionDenied for anybody but a tenant administrator.
    """
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator gives roles.")
    keeps = Role.TENANT_ADMIN in {role for role, _ in roles}
    if actor == user and Role.TENANT_ADMIN in roles_of(user) and not keeps:
        raise ValidationError(
            "You cannot take your own administrator role away; ask another administrator."
        )
    wanted = {(role, department and department.pk): department for role, department in roles}
    held = {(row.role, row.department_id): row.pk for row in user.role_assignments.all()}
    if actor == user and not set(wanted) <= set(held):
        raise ValidationError("You cannot give yourself a role; ask another administrator.")
    gone = [key for what, key in held.items() if what not in wanted]
    RoleAssignment.objects.filter(pk__in=gone).delete()
    for (role, key), department in wanted.items():
        if (role, key) not in held:  # one that an identity provider gave stays its to take away
            RoleAssignment.objects.create(user=user, role=role, department=department)
    record_action(
        action="user.roles_set",
        actor=actor and actor.id,
        object_ids={"user": user.id},
        facts={"roles": [str(role) for role, _ in roles]},
    )


@transaction.atomic
def create_group(*, name: str, external_id: str = "", actor: User | None = None) -> Group:
    """Raises ValidationError for a blank or taken name."""
    group = Group(name=name.strip(), external_id=external_id)
    group.clean_fields()
    try:
        with transaction.atomic():
            group.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(f"There is already a group '{name}'.") from None
    record_action(action="group.created", actor=actor and actor.id, object_ids={"group": group.id})
    return group


@transaction.atomic
def rename_group(*, group: Group, name: str, actor: User | None = None) -> Group:
    if group.built_in:
        raise ValidationError("The group 'everyone' is built in and keeps its name.")
    group.name = name.strip()
    group.clean_fields()
    _save_named(group, f"There is already a group '{group.name}'.")
    record_action(action="group.renamed", actor=actor and actor.id, object_ids={"group": group.id})
    return group


@transaction.atomic
def delete_group(*, group: Group, actor: User | None = None) -> None:
    """Delete a group with its memberships and grants; everybody it let in loses access at once."""
    if group.built_in:
        raise ValidationError("The group 'everyone' is built in and cannot be deleted.")
    group_id = group.id
    group.delete()
    record_action(action="group.deleted", actor=actor and actor.id, object_ids={"group": group_id})


@transaction.atomic
def add_to_group(*, user: User, group: Group, actor: User | None = None) -> bool:
    """True if the person was not a member before."""
    _, created = GroupMembership.objects.get_or_create(group=group, user=user)
    if created:
        record_action(
            action="group.member_added",
            actor=actor and actor.id,
            object_ids={"group": group.id, "user": user.id},
        )
    return created


@transaction.atomic
def remove_from_group(*, user: User, group: Group, actor: User | None = None) -> bool:
    """True if the person was a member. The built-in group keeps everybody."""
    if group.built_in:
        raise ValidationError("Everybody belongs to 'everyone'; deactivate the account instead.")
    removed, _ = GroupMembership.objects.filter(group=group, user=user).delete()
    if removed:
        record_action(
            action="group.member_removed",
            actor=actor and actor.id,
            object_ids={"group": group.id, "user": user.id},
        )
    return bool(removed)


def _save_named(row: Group, taken: str) -> None:
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ValidationError(taken) from None


def lock_people(user_ids: Iterable[uuid.UUID]) -> None:
    """Exclusive locks of people, in key order, for a transaction that changes several at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT precept_lock_exclusive('user', id) FROM ("
            " SELECT id FROM unnest(%s::uuid[]) id ORDER BY precept_lock_key('user', id)"
            ") ordered",
            [list(user_ids)],
        )


@transaction.atomic
def get_or_create_department(*, name: str) -> Department:
    name = name.strip()
    department = Department.objects.filter(name__iexact=name).first()
    return department or Department.objects.create(name=name)


@transaction.atomic
def issue_token(
    *,
    user: User,
    uses: Iterable[str] | None = None,
    lifetime: timedelta = TOKEN_LIFETIME,
    actor: User | None = None,
) -> tuple[ApiToken, str]:
    """(row, token). The token is shown this once; only its digest is kept.

    `uses` is what it may be used for; None is everything its person may do. Raises ValidationError
    for no use or one that there is not, and for a lifetime that has passed.
    """
    wanted = every_use() if uses is None else sorted({str(use) for use in uses})
    if not wanted or not set(wanted) <= set(every_use()):
        raise ValidationError(f"Say what the token is for: {', '.join(every_use())}.")
    if lifetime <= timedelta():
        raise ValidationError("The token would have expired already; give it a day at least.")
    token = f"precept_{secrets.token_urlsafe(32)}"
    row = ApiToken.objects.create(
        user=user,
        digest=token_digest(token),
        uses=wanted,
        expires_at=timezone.now() + lifetime,
    )
    record_action(
        action="token.issued",
        actor=actor and actor.id,
        object_ids={"token": row.id, "user": user.id},
        facts={"uses": wanted},
    )
    return row, token


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User | None = None) -> None:
    """The token stops working; its record stays."""
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        record_action(
            action="token.revoked", actor=actor and actor.id, object_ids={"token": token.id}
        )


def note_token_use(*, token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
