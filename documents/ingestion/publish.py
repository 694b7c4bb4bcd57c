"""A version becomes searchable in one transaction, after validation (rule 6)."""

import hashlib
from collections.abc import Sequence

from django.db import connection, transaction
from django.utils import timezone
from pgvector import HalfVector

from documents.generations import announce_behind, lock_index_writer, serving_generation
from documents.models import (
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    DocumentVersion,
    IndexGeneration,
    VersionStatus,
)
from documents.retrieval.terms import IDENTIFIER, configuration
from documents.services import lock_documents
from tenants.scope import current_tenant_id

from .accept import put_in_force
from .extracted import ExtractedText
from .identifiers import identifier_terms
from .lease import Lease
from .normalise import search_form
from .passages import Passage

# How near a stored half-precision vector must be to the one that was computed.
_ROUNDING = 0.01

TERMS = """
WITH chunks AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(languages)s::text[], %(configurations)s::text[],
                         %(texts)s::text[]) AS c (id, language, configuration, text)
),
lexemes AS (
    SELECT c.id, c.language || ':' || left(t.lexeme, 100) AS term,
           sum(cardinality(t.positions)) AS tf
    FROM chunks c
    CROSS JOIN LATERAL unnest(to_tsvector(c.configuration::regconfig, unaccent(c.text))) t
    GROUP BY 1, 2
),
identifiers AS (
    SELECT id, term, 1 AS tf
    FROM unnest(%(identifier_ids)s::uuid[], %(identifier_terms)s::text[]) AS i (id, term)
),
terms AS (SELECT * FROM lexemes UNION ALL SELECT * FROM identifiers)
INSERT INTO documents_chunkterm (tenant_id, generation_id, chunk_id, version_id, term, tf, length)
SELECT %(tenant)s, %(generation)s, id, %(version)s, term, least(tf, 32767),
       sum(tf) OVER (PARTITION BY id)
FROM terms
"""


class GenerationRetired(Exception):
    """Another generation began to serve while this one was built for; build again."""


class ValidationFailed(Exception):
    """What was built does not hold; nothing of it was kept."""


def publish(
    *,
    version: DocumentVersion,
    generation: IndexGeneration,
    extracted: ExtractedText,
    built: Sequence[Passage],
    lease: Lease,
) -> None:
    """Write chunks, terms and vectors, prove them, and open them to search, all or nothing.

    Raises ValidationFailed, GenerationRetired, and LeaseLost when another worker took over.
    """
    _check_offsets(extracted, built)
    with transaction.atomic():
        # The writer's turn first: while waiting for it, the document must stay free for admissions.
        lock_index_writer(generation)
        lock_documents([version.document_id])
        if serving_generation().pk != generation.pk:
            raise GenerationRetired
        write_index(version=version, generation=generation, built=built)
        _check_index(version, generation, built)
        lease.update(
            status=VersionStatus.SEARCHABLE,
            chunk_count=len(built),
            searchable_at=timezone.now(),
            progress_done=len(built),
            progress_total=len(built),
            lease=None,
            lease_until=None,
        )
        put_in_force(version)
        announce_behind()


def write_index(
    *, version: DocumentVersion, generation: IndexGeneration, built: Sequence[Passage]
) -> None:
    """The rows of one version in one generation. Chunks another generation shares stay as they are."""
    Chunk.objects.bulk_create(
        [
            Chunk(
                id=passage.id,
                document_id=version.document_id,
                version=version,
                chunking=generation.chunking,
                ordinal=passage.span.ordinal,
                section=passage.span.section[:300],
                page=passage.span.page,
                start=passage.span.start,
                end=passage.span.end,
                text=passage.span.text,
                context=passage.span.context,
                sha256=passage.span.sha256,
                language=passage.language,
            )
            for passage in built
        ],
        ignore_conflicts=True,
    )
    _write_terms(version, generation, built)
    ChunkEmbedding.objects.bulk_create(
        [
            ChunkEmbedding(
                generation=generation,
                chunk_id=passage.id,
                document_id=version.document_id,
                version=version,
                vector=HalfVector(passage.vector),
            )
            for passage in built
        ]
    )


def _write_terms(
    version: DocumentVersion, generation: IndexGeneration, built: Sequence[Passage]
) -> None:
    codes = [
        (passage.id, IDENTIFIER + code[:100])
        for passage in built
        for code in sorted(identifier_terms(passage.span.embedded_text))
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            TERMS,
            {
                "tenant": current_tenant_id(),
                "generation": generation.id,
                "version": version.id,
                "ids": [passage.id for passage in built],
                "languages": [passage.language for passage in built],
                "configurations": [configuration(passage.language) for passage in built],
                "texts": [search_form(passage.span.embedded_text) for passage in built],
                "identifier_ids": [id_ for id_, _ in codes],
                "identifier_terms": [code for _, code in codes],
            },
        )


def _check_offsets(extracted: ExtractedText, built: Sequence[Passage]) -> None:
    if not built:
        raise ValidationFailed("The text gave no passage.")
    for passage in built:
        span = passage.span
        if extracted.text[span.start : span.end] != span.text:
            raise ValidationFailed(f"Passage {span.ordinal} is not where its offsets say.")
        if hashlib.sha256(span.text.encode()).hexdigest() != span.sha256:
            raise ValidationFailed(f"Passage {span.ordinal} does not match its checksum.")


def _check_index(
    version: DocumentVersion, generation: IndexGeneration, built: Sequence[Passage]
) -> None:
    """Counts agree, and one sample passage is found by its own term and its own vector."""
    mine = {"version": version, "generation": generation}
    stored = Chunk.objects.filter(version=version, chunking=generation.chunking).count()
    vectors = ChunkEmbedding.objects.filter(**mine).count()
    if not stored == vectors == len(built):
        raise ValidationFailed(
            f"{len(built)} passages were made, {stored} stored, {vectors} with a vector."
        )
    # The longest one: a passage of a few signs may well have no term.
    sample = max(built, key=lambda passage: len(passage.span.text))
    if not ChunkTerm.objects.filter(chunk_id=sample.id, generation=generation).exists():
        raise ValidationFailed(f"Passage {sample.span.ordinal} has no search term.")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT chunk_id, vector::halfvec({int(generation.dims)}) <=> %s::halfvec"  # noqa: S608
            " FROM documents_chunkembedding"
            " WHERE tenant_id = %s AND generation_id = %s AND version_id = %s ORDER BY 2 LIMIT 1",
            [
                HalfVector(sample.vector).to_text(),
                current_tenant_id(),
                generation.id,
                version.id,
            ],
        )
        _, distance = cursor.fetchone()
    if not distance < _ROUNDING:
        raise ValidationFailed(f"Passage {sample.span.ordinal} is not found by its own vector.")
