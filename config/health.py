"""For load balancers and monitoring. Says that something is wrong, never what is inside."""

import secrets

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from answers.models import Answer
from documents.models import DocumentVersion, OutboxEvent
from evaluation.dashboard.prometheus import pilot_lines


def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> HttpResponse:
    """The process can serve: the database is there and migrated."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT precept_tenant_of_slug('')")
    except DatabaseError:
        return JsonResponse({"status": "unavailable"}, status=503)
    return JsonResponse({"status": "ok"})


def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text. For the monitoring's token only: sizes of tables, as the planner estimates
    them, and each tenant's measures of the last whole week. They tell how much happens in others.
    """
    lines = ["# TYPE precept_up gauge", "precept_up 1"]
    if not _from_monitoring(request):
        return _prometheus(lines)
    for model, name in (
        (Answer, "precept_answers_estimate"),
        (DocumentVersion, "precept_document_versions_estimate"),
        (OutboxEvent, "precept_outbox_events_estimate"),
    ):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE relname = %s",
                [model._meta.db_table],
            )
            lines += [f"# TYPE {name} gauge", f"{name} {cursor.fetchone()[0]}"]
    return _prometheus([*lines, *pilot_lines()])


def _from_monitoring(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bool(token) and secrets.compare_digest(given.encode(), token.encode())


def _prometheus(lines: list[str]) -> HttpResponse:
    return HttpResponse(
        "\n".join(lines) + "\n",
        content_type="text/plain; version=0.0.4",
        headers={"Cache-Control": "no-store"},
    )
