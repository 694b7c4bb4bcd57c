"""Attempts whose process died are ended, so that none runs for ever and each leaves its record."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from tenants.scope import tenant_scope

from .models import Answer, AnswerState, Outcome, Reason
from .services import end_answer

# Longer than any attempt may take: three times the generator's timeout, and some.
ABANDONED_AFTER = timedelta(minutes=10)


def end_abandoned_everywhere() -> None:
    """For the dispatcher: in every tenant that has such attempts."""
    older_than = timezone.now() - ABANDONED_AFTER
    with connection.cursor() as cursor:
        cursor.execute("SELECT answers_tenants_with_abandoned(%s)", [older_than])
        tenant_ids = [row[0] for row in cursor.fetchall()]
    for tenant_id in tenant_ids:
        with tenant_scope(tenant_id):
            end_abandoned(older_than=older_than)


def end_abandoned(*, older_than: datetime) -> int:
    """In the current tenant. Returns how many were ended, as interrupted."""
    running = Answer.objects.filter(state=AnswerState.RUNNING, created_at__lt=older_than)
    return sum(
        end_answer(answer=answer, outcome=Outcome.INTERRUPTED, reason=Reason.DISCONNECTED)
        for answer in running
    )
