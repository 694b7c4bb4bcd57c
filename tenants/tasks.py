"""What a worker is given about people: ids only. Loads the scope, calls a service."""

from uuid import UUID

from .scope import tenant_scope
from .selectors import tenant_of_user


def send_invitation(tenant_id: str, invitation_id: str) -> None:
    from .onboarding.services import send_invitation as send

    with tenant_scope(UUID(tenant_id)):
        send(invitation_id=UUID(invitation_id))


def send_recovery(user_id: str) -> None:
    """Of an account, or of nobody: then there is nothing to do."""
    from .onboarding.recovery import send_recovery as send

    tenant_id = tenant_of_user(user_id)
    if tenant_id is not None:
        with tenant_scope(tenant_id):
            send(user_id=user_id)
