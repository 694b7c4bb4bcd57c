"""One configuration serves a tenant at a time; another takes over in one step, if the database lets it.

The database keeps who took over from whom, and may refuse: which rule that is, is not this room's to
know (see precept_note_serving in migration 0011, and the gate of the evaluation room).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import IntegrityError, connection, models

from tenants.scope import current_tenant_id

Row = TypeVar("Row", bound=models.Model)


class PromotionConflict(Exception):
    """It is not in a state for this; the message says which it is and what to do."""


class PromotionRefused(PromotionConflict):
    """Something still stands between the candidate and serving; the message says what."""


def lock_serving(kind: str) -> None:
    """One change at a time of which generation, or configuration, a tenant is served by."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_lock_exclusive(%s, %s)", [kind, current_tenant_id()])


@contextmanager
def gate_refusals() -> Iterator[None]:
    """Turns the gate's refusal of a row into PromotionRefused."""
    try:
        yield
    except IntegrityError as error:
        diagnostics = getattr(error.__cause__, "diag", None)
        if diagnostics is None or diagnostics.constraint_name != "promotion_gate":
            raise
        raise PromotionRefused(diagnostics.message_primary) from error


def take_over(*, candidate: Row, former: Row | None) -> None:
    """In the caller's transaction, under `lock_serving`. Raises PromotionRefused."""
    rows = type(candidate).objects
    if former:
        rows.filter(pk=former.pk).update(status="retired")
    with gate_refusals():
        rows.filter(pk=candidate.pk).update(status="serving")
