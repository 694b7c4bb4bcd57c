"""Many people, documents and answers at once, without files and vectors: enough for the authority.

Everything is made in the current tenant scope. Documents are searchable and have one passage per
version; nobody may read them until a grant says so.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from itertools import islice

from django.db import models, transaction
from django.utils import timezone

from answers.models import Answer
from documents.models import Chunk, Document, DocumentVersion, Grant, LifeCycle, VersionStatus
from tenants import services as people
from tenants.models import Group, GroupMembership, User

# Each row takes an advisory lock until the commit, and the server's lock table is bounded.
BATCH = 500
WORDS = (
    "The allowance of rule {} in version {} is 25 days. " + "It is counted in working days. " * 40
)


def make_people(count: int) -> list[User]:
    """Accounts without a password, members of 'everyone' and of nothing else."""
    salt = uuid.uuid4().hex[:8]
    return _insert(User(email=f"p{n}-{salt}@bank.example", password="!") for n in range(count))


def make_groups(members: Sequence[Sequence[User]]) -> list[Group]:
    """One group for each list of members."""
    groups = _insert(Group(name=f"group-{uuid.uuid4().hex[:12]}") for _ in members)
    pairs = zip(groups, members, strict=True)
    _insert(GroupMembership(group=group, user=user) for group, users in pairs for user in users)
    return groups


def make_documents(count: int, *, versions: int = 1) -> list[Document]:
    """Searchable documents, the first version in force. See `chunks_of` for their passages."""
    department = people.get_or_create_department(name="Generated")
    documents = [
        Document(title=f"Rule {n}", department=department, life_cycle=LifeCycle.VETTED)
        for n in range(count)
    ]
    made = [
        _version(document, number) for document in documents for number in range(1, versions + 1)
    ]
    first = {version.document_id: version for version in made if version.number == 1}
    for document in documents:
        document.current_version_id = first[document.id].id  # its key is checked at commit
    for batch in _batches(documents):
        own = {document.id for document in batch}
        with transaction.atomic():
            Document.objects.bulk_create(batch)
            kept = [version for version in made if version.document_id in own]
            DocumentVersion.objects.bulk_create(kept)
            Chunk.objects.bulk_create([_chunk(version) for version in kept])
    return documents


def versions_of(documents: Sequence[Document]) -> dict[uuid.UUID, list[uuid.UUID]]:
    """{document id: ids of its versions, by number}."""
    found: dict[uuid.UUID, list[uuid.UUID]] = {document.id: [] for document in documents}
    rows = DocumentVersion.objects.order_by("number").values_list("document_id", "id")
    for document_id, version_id in rows:
        if document_id in found:
            found[document_id].append(version_id)
    return found


def chunk_of(version_id: uuid.UUID) -> uuid.UUID:
    """The one passage of a generated version."""
    return uuid.uuid5(version_id, "passage")


def make_grants(pairs: Sequence[tuple[Document, User | Group]]) -> list[Grant]:
    return _insert(
        Grant(document=document, **{"group" if isinstance(to, Group) else "user": to})
        for document, to in pairs
    )


def make_answers(askers: Sequence[User]) -> list[Answer]:
    """One attempt that runs for each asker."""
    return _insert(
        Answer(
            user=user,
            request_id=uuid.uuid4().hex,
            payload_digest="0" * 64,
            question="How many days?",
            language="en",
        )
        for user in askers
    )


def _version(document: Document, number: int) -> DocumentVersion:
    now = timezone.now()
    return DocumentVersion(
        document=document,
        number=number,
        object_key="generated",
        sha256=hashlib.sha256(f"{document.id}:{number}".encode()).hexdigest(),
        media_type="application/pdf",
        size=1,
        status=VersionStatus.SEARCHABLE,
        text_sha256="0" * 64,
        chunk_count=1,
        accepted_at=now,
        searchable_at=now,
    )


def _chunk(version: DocumentVersion) -> Chunk:
    text = WORDS.format(version.document_id, version.number)
    return Chunk(
        id=chunk_of(version.id),
        document_id=version.document_id,
        version=version,
        chunking="generated",
        ordinal=0,
        page=1,
        start=0,
        end=len(text),
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        language="en",
    )


def _insert(rows: Iterator[models.Model]) -> list:
    made = []
    for batch in _batches(rows):
        made += type(batch[0]).objects.bulk_create(batch)
    return made


def _batches(rows) -> Iterator[list]:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        yield batch
