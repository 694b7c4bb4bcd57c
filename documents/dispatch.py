"""Hands the outbox to the queue, and takes back what a dead worker left."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django_q.tasks import async_task

from tenants.scope import tenant_scope

from .generations import kept_up_generations
from .ingestion.accept import put_due_versions_in_force
from .models import UNFINISHED, DocumentVersion, EventKind, OutboxEvent

# How long a job may wait in the queue before it is put there once more; doing it twice is harmless.
HAND_OVER_WITHIN = timedelta(minutes=15)

# What rooms above this one want done regularly, in the dispatcher's process.
_sweeps: list[Callable[[], None]] = []


def register_sweep(sweep: Callable[[], None]) -> None:
    """Have the dispatcher call this every PRECEPT_OUTBOX_SWEEP_SECONDS; it opens its own scopes."""
    _sweeps.append(sweep)


def run_sweeps() -> None:
    for sweep in _sweeps:
        sweep()


def dispatch_all() -> int:
    """Everything that waits, tenant by tenant. Returns how many jobs were handed over."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT documents_tenants_with_work()"
            " UNION SELECT documents_tenants_with_generation_work()"
        )
        tenant_ids = [row[0] for row in cursor.fetchall()]
    return sum(dispatch_tenant(tenant_id) for tenant_id in tenant_ids)


def dispatch_tenant(tenant_id: UUID) -> int:
    """What waits in one tenant, the urgent first, as far as there is room in the queue for it.

    Returns how many jobs were handed over. The queue itself knows no order, so it is kept short:
    what comes in urgently waits for the few jobs that are in it, and not for a thousand.
    """
    with tenant_scope(tenant_id):
        put_due_versions_in_force()
        return _dispatch(tenant_id) + _dispatch_builds(tenant_id)


@transaction.atomic
def _dispatch(tenant_id: UUID) -> int:
    """With the queue in the same database, handing over and marking are one transaction."""
    room = settings.JOBS_IN_FLIGHT - _in_flight().count()
    if room <= 0:
        return 0
    waiting = sorted([*_events(room), *_abandoned(room)], key=lambda job: (job.priority, job.since))
    waiting = waiting[:room]
    # Of those that `ingest --inline` has finished meanwhile there is nothing to do.
    ids = {job.version_id for job in waiting}
    unfinished = set(_unfinished().filter(id__in=ids).values_list("id", flat=True))
    for job in waiting:
        if job.version_id in unfinished:
            _enqueue(tenant_id, job.version_id)
        if job.event is not None:
            OutboxEvent.objects.filter(pk=job.event).update(
                dispatched_at=timezone.now(), attempts=F("attempts") + 1
            )
    return len(waiting)


@dataclass(frozen=True, slots=True)
class _Waiting:
    priority: int
    since: datetime
    version_id: UUID
    event: UUID | None = None


def _unfinished() -> QuerySet[DocumentVersion]:
    return DocumentVersion.objects.filter(status__in=UNFINISHED)


def _in_flight() -> QuerySet[DocumentVersion]:
    """What the queue has, and what is being worked on. What was postponed is neither."""
    return _unfinished().filter(
        Q(queued=True) | Q(lease__isnull=False), lease_until__gte=timezone.now()
    )


def _events(room: int) -> list[_Waiting]:
    pending = (
        OutboxEvent.objects.select_for_update(skip_locked=True)
        .filter(dispatched_at=None, kind=EventKind.VERSION_RECEIVED)
        .order_by("priority", "created_at")
    )
    return [
        _Waiting(event.priority, event.created_at, UUID(event.payload["version"]), event.id)
        for event in pending[:room]
    ]


def _abandoned(room: int) -> list[_Waiting]:
    """Versions whose lease ran out: their worker died, or they were postponed."""
    abandoned = (
        _unfinished()
        .filter(lease_until__lt=timezone.now())
        .select_for_update(skip_locked=True)
        .order_by("priority", "created_at")
    )
    return [
        _Waiting(version.priority, version.created_at, version.id) for version in abandoned[:room]
    ]


@transaction.atomic
def _dispatch_builds(tenant_id: UUID) -> int:
    """Generations that a new version left behind, or whose builder died or was put off."""
    events = OutboxEvent.objects.select_for_update(skip_locked=True).filter(
        dispatched_at=None, kind=EventKind.GENERATION_BEHIND
    )
    behind = [(event.pk, UUID(event.payload["generation"])) for event in events]
    abandoned = (
        kept_up_generations()
        .select_for_update(skip_locked=True)
        .filter(lease_until__lt=timezone.now())
    )
    waiting = {generation for _, generation in behind} | {one.pk for one in abandoned.only("id")}
    for generation in waiting:
        _enqueue_build(tenant_id, generation)
    OutboxEvent.objects.filter(pk__in=[event for event, _ in behind]).update(
        dispatched_at=timezone.now(), attempts=F("attempts") + 1
    )
    return len(waiting)


def _enqueue_build(tenant_id: UUID, generation_id: UUID) -> None:
    async_task("documents.tasks.build_generation", str(tenant_id), str(generation_id))
    kept_up_generations().filter(
        Q(lease=None) | Q(lease_until__lt=timezone.now()), pk=generation_id
    ).update(lease=None, lease_until=timezone.now() + HAND_OVER_WITHIN)


def _enqueue(tenant_id: UUID, version_id: UUID) -> None:
    async_task("documents.tasks.ingest_version", str(tenant_id), str(version_id))
    # If nobody takes the lease by then, the hand-over itself was lost. Who holds one keeps it:
    # `ingest --inline` works on a version whose event still waits here.
    DocumentVersion.objects.filter(
        Q(lease=None) | Q(lease_until__lt=timezone.now()), pk=version_id
    ).update(lease=None, queued=True, lease_until=timezone.now() + HAND_OVER_WITHIN)
