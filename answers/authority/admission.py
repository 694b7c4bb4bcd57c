"""Admission: one processor call may receive exactly these passages, now."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from answers.evidence import Evidence
from answers.models import Answer, ContextPermit, PermitStep
from documents.models import Chunk
from tenants.scope import current_tenant_id

from .errors import AuthorityUnavailable, SourcesChanged
from .locks import decision, lock_shared

# Read after the locks, in a statement of its own: a revocation that committed first is seen here.
ELIGIBLE = """
SELECT c.id, c.document_id, c.version_id, v.number, d.title, d.reference, c.text, c.sha256,
       c.start, c."end", c.page, c.section, c.language, d.effective_date, d.withdrawn_date,
       d.life_cycle, d.access_revision, u.access_revision
FROM documents_readable(%(reader)s) r
JOIN documents_chunk c ON c.document_id = r.document_id AND c.version_id = r.version_id
JOIN documents_documentversion v ON v.id = c.version_id AND v.status = 'searchable'
JOIN documents_document d ON d.id = c.document_id
JOIN tenants_user u ON u.id = %(reader)s
WHERE c.tenant_id = %(tenant)s AND c.id = ANY(%(chunks)s)
"""


@dataclass(frozen=True, slots=True)
class Admission:
    """The permit and the evidence it covers, in the order asked for, numbered from 1."""

    permit: ContextPermit
    evidence: tuple[Evidence, ...]


def admit(
    *,
    answer: Answer,
    step: PermitStep,
    processor: str,
    chunk_ids: Sequence[UUID],
    cosines: Mapping[UUID, float],
    scores: Mapping[UUID, float] | None = None,
    all_or_nothing: bool = False,
) -> Admission:
    """Verify and hydrate the chunks, and record the permit, in one transaction.

    What is no longer eligible is counted, never named; with `all_or_nothing` it raises
    SourcesChanged. Raises AuthorityUnavailable when no decision could be made, or when a passage
    does not match its digest.
    """
    reader = answer.user_id
    with decision():
        lock_shared(user_id=reader, document_ids=_documents_of(chunk_ids))
        rows = _eligible(reader, chunk_ids)
        admitted = [chunk_id for chunk_id in chunk_ids if chunk_id in rows]
        rejected = len(chunk_ids) - len(admitted)
        if rejected and all_or_nothing:
            raise SourcesChanged
        evidence = tuple(
            _evidence(number, rows[chunk_id], cosines[chunk_id], (scores or {}).get(chunk_id, 0.0))
            for number, chunk_id in enumerate(admitted, start=1)
        )
        permit = ContextPermit.objects.create(
            answer=answer,
            attempt=answer.attempt,
            step=step,
            processor=processor,
            caller=reader,
            chunks=[str(chunk_id) for chunk_id in admitted],
            document_versions={str(e.document_id): str(e.version_id) for e in evidence},
            access_revisions=_revisions(reader, rows),
            rejected=rejected,
        )
    return Admission(permit=permit, evidence=evidence)


def _documents_of(chunk_ids: Sequence[UUID]) -> list[UUID]:
    """Only to know which locks to take; nothing is decided from this read."""
    return list(
        Chunk.objects.filter(id__in=chunk_ids).values_list("document_id", flat=True).distinct()
    )


def _eligible(reader: UUID, chunk_ids: Sequence[UUID]) -> dict[UUID, tuple]:
    with connection.cursor() as cursor:
        cursor.execute(
            ELIGIBLE,
            {"reader": reader, "tenant": current_tenant_id(), "chunks": list(chunk_ids)},
        )
        return {row[0]: row for row in cursor.fetchall()}


def _evidence(number: int, row: tuple, cosine: float, score: float) -> Evidence:
    text, digest = row[6], row[7]
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        raise AuthorityUnavailable(f"Chunk {row[0]} does not match its digest.")
    return Evidence(
        number=number,
        chunk_id=row[0],
        document_id=row[1],
        version_id=row[2],
        version_number=row[3],
        title=row[4],
        reference=row[5],
        text=text,
        start=row[8],
        end=row[9],
        page=row[10],
        section=row[11],
        language=row[12],
        effective_date=row[13],
        withdrawn_date=row[14],
        life_cycle=row[15],
        score=score,
        cosine=cosine,
    )


def _revisions(reader: UUID, rows: Mapping[UUID, tuple]) -> dict[str, int]:
    revisions = {str(row[1]): row[16] for row in rows.values()}
    for row in rows.values():
        revisions[str(reader)] = row[17]
    return revisions
