"""Counters in PostgreSQL: exact among processes, and never given back by somebody's rollback.

A count is one statement that adds only while the sum stays within the cap; the row it writes is
locked until its transaction ends, so two processes cannot both take the last one. Windows are those
of the clock (a minute, a day in UTC), read in the database, and never move back.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from answers.models import UsageKind
from tenants.scope import current_tenant_id

WINDOW_SECONDS = {UsageKind.QUESTIONS: 60, UsageKind.TOKENS: 24 * 60 * 60}

ADD = """
INSERT INTO answers_usagecounter AS c (tenant_id, kind, subject, window_start, used)
SELECT %(tenant)s, %(kind)s, %(subject)s,
       to_timestamp(floor(extract(epoch FROM clock_timestamp()) / %(seconds)s) * %(seconds)s),
       %(n)s
WHERE %(n)s <= %(cap)s
ON CONFLICT (tenant_id, kind, subject) DO UPDATE
    SET window_start = greatest(c.window_start, excluded.window_start),
        used = CASE WHEN c.window_start >= excluded.window_start
                    THEN c.used + excluded.used ELSE excluded.used END
    WHERE c.window_start < excluded.window_start OR c.used + excluded.used <= %(cap)s
RETURNING c.window_start
"""
CORRECT = """
UPDATE answers_usagecounter SET used = greatest(0, used + %(n)s)
WHERE tenant_id = %(tenant)s AND kind = %(kind)s AND subject = %(subject)s
  AND window_start = %(window)s
"""
USED_UP = """
SELECT EXISTS (
    SELECT FROM answers_usagecounter
    WHERE tenant_id = %(tenant)s AND kind = %(kind)s AND subject = %(subject)s AND used >= %(cap)s
      AND window_start > clock_timestamp() - make_interval(secs => %(seconds)s))
"""


@dataclass(frozen=True, slots=True)
class Counter:
    """What `subject` (a user's or the tenant's id) has used of `cap` in this window."""

    kind: UsageKind
    subject: UUID
    cap: int

    def add(self, cursor, n: int) -> datetime | None:
        """Count `n` more if they fit: the window they were counted in, or None."""
        cursor.execute(ADD, self._values(n=n))
        row = cursor.fetchone()
        return row and row[0]

    def correct(self, cursor, n: int, *, window: datetime) -> None:
        """Add or take away without a cap what was counted wrongly in a window, if it still runs."""
        cursor.execute(CORRECT, self._values(n=n, window=window))

    def is_used_up(self, cursor) -> bool:
        cursor.execute(USED_UP, self._values())
        return cursor.fetchone()[0]

    def seconds_left(self) -> int:
        """Until the next window."""
        seconds = WINDOW_SECONDS[self.kind]
        return max(1, math.ceil(seconds - time.time() % seconds))

    def _values(self, **more) -> dict[str, object]:
        return {
            "tenant": current_tenant_id(),
            "kind": self.kind.value,
            "subject": self.subject,
            "cap": self.cap,
            "seconds": WINDOW_SECONDS[self.kind],
            **more,
        }


@contextmanager
def counting() -> Iterator[object]:
    """A cursor in a transaction of its own; an exception inside undoes what was counted in it.

    Inside somebody else's transaction that needs a second connection: what the outer one does
    later, or undoes, must not change what was counted.
    """
    if not connection.in_atomic_block and connection.get_autocommit():
        with transaction.atomic(), connection.cursor() as cursor:
            yield cursor
        return
    own = connection.copy()
    try:
        own.ensure_connection()
        with own.connection.transaction(), own.cursor() as cursor:
            yield cursor
    finally:
        own.close()
