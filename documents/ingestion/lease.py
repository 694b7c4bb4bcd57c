"""A job holds a lease on its version and renews it while it lives, so that a dead one is noticed."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, Q
from django.utils import timezone

from documents.models import UNFINISHED, DocumentVersion
from tenants.scope import current_tenant_id, tenant_scope


class LeaseLost(Exception):
    """Another worker took the job over; whatever this one made is thrown away."""


@dataclass(frozen=True, slots=True)
class Lease:
    version_id: UUID
    token: UUID

    def held(self):
        """The version's row as long as the lease is still this job's; for guarded updates."""
        return DocumentVersion.objects.filter(pk=self.version_id, lease=self.token)

    def update(self, **fields) -> None:
        """Write to the version, or raise LeaseLost."""
        if not self.held().update(**fields):
            raise LeaseLost(f"The work on version {self.version_id} was taken over.")


@contextmanager
def claim(version_id: UUID) -> Iterator[Lease | None]:
    """Hold the version's lease for the block; None when it is done or somebody else works on it."""
    lease = Lease(version_id=version_id, token=uuid.uuid4())
    claimed = DocumentVersion.objects.filter(
        Q(lease=None) | Q(lease_until__lt=timezone.now()),
        pk=version_id,
        status__in=UNFINISHED,
    ).update(lease=lease.token, lease_until=_until(), queued=False, attempts=F("attempts") + 1)
    if not claimed:
        yield None
        return
    stop = threading.Event()
    heart = threading.Thread(
        target=_beat, args=(current_tenant_id(), lease, stop), name="lease", daemon=True
    )
    heart.start()
    try:
        yield lease
    finally:
        stop.set()
        heart.join()


def _beat(tenant_id: UUID, lease: Lease, stop: threading.Event) -> None:
    try:
        with tenant_scope(tenant_id):
            while not stop.wait(settings.JOB_LEASE_SECONDS / 3):
                try:
                    lease.held().update(lease_until=_until())
                except (OperationalError, InterfaceError):
                    connection.close()  # the database went away; it may be back for the next beat
    finally:
        connection.close()


def _until():
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
