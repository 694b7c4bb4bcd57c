"""Two people of a bank who let a generation serve, for tests that are about something else."""

from documents.models import IndexGeneration
from evaluation.gates import approve_override, ask_override
from tenants.models import Role
from tests.bank import Bank


def let_pass(bank: Bank, generation: IndexGeneration) -> None:
    asks, approves = (bank.person(name, roles=[Role.TENANT_ADMIN]) for name in ("one", "two"))
    with bank.scope():
        generation.refresh_from_db()
        override = ask_override(
            actor=asks, candidate=generation, reason="There are no cases in this test."
        )
        approve_override(actor=approves, override=override)
