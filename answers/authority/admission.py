"""Admission: one processor call may receive exactly these passages, now."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from answers.evidence import Evidence
from answers.models import Answer, ContextPermit, PermitStep

from .counting import count_out_passages
from .errors import AuthorityUnavailable, SourcesChanged
from .locks import decide, lock_then_read

ELIGIBLE = "SELECT * FROM answers_admissible(%(reader)s, %(chunks)s)"


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

    def decision(left: float) -> Admission:
        read = lock_then_read(ELIGIBLE, left=left, reader=reader, chunks=chunk_ids)
        rows = {row[0]: row for row in read}
        admitted = [chunk_id for chunk_id in chunk_ids if chunk_id in rows]
        rejected = [chunk_id for chunk_id in chunk_ids if chunk_id not in rows]
        counted_out = count_out_passages(reader=reader, chunk_ids=rejected)
        if rejected and all_or_nothing:
            raise SourcesChanged(counted_out)
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
            rejected=len(rejected),
            counted_out=counted_out,
        )
        return Admission(permit=permit, evidence=evidence)

    return decide(decision)


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
        context=row[18],
    )


def _revisions(reader: UUID, rows: Mapping[UUID, tuple]) -> dict[str, int]:
    revisions = {str(row[1]): row[16] for row in rows.values()}
    for row in rows.values():
        revisions[str(reader)] = row[17]
    return revisions
