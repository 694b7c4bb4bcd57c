"""The same request sent several times at once is looked at one by one, in whichever process."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection

# Locks of two numbers never meet those of one, which are the authority's.
_OF_REQUESTS = 20_001


@contextmanager
def one_at_a_time(*, person: UUID, request_id: str) -> Iterator[None]:
    """Held for the milliseconds in which an attempt is counted and made.

    The connection's lock, not a transaction's: what is counted inside must commit on its own. A
    connection that breaks gives it up.
    """
    key = [_OF_REQUESTS, f"{person}:{request_id}"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", key)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", key)
