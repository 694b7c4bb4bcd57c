"""Release: one finished answer may leave, once, to one caller, with exactly this digest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.utils import timezone

from answers.canonical import digest_of
from answers.evidence import Evidence
from answers.grounding import GroundedAnswer
from answers.models import Answer, AnswerState, Citation, Claim, ContextPermit, ReleasePermit
from documents.ingestion.headings import section_at

from .errors import SourcesChanged
from .locks import decision, lock_shared

ELIGIBLE = """
SELECT r.document_id, r.version_id, d.access_revision, u.access_revision
FROM documents_readable(%(reader)s) r
JOIN documents_document d ON d.id = r.document_id
JOIN tenants_user u ON u.id = %(reader)s
WHERE r.document_id = ANY(%(documents)s)
"""


@dataclass(frozen=True, slots=True)
class Release:
    """The permit; its digest is the released answer's."""

    permit: ReleasePermit


def release(
    *,
    answer: Answer,
    context: ContextPermit,
    grounded: GroundedAnswer,
    evidence: Sequence[Evidence],
    finish: Mapping[str, object],
) -> Release | None:
    """Re-check everything the generator saw, keep the answer, and bind a permit to its digest.

    Everything that was admitted counts, also what is not cited: it may have coloured the words.
    `finish` holds the answer's closing fields, outcome among them. None when the attempt was
    ended meanwhile (cancelled, or recovered after a crash). Raises SourcesChanged and
    AuthorityUnavailable.
    """
    admitted = {UUID(d): UUID(v) for d, v in context.document_versions.items()}
    with decision():
        lock_shared(user_id=answer.user_id, document_ids=admitted)
        revisions = _check_still_eligible(answer.user_id, admitted)
        current = Answer.objects.select_for_update().get(pk=answer.pk)
        if current.state != AnswerState.RUNNING or current.cancel_requested:
            return None
        _keep(answer, grounded, evidence)
        digest = digest_of(answer_id=answer.id, outcome=str(finish["outcome"]))
        permit = ReleasePermit.objects.create(
            answer=answer,
            attempt=answer.attempt,
            digest=digest,
            caller=answer.user_id,
            document_versions=context.document_versions,
            access_revisions=revisions,
        )
        Answer.objects.filter(pk=answer.pk).update(
            state=AnswerState.FINISHED, digest=digest, finished_at=timezone.now(), **finish
        )
    return Release(permit=permit)


def consume(*, permit: ReleasePermit, caller: UUID) -> bool:
    """Hand the answer over. True once, for the caller it was made for; never again."""
    return bool(
        ReleasePermit.objects.filter(pk=permit.pk, caller=caller, consumed_at=None).update(
            consumed_at=timezone.now()
        )
    )


def _check_still_eligible(reader: UUID, admitted: Mapping[UUID, UUID]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(ELIGIBLE, {"reader": reader, "documents": list(admitted)})
        rows = cursor.fetchall()
    if {row[0]: row[1] for row in rows} != admitted:
        raise SourcesChanged
    revisions = {str(row[0]): row[2] for row in rows}
    revisions |= {str(reader): row[3] for row in rows}
    return revisions


def _keep(answer: Answer, grounded: GroundedAnswer, evidence: Sequence[Evidence]) -> None:
    """Store claims and citations; the same passage cited twice keeps one number."""
    sources = {chunk.number: chunk for chunk in evidence}
    numbers: dict[tuple, int] = {}
    for claim in grounded.claims:
        row = Claim.objects.create(answer=answer, ordinal=claim.ordinal, text=claim.text)
        for quote in claim.citations:
            source = sources[quote.source]
            key = (source.version_id, quote.start, quote.end)
            Citation.objects.create(
                claim=row,
                number=numbers.setdefault(key, len(numbers) + 1),
                document_id=source.document_id,
                version_id=source.version_id,
                chunk_id_cited=source.chunk_id,
                page=source.page,
                section=section_at(source.text, quote.start - source.start, outer=source.section)[
                    :300
                ],
                start=quote.start,
                end=quote.end,
                quote=quote.quote,
                language=source.language,
            )
