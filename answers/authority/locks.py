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

# No lock is waited for longer than its timeout, and no statement longer than the budget.
_BOUND = (
    "SELECT set_config('lock_timeout', %(lock)s, true),"
    " set_config('statement_timeout', %(budget)s, true)"
)
# Shared among readers: two decisions never wait for each other. Ordered by key, so that a writer of
# several documents and a decision meet in one order. Which documents the chunks belong to never
# changes; nothing else is decided from this read.
_LOCK = (
    "SELECT pg_advisory_xact_lock_shared(key) FROM ("
    " SELECT precept_lock_key('user', %(reader)s) AS key"
    " UNION SELECT precept_lock_key('document', id) FROM unnest(%(documents)s::uuid[]) id"
    " UNION SELECT precept_lock_key('document', document_id) FROM documents_chunk"
    "  WHERE id = ANY(%(chunks)s)"
    " ORDER BY key) ordered"
)


def decide(work: Callable[[float], Decision]) -> Decision:
    """One decision of the authority, in a transaction of its own.

    `work` gets the seconds that are left. After a deadlock or a lock that could not be had, it runs
    again in a fresh transaction, until settings.AUTHORITY_BUDGET_MS are spent; so it must change
    nothing but the database. Raises AuthorityUnavailable then, and at once for any other database
    trouble.
    """
    deadline = time.monotonic() + settings.AUTHORITY_BUDGET_MS / 1000
    while True:
        try:
            with transaction.atomic(durable=True):  # inside another, no try would be fresh
                return work(deadline - time.monotonic())
        except DatabaseError as error:
            collided = isinstance(error.__cause__, _COLLISIONS)
            left = deadline - time.monotonic()
            if not collided or left <= 0:
                raise AuthorityUnavailable(str(error).splitlines()[0]) from error
            log.info("collision", kind=type(error.__cause__).__name__)
            time.sleep(min(left, random.uniform(0, _LONGEST_PAUSE_SECONDS)))  # noqa: S311


def lock_then_read(
    read: str,
    *,
    left: float,
    reader: UUID,
    documents: Iterable[UUID] = (),
    chunks: Iterable[UUID] = (),
) -> list[tuple]:
    """Wait for running changes of eligibility, make later ones wait, then read.

    Locks the reader, the documents, and the documents of the chunks. `read` is a statement of its
    own with the parameters reader, documents and chunks. All go in one message, yet each statement
    takes its own snapshot (READ COMMITTED): that of the read is younger than the locks, so what
    committed first is seen.
    """
    budget = max(1, round(left * 1000))
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_BOUND}; {_LOCK}; {read}",
            {
                "lock": f"{min(budget, settings.AUTHORITY_LOCK_TIMEOUT_MS)}ms",
                "budget": f"{budget}ms",
                "reader": reader,
                "documents": list(documents),
                "chunks": list(chunks),
            },
        )
        while cursor.nextset():
            pass
        return cursor.fetchall()
