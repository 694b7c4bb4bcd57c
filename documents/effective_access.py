"""Through what somebody reads, and who gains or loses by a change. For administrators.

Every pair of person and document comes from documents_readable(); grants and memberships are only
looked at to say through what, in the same statement.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from tenants.models import User
from tenants.scope import current_tenant_id

from .access import who_may_read
from .models import Document

PERSONALLY = "personally"

_PATHS = """
SELECT u.id, r.document_id, g.id IS NOT NULL AND g.user_id IS NOT NULL, gg.name
FROM tenants_user u
CROSS JOIN LATERAL documents_readable(u.id) r
LEFT JOIN documents_grant g ON g.document_id = r.document_id AND g.tenant_id = u.tenant_id
    AND (g.user_id = u.id OR g.group_id IN (
        SELECT m.group_id FROM tenants_groupmembership m
        WHERE m.user_id = u.id AND m.tenant_id = u.tenant_id))
LEFT JOIN tenants_group gg ON gg.id = g.group_id
WHERE u.tenant_id = %(tenant)s
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """A person who may read a document, and the groups, or `personally`, through which."""

    person: User
    through: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A document that a person may read, and through what."""

    document: Document
    through: tuple[str, ...]


def readers_of(*, document: Document) -> list[Reader]:
    """Everybody who may read it now, by e-mail address."""
    through = _paths("r.document_id = %(document)s", document=document.id)
    people = User.objects.filter(id__in=[person for person, _ in through]).order_by("email")
    return [Reader(person, through[person.id, document.id]) for person in people]


def readings_of(*, person: User, among: QuerySet[Document]) -> list[Reading]:
    """What a person may read of these documents, by title."""
    through = _paths("u.id = %(person)s", person=person.id)
    documents = among.filter(id__in=[document for _, document in through])
    ordered = documents.select_related("department").order_by("title", "id")
    return [Reading(document, through[person.id, document.id]) for document in ordered]


def _paths(where: str, **values: UUID) -> dict[tuple[UUID, UUID], tuple[str, ...]]:
    """(person, document) → through what, groups first."""
    found: dict[tuple[UUID, UUID], set[tuple[bool, str]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(f"{_PATHS} AND {where}", {"tenant": current_tenant_id(), **values})
        for person, document, is_personal, group in cursor.fetchall():
            ways = found.setdefault((person, document), set())
            if is_personal:
                ways.add((True, PERSONALLY))
            elif group is not None:
                ways.add((False, group))
    return {pair: tuple(name for _, name in sorted(ways)) for pair, ways in found.items()}


@dataclass(frozen=True, slots=True)
class AccessChange:
    """Who could not read a document before and can now, and the reverse.

    `in_force` False: no version is in force yet, and this is how it will be once one is.
    """

    gains: tuple[User, ...] = ()
    loses: tuple[User, ...] = ()
    in_force: bool = True

    def __bool__(self) -> bool:
        return bool(self.gains or self.loses)

    @property
    def digest(self) -> str:
        """What somebody confirms: exactly these gains and losses."""
        named = [sorted(str(user.id) for user in users) for users in (self.gains, self.loses)]
        return hashlib.sha256(repr(named).encode()).hexdigest()


@contextmanager
def watched_access(document: Document) -> Iterator[Sequence[AccessChange]]:
    """What the block changed about who may read the document: one element, there after the block.

    Asks the rule before and after, inside the caller's transaction; the caller holds the document's
    lock. Who only wants to know rolls back.
    """
    changes: list[AccessChange] = []
    before = readers_once_in_force(document)
    yield changes
    after = readers_once_in_force(document)
    concerned = {user.id: user for user in User.objects.filter(id__in=before ^ after)}
    by_name = sorted(concerned.values(), key=lambda user: user.email)
    changes.append(
        AccessChange(
            gains=tuple(user for user in by_name if user.id in after),
            loses=tuple(user for user in by_name if user.id in before),
            in_force=Document.objects.filter(pk=document.pk, current_version=None).count() == 0,
        )
    )


def readers_once_in_force(document: Document) -> set[UUID]:
    """Who may read it now; where no version is in force yet, who could if the newest one were."""
    with transaction.atomic():
        newest = document.versions.order_by("-number").first()
        waiting = Document.objects.filter(pk=document.pk, current_version=None)
        is_supposed = newest is not None and waiting.update(current_version=newest)
        readers = set(who_may_read(document=document).values_list("id", flat=True))
        if is_supposed:
            transaction.set_rollback(True)
    return readers
