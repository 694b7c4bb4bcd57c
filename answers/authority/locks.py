"""The decisions' transaction: bounded waiting, tried again after a collision, locks in key order."""

import random
import time
from collections.abc import Callable, Iterable
from typing import TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from psycopg.errors import DeadlockDetected, LockNotAvailable, SerializationFailure

from .errors import AuthorityUnavailable

log = structlog.get_logger("precept.authority")

Decision = TypeVar("Decision")

# Two parties met at a lock; nothing was decided, so the same question can be put once more.
_COLLISIONS = (DeadlockDetected, LockNotAvailable, SerializationFailure)
_LONGEST_PAUSE_SECONDS = 0.05


def decide(work: Callable[[], Decision]) -> Decision:
    """One decision of the authority, in a transaction of its own.

    After a deadlock or a lock that could not be had, `work` runs again in a fresh transaction, until
    settings.AUTHORITY_BUDGET_MS are spent; so it must change nothing but the database. Raises
    AuthorityUnavailable then, and at once for any other database trouble.
    """
    deadline = time.monotonic() + settings.AUTHORITY_BUDGET_MS / 1000
    while True:
        try:
            with transaction.atomic(durable=True):  # inside another, no try would be fresh
                _bound_waiting(deadline - time.monotonic())
                return work()
        except DatabaseError as error:
            collided = isinstance(error.__cause__, _COLLISIONS)
            left = deadline - time.monotonic()
            if not collided or left <= 0:
                raise AuthorityUnavailable(str(error).splitlines()[0]) from error
            log.info("collision", kind=type(error.__cause__).__name__)
            time.sleep(min(left, random.uniform(0, _LONGEST_PAUSE_SECONDS)))  # noqa: S311


def lock_shared(
    *, user_id: UUID, document_ids: Iterable[UUID] = (), chunk_ids: Iterable[UUID] = ()
) -> None:
    """Wait for running changes of eligibility, and make later ones wait for this decision.

    Of the user, the documents, and the documents of the chunks; which these are never changes, and
    nothing else is decided from this read. Shared among readers: two decisions never wait for each
    other. Ordered by key, so that a writer of several documents and a decision meet in one order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(key) FROM ("
            " SELECT precept_lock_key('user', %s) AS key"
            " UNION SELECT precept_lock_key('document', id) FROM unnest(%s::uuid[]) id"
            " UNION SELECT precept_lock_key('document', document_id) FROM documents_chunk"
            "  WHERE id = ANY(%s)"
            " ORDER BY key) ordered",
            [user_id, list(document_ids), list(chunk_ids)],
        )


def _bound_waiting(left: float) -> None:
    """No lock may be waited for longer than its timeout, and no statement past the budget."""
    budget = max(1, round(left * 1000))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)",
            [f"{min(budget, settings.AUTHORITY_LOCK_TIMEOUT_MS)}ms", f"{budget}ms"],
        )
