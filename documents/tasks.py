"""Entry points of background work: open the scope, call a service."""

from contextlib import suppress
from uuid import UUID

from django.db import DatabaseError, connection

from tenants.scope import tenant_scope

from .building import build_in_background
from .ingestion.job import ingest_version as run_ingestion


def ingest_version(tenant_id: str, version_id: str) -> str:
    """Returns the state the version is in now. Arguments are ids only: the queue is no secret place."""
    try:
        with tenant_scope(UUID(tenant_id)):
            return run_ingestion(version_id=UUID(version_id)).status
    finally:
        _announce_room()


def _announce_room() -> None:
    """The dispatcher hands out the next job now and not at its next sweep."""
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify('precept_outbox', '')")


def build_generation(tenant_id: str, generation_id: str) -> str:
    """Returns the state the generation is in now."""
    with tenant_scope(UUID(tenant_id)):
        return build_in_background(generation_id=UUID(generation_id))
