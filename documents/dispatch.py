"""Hands the outbox to the queue, and takes back what a dead worker left."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django_q.tasks import async_task

from tenants.scope import tenant_scope

from .generations import kept_up_generations
from .ingestion.accept import put_due_versions_in_force
from .models import DocumentVersion, EventKind, OutboxEvent, VersionStatus

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
    """What waits in one tenant. Returns how many jobs were handed over."""
    with tenant_scope(tenant_id):
        put_due_versions_in_force()
        return (
            _dispatch_events(tenant_id)
            + _dispatch_abandoned(tenant_id)
            + _dispatch_abandoned_builds(tenant_id)
        )


@transaction.atomic
def _dispatch_events(tenant_id: UUID) -> int:
    """With the queue in the same database, handing over and marking are one transaction."""
    events = OutboxEvent.objects.select_for_update(skip_locked=True).filter(dispatched_at=None)
    count = 0
    for event in events:
        if event.kind == EventKind.VERSION_RECEIVED:
            _enqueue(tenant_id, UUID(event.payload["version"]))
        elif event.kind == EventKind.GENERATION_BEHIND:
            _enqueue_build(tenant_id, UUID(event.payload["generation"]))
        event.dispatched_at = timezone.now()
        event.attempts = F("attempts") + 1
        event.save(update_fields=["dispatched_at", "attempts"])
        count += 1
    return count


@transaction.atomic
def _dispatch_abandoned(tenant_id: UUID) -> int:
    """Versions whose lease ran out: their worker died, or they were postponed."""
    abandoned = DocumentVersion.objects.select_for_update(skip_locked=True).filter(
        status__in=[VersionStatus.RECEIVED, VersionStatus.ACCEPTED],
        lease_until__lt=timezone.now(),
    )
    count = 0
    for version in abandoned:
        _enqueue(tenant_id, version.id)
        count += 1
    return count


@transaction.atomic
def _dispatch_abandoned_builds(tenant_id: UUID) -> int:
    """Generations whose builder died or was put off."""
    abandoned = (
        kept_up_generations()
        .select_for_update(skip_locked=True)
        .filter(lease_until__lt=timezone.now())
    )
    for generation in abandoned.only("id"):
        _enqueue_build(tenant_id, generation.pk)
    return len(abandoned)


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
    ).update(lease=None, lease_until=timezone.now() + HAND_OVER_WITHIN)
