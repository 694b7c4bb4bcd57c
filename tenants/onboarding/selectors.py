"""Reads about invitations and who may recover an account."""

from uuid import UUID

from django.db import connection
from django.utils import timezone

from tenants.identity.selectors import policy
from tenants.models import Role, User
from tenants.selectors import NotFound, roles_of, token_digest

from .models import Invitation


def tenant_of_invitation(token: str) -> UUID | None:
    """Before a tenant is known: the one whose open invitation this link belongs to."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_tenant_of_invitation(%s)", [token_digest(token)])
        return cursor.fetchone()[0]


def open_invitation(token: str) -> Invitation:
    """Raises NotFound also when who sent it may not invite any more, or passwords were switched off."""
    invitation = (
        Invitation.objects.select_related("invited_by", "department")
        .filter(
            digest=token_digest(token),
            accepted_at=None,
            withdrawn_at=None,
            expires_at__gt=timezone.now(),
        )
        .first()
    )
    inviter = invitation and invitation.invited_by
    may = inviter is None or Role.TENANT_ADMIN in roles_of(inviter)
    if invitation is None or not may or not policy().passwords:
        raise NotFound("The invitation does not work any more.")
    return invitation


def person_to_recover(user_id: object) -> User | None:
    """An active local account of a tenant that uses passwords; None for anybody else.

    An account that a provider vouches for is recovered there.
    """
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not user.has_usable_password() or not policy().passwords:
        return None
    return None if user.identities.exists() else user
