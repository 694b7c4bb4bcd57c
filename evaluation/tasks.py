"""Entry points of background work: open the scope, call a service. Arguments are ids only."""

from uuid import UUID

from tenants.scope import tenant_scope

from .personas import ask_all
from .runs import work_on
from .runs.giving_way import what_is_left


def carry_out_run(tenant_id: str, run_id: str) -> str:
    """Returns the state the run is in now."""
    with tenant_scope(UUID(tenant_id)), what_is_left():
        return work_on(UUID(run_id), gives_way=True).state


def ask_personas(tenant_id: str, diff_id: str) -> str:
    """Returns the state it is in now."""
    with tenant_scope(UUID(tenant_id)), what_is_left():
        return ask_all(UUID(diff_id), gives_way=True).state
