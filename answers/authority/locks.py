"""The decisions' transaction: bounded waiting, shared locks in key order."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from .errors import AuthorityUnavailable


@contextmanager
def decision() -> Iterator[None]:
    """One transaction of the authority. Database trouble becomes AuthorityUnavailable."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('lock_timeout', %s, true)",
                    [f"{settings.AUTHORITY_LOCK_TIMEOUT_MS}ms"],
                )
            yield
    except DatabaseError as error:
        raise AuthorityUnavailable(str(error).splitlines()[0]) from error


def lock_shared(*, user_id: UUID, document_ids: Iterable[UUID]) -> None:
    """Wait for running changes of eligibility, and make later ones wait for this decision.

    Shared among readers: two decisions never wait for each other. Ordered by key, so that a
    writer of several documents and a decision meet in one order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(key) FROM ("
            " SELECT precept_lock_key('user', %s) AS key"
            " UNION SELECT precept_lock_key('document', id) FROM unnest(%s::uuid[]) id"
            " ORDER BY key) ordered",
            [user_id, sorted(set(document_ids))],
        )
