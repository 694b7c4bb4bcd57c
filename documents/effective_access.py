"""Through what somebody reads, and who gains or loses by a change. For administrators.

Every pair of person and document comes from documents_readable(); grants and memberships are only
looked at to say through what, in the same statement.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from tenants.models import User
from tenants.scope import current_tenant_id
from tenants.selectors import NotFound

from .models import Document, DocumentVersion
from .services import lock_documents

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

_READERS = """
SELECT u.id, r.document_id FROM tenants_user u CROSS JOIN LATERAL documents_readable(u.id) r
WHERE u.tenant_id = %(tenant)s AND r.document_id = ANY(%(documents)s)
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
def watched_access(*documents: Document) -> Iterator[list[AccessChange]]:
    """What the block changed about who may read these: one element, there after the block.

    Asks the rule before and after, inside the caller's transaction; the caller holds the documents'
    locks. Who only wants to know rolls back. Somebody who gains one document and loses another is
    named on both sides.
    """
    changes: list[AccessChange] = []
    before, waiting = readers_once_in_force(*documents)
    yield changes
    after, _ = readers_once_in_force(*documents)
    changes.append(
        AccessChange(
            gains=_people(after - before), loses=_people(before - after), in_force=not waiting
        )
    )


def foresee_access(
    documents: Sequence[Document], attempt: Callable[[Document], object]
) -> AccessChange:
    """What `attempt`, tried on each of these and taken back, would change: all documents together.

    What it refuses to do to a document changes nothing.
    """
    with transaction.atomic():
        lock_documents([document.id for document in documents])
        with watched_access(*documents) as changes:
            for document in documents:
                with suppress(ValidationError, PermissionDenied, NotFound), transaction.atomic():
                    attempt(document)
        transaction.set_rollback(True)
    return changes[0]


def readers_once_in_force(*documents: Document) -> tuple[set[tuple[UUID, UUID]], int]:
    """(person, document) for whoever may read one now, or could if its newest version were in force.

    The number is how many of the documents have no version in force yet.
    """
    ids = [document.id for document in documents]
    newest = DocumentVersion.objects.filter(document=OuterRef("pk")).order_by("-number")
    with transaction.atomic():
        waiting = Document.objects.filter(id__in=ids, current_version=None).update(
            current_version=Subquery(newest.values("id")[:1])
        )
        with connection.cursor() as cursor:
            cursor.execute(_READERS, {"tenant": current_tenant_id(), "documents": ids})
            readers = set(cursor.fetchall())
        if waiting:
            transaction.set_rollback(True)
    return readers, waiting


def _people(pairs: set[tuple[UUID, UUID]]) -> tuple[User, ...]:
    return tuple(User.objects.filter(id__in={person for person, _ in pairs}).order_by("email"))
