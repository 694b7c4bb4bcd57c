"""Every read of documents. What a person may see is decided in documents.access."""

import hashlib
from uuid import UUID

from django.db.models import Q, QuerySet

from tenants.models import User

from . import storage
from .access import get_readable_version, readable_documents
from .models import Document, DocumentVersion, Grant


def list_readable_documents(*, user: User, matching: str = "") -> QuerySet[Document]:
    """What this person may read, by title; only titles and references with every word given."""
    found = readable_documents(user=user)
    for word in matching.split():
        found = found.filter(Q(title__icontains=word) | Q(reference__icontains=word))
    return found.order_by("title", "id")


def readable_version_text(*, user: User, document_id: UUID, number: int) -> str:
    """The extracted text, into which citation offsets count. Raises NotFound, ObjectMissing."""
    return version_text(get_readable_version(user=user, document_id=document_id, number=number))


def readable_version_file(
    *, user: User, document_id: UUID, number: int
) -> tuple[DocumentVersion, bytes]:
    """The bytes as they were uploaded. Raises NotFound, ObjectMissing."""
    version = get_readable_version(user=user, document_id=document_id, number=number)
    return version, storage.get(version.object_key)


def version_text(version: DocumentVersion) -> str:
    """A version's text, verified. For ingestion and grounding; readers come through the above."""
    data = storage.get(version.text_key)
    if hashlib.sha256(data).hexdigest() != version.text_sha256:
        raise storage.ObjectMissing(
            f"The text of version {version.id} does not match its checksum."
        )
    return data.decode()


def grants_of(document: Document) -> QuerySet[Grant]:
    return document.grants.select_related("user", "group").order_by("group__name", "user__email")


def document_with_bytes(data: bytes) -> DocumentVersion | None:
    """The latest version of a document in this tenant that holds exactly these bytes."""
    digest = hashlib.sha256(data).hexdigest()
    return (
        DocumentVersion.objects.filter(sha256=digest, document__deleted_at=None)
        .select_related("document")
        .order_by("-created_at")
        .first()
    )
