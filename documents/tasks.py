"""Entry points of background work: open the scope, call a service."""

from uuid import UUID

from tenants.scope import tenant_scope

from .building import build_in_background
from .ingestion.job import ingest_version as run_ingestion


def ingest_version(tenant_id: str, version_id: str) -> str:
    """Returns the state the version is in now. Arguments are ids only: the queue is no secret place."""
    with tenant_scope(UUID(tenant_id)):
        return run_ingestion(version_id=UUID(version_id)).status


def build_generation(tenant_id: str, generation_id: str) -> str:
    """Returns the state the generation is in now."""
    with tenant_scope(UUID(tenant_id)):
        return build_in_background(generation_id=UUID(generation_id))
