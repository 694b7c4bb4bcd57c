"""Inviting people. What an invitation gives was decided by who sent it, and stays as it was."""

import secrets
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from audit.services import record_action
from tenants.identity.selectors import policy
from tenants.models import Department, Role, User
from tenants.selectors import NotFound, current_tenant, roles_of, tenant_of_email, token_digest
from tenants.services import create_user

from . import letters
from .models import Invitation
from .selectors import open_invitation

_TASK = "tenants.tasks.send_invitation"


def _require_inviter(actor: User | None) -> None:
    """`actor` None is the platform's operator."""
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator invites people.")


@transaction.atomic
def invite(
    *, email: str, role: Role, department: Department | None = None, actor: User | None = None
) -> Invitation:
    """One open invitation for an address, and the e-mail on its way.

    Raises PermissionDenied, and ValidationError where the address has an account, here or elsewhere,
    was invited already, or nobody could come in with a password.
    """
    _require_inviter(actor)
    letters.require_email()
    if not policy().passwords:
        raise ValidationError(
            "Passwords are switched off here: people come in through their identity provider."
        )
    invitation = Invitation(
        email=User.objects.normalize_email(email).strip().lower(),
        role=role,
        department=department,
        invited_by=actor,
        expires_at=timezone.now(),
    )
    invitation.clean_fields()
    if tenant_of_email(invitation.email) is not None:
        raise ValidationError(f"An account for {email} cannot be created here.")
    # One that has run out makes room.
    Invitation.objects.filter(
        email=invitation.email, accepted_at=None, withdrawn_at=None, expires_at__lte=timezone.now()
    ).update(withdrawn_at=timezone.now())
    invitation.expires_at += timedelta(days=settings.INVITATION_DAYS)
    try:
        with transaction.atomic():
            invitation.save(force_insert=True)
    except IntegrityError:
        raise ValidationError(
            f"{email} is invited already, or the department is missing for a department "
            "administrator. Send the invitation again, or withdraw it first."
        ) from None
    _record("invitation.made", invitation, actor, role=str(role))
    letters.hand_over(_TASK, invitation.tenant_id, invitation.pk)
    return invitation


@transaction.atomic
def invite_again(*, invitation: Invitation, actor: User | None = None) -> bool:
    """A new link for as long as a first one; the former one stops working. False if it is used up."""
    _require_inviter(actor)
    letters.require_email()
    expires = timezone.now() + timedelta(days=settings.INVITATION_DAYS)
    if not _still_open(invitation).update(digest=None, sent_at=None, expires_at=expires):
        return False
    _record("invitation.renewed", invitation, actor)
    letters.hand_over(_TASK, invitation.tenant_id, invitation.pk)
    return True


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, actor: User | None = None) -> bool:
    """Its link stops working. True if it was open."""
    _require_inviter(actor)
    if not _still_open(invitation).update(withdrawn_at=timezone.now()):
        return False
    _record("invitation.withdrawn", invitation, actor)
    return True


def send_invitation(*, invitation_id: UUID) -> bool:
    """Make the link and send it; for the worker. A former link of the invitation stops working."""
    token = secrets.token_urlsafe(32)
    still = Invitation.objects.filter(pk=invitation_id, accepted_at=None, withdrawn_at=None)
    if not still.update(digest=token_digest(token)):
        return False
    invitation, tenant = still.get(), current_tenant()
    until = timezone.localtime(invitation.expires_at)
    letters.send(
        to=invitation.email,
        subject=f"Your account at {tenant.name} in Precept",
        lines=[
            f"{tenant.name} invites you to Precept, which answers questions about policies from the "
            "documents that you may read.",
            "Choose a password here:",
            settings.PUBLIC_URL + reverse("accept_invitation", args=[token]),
            f"The link works once, until {until:%d %B %Y, %H:%M}. If you did not expect it, do "
            "nothing: no account is made without you.",
        ],
    )
    with transaction.atomic():
        still.update(sent_at=timezone.now())
        _record("invitation.sent", invitation, None)
    return True


@transaction.atomic
def accept_invitation(*, token: str, name: str, password: str) -> User:
    """The account, with the invitation's role and no other; the link is used up.

    Raises NotFound for a link that does not work (any more), ValidationError for a weak password.
    """
    invitation = open_invitation(token)
    if not _still_open(invitation).update(accepted_at=timezone.now()):
        raise NotFound("The invitation does not work any more.")
    role = Role(invitation.role)
    user = create_user(
        email=invitation.email,
        password=password,
        name=name.replace("\x00", "").strip(),
        roles=[] if role == Role.EMPLOYEE else [(role, invitation.department)],
        actor=invitation.invited_by,
    )
    _record("invitation.accepted", invitation, user, user=user.pk)
    return user


def _still_open(invitation: Invitation):
    return Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)


def _record(action: str, invitation: Invitation, actor: User | None, **more) -> None:
    objects = {"invitation": invitation.pk}
    if "user" in more:
        objects["user"] = more.pop("user")
    record_action(action=action, actor=actor and actor.pk, object_ids=objects, facts=more)
