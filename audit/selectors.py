"""Reading and verifying the record."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from tenants.scope import current_tenant_id

from .models import AuditRecord


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the chain does not hold."""

    seq: int
    reason: str


def records_about(
    *, actions: Sequence[str], since: datetime, ids: Mapping[str, Iterable[UUID]], limit: int = 500
) -> list[AuditRecord]:
    """Records of these actions from a moment on whose object of one of these names is one of these.

    Oldest first, at most `limit`.
    """
    named = Q()
    for name, keys in ids.items():
        named |= Q(**{f"object_ids__{name}__in": [str(key) for key in keys]})
    found = AuditRecord.objects.filter(named, action__in=actions, at__gte=since)
    return list(found.order_by("seq")[:limit])


def history_of(
    *, name: str, key: UUID, actions: Sequence[str], limit: int = 200
) -> list[AuditRecord]:
    """The last records of these actions whose object of this name is this one, newest first."""
    found = AuditRecord.objects.filter(
        **{f"object_ids__{name}": str(key)}, action__in=list(actions)
    )
    return list(found.order_by("-seq")[:limit])


def verify_chain() -> tuple[int, list[Break]]:
    """(records read, breaks) of the current tenant: changed, removed and reordered records."""
    head = chain_head()  # read first: what is appended meanwhile comes after it
    count, breaks, expected_seq, previous, found = 0, [], 1, "", None
    for seq, canonical, previous_hash, stored_hash in _chain():
        count += 1
        if seq != expected_seq:
            breaks.append(Break(seq=expected_seq, reason="record is missing or out of order"))
        if previous_hash != previous:
            breaks.append(Break(seq=seq, reason="does not follow the record before it"))
        if hashlib.sha256(canonical.encode()).hexdigest() != stored_hash:
            breaks.append(Break(seq=seq, reason="content was changed after it was written"))
        if head is not None and seq == head[0]:
            found = head
            if stored_hash != head[1]:
                breaks.append(Break(seq=seq, reason="is not the record that was appended here"))
        expected_seq, previous = seq + 1, stored_hash
    if head is None and count:
        breaks.append(Break(seq=expected_seq - 1, reason="the note of the chain's end is missing"))
    if head is not None and found is None:
        breaks.append(Break(seq=head[0], reason="records at the end are missing"))
    return count, breaks


def chain_head() -> tuple[int, str] | None:
    """(number, hash) of the current tenant's last record: a copy kept elsewhere anchors the chain."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, hash FROM audit_head WHERE tenant_id = %s", [current_tenant_id()]
        )
        return cursor.fetchone()


def _chain() -> Iterator[tuple[int, str, str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, audit_canonical(r), previous_hash, hash FROM audit_auditrecord r"
            " WHERE tenant_id = %s ORDER BY seq",
            [current_tenant_id()],
        )
        yield from cursor
