"""Entry points of background work: open the scope, call a service. Arguments are ids only."""

from uuid import UUID

from tenants.scope import tenant_scope

from .shadowing import compare_answer


def compare_in_shadow(tenant_id: str, answer_id: str) -> float | None:
    with tenant_scope(UUID(tenant_id)):
        return compare_answer(UUID(answer_id))
