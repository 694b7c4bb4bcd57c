"""A searchable document from texts and vectors that are given: no file, and nothing is embedded."""

import hashlib
import uuid
from collections.abc import Sequence

import numpy as np
from django.db import connection

from documents.models import (
    Chunk,
    ChunkEmbedding,
    Document,
    DocumentVersion,
    IndexGeneration,
    LifeCycle,
    VersionStatus,
)
from tenants.services import get_or_create_department


def write_document(
    *,
    generation: IndexGeneration,
    title: str,
    department: str,
    texts: Sequence[str],
    vectors: Sequence[np.ndarray],
    term_length: int,
) -> Document:
    """One English passage per text, in the current tenant; nobody may read it until a grant says so.

    `term_length` is the length that BM25 is told for every passage.
    """
    document = Document.objects.create(
        title=title,
        department=get_or_create_department(name=department),
        life_cycle=LifeCycle.VETTED,
    )
    version = DocumentVersion.objects.create(
        document=document, number=1, object_key="k", sha256="s", media_type="x", size=1
    )
    Document.objects.filter(pk=document.pk).update(current_version=version)
    chunks = Chunk.objects.bulk_create(
        Chunk(
            id=uuid.uuid4(),
            document=document,
            version=version,
            chunking=generation.chunking,
            ordinal=ordinal,
            page=1,
            start=ordinal,
            end=ordinal + 1,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            language="en",
        )
        for ordinal, text in enumerate(texts)
    )
    ChunkEmbedding.objects.bulk_create(
        ChunkEmbedding(
            generation=generation, chunk=chunk, document=document, version=version, vector=vector
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO documents_chunkterm"
            " (tenant_id, generation_id, chunk_id, version_id, term, tf, length)"
            " SELECT c.tenant_id, %s, c.id, c.version_id, 'en:' || t.lexeme, 1, %s"
            " FROM documents_chunk c, unnest(to_tsvector('english', c.text)) t"
            " WHERE c.document_id = %s",
            [generation.id, term_length, document.id],
        )
    DocumentVersion.objects.filter(pk=version.pk).update(
        status=VersionStatus.SEARCHABLE,
        chunk_count=len(texts),
        text_sha256="t",
        searchable_at="2024-01-01T00:00Z",
    )
    return document
