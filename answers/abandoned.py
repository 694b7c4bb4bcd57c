"""Attempts whose process died are ended, so that none runs for ever and each leaves its record."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from tenants.scope import tenant_scope

from .models import Answer, AnswerState, Outcome, Reason
from .services import end_answer

# Longer than any attempt may take: three times the generator's timeout, and some.
ABANDONED_AFTER = timedelta(seconds=420 + 3 * settings.GENERATOR_TIMEOUT_SECONDS)
# A stream gives a sign of life with each comment it sends; several in a row may fail.
SILENT_AFTER = timedelta(seconds=45 + 3 * settings.STREAM_KEEPALIVE_SECONDS)


def end_abandoned_everywhere() -> None:
    """For the dispatcher: in every tenant that has such attempts."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT answers_tenants_with_abandoned(%s, %s)", _limits())
        tenant_ids = [row[0] for row in cursor.fetchall()]
    for tenant_id in tenant_ids:
        with tenant_scope(tenant_id):
            end_abandoned()


def end_abandoned() -> int:
    """In the current tenant. Returns how many were ended, as interrupted."""
    older_than, silent_since = _limits()
    running = Answer.objects.filter(
        Q(created_at__lt=older_than) | Q(alive_at__lt=silent_since), state=AnswerState.RUNNING
    )
    return sum(
        end_answer(answer=answer, outcome=Outcome.INTERRUPTED, reason=Reason.DISCONNECTED)
        for answer in running
    )


def _limits() -> tuple[datetime, datetime]:
    now = timezone.now()
    return now - ABANDONED_AFTER, now - SILENT_AFTER
