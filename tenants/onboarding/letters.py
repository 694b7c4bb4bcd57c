"""The e-mails that let somebody in, written by a worker: no page waits for a mail server."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import transaction
from django_q.tasks import async_task


def require_email() -> None:
    """Raises ValidationError where none can be sent."""
    if not settings.EMAIL_IS_ON:
        raise ValidationError(
            "No e-mail can be sent from here yet; the operator of Precept sets PRECEPT_EMAIL_URL."
        )


def hand_over(task: str, *ids: object) -> None:
    """To the worker, once this transaction is committed. Ids only: the queue outlives what it names."""
    transaction.on_commit(lambda: async_task(task, *map(str, ids)))


def send(*, to: str, subject: str, lines: list[str]) -> None:
    subject = " ".join(subject.split())  # a name may hold a line break, a header may not
    EmailMessage(subject=subject, body="\n\n".join(lines) + "\n", to=[to]).send()
