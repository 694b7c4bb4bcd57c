"""A new password by e-mail, for local accounts. Whoever asks learns nothing about any account."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from audit.services import record_action
from tenants.identity import selectors as identity
from tenants.models import User
from tenants.scope import tenant_scope
from tenants.selectors import tenant_of_email
from tenants.services import set_password

from . import letters
from .selectors import person_to_recover


def ask_for_new_password(*, email: str) -> None:
    """The same work, and the same silence, whether or not there is such an account.

    What differs is done by the worker, which is given the id of the account or one of nobody.
    """
    tenant_id = tenant_of_email(email.strip())
    user_id, scope = uuid.uuid4(), tenant_id or uuid.uuid4()
    with tenant_scope(scope):
        user = User.objects.filter(email__iexact=email.strip()).first()
        user_id = user.pk if user else user_id
    letters.hand_over("tenants.tasks.send_recovery", user_id)


def send_recovery(*, user_id: str) -> bool:
    """For the worker, in the account's tenant. Refusals are recorded; nobody outside is told."""
    user = person_to_recover(user_id)
    if user is None or not settings.EMAIL_IS_ON:
        _record("recovery.refused", user_id, code=_why_not(user))
        return False
    link = reverse(
        "recover_account",
        args=[
            urlsafe_base64_encode(force_bytes(user.pk)),
            default_token_generator.make_token(user),
        ],
    )
    minutes = int(timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT).total_seconds() // 60)
    letters.send(
        to=user.email,
        subject="A new password for Precept",
        lines=[
            "Somebody, hopefully you, has asked for a new password for this account. Choose one here:",
            settings.PUBLIC_URL + link,
            f"The link works once, for {minutes} minutes. If you did not ask, do nothing: your "
            "password stays as it is.",
        ],
    )
    _record("recovery.sent", user.pk)
    return True


@transaction.atomic
def recover(*, user: User, password: str) -> None:
    """The new password; every session of the person ends, and the link is used up by it.

    Raises ValidationError for a weak one.
    """
    set_password(user=user, password=password, actor=user)
    _record("recovery.used", user.pk)


def _why_not(user: User | None) -> str:
    if user is not None:
        return "no_email"
    return "not_local" if identity.policy().passwords else "passwords_off"


def _record(action: str, user_id: object, **facts: str) -> None:
    record_action(action=action, actor=None, object_ids={"user": user_id}, facts=facts)
