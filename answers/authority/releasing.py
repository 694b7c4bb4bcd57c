"""Release: one finished answer may leave, once, to one caller, with exactly this digest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from answers.canonical import digest_of
from answers.evidence import Evidence
from answers.grounding import GroundedAnswer, GroundedQuote
from answers.models import (
    Answer,
    AnswerState,
    Citation,
    Claim,
    ContextPermit,
    PermitStep,
    ReleasePermit,
)
from answers.services import record_attempt
from documents.ingestion.headings import section_at
from documents.ingestion.templates import section_name

from .counting import count_out_sources
from .errors import PermitRefused, SourcesChanged
from .locks import decide, lock_then_read

ELIGIBLE = "SELECT * FROM answers_releasable(%(reader)s, %(documents)s)"


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
    `finish` holds the answer's closing fields, outcome among them. Words, permit and audit record
    commit together. None when the attempt was ended meanwhile (cancelled, released already, or
    recovered after a crash). Raises SourcesChanged, AuthorityUnavailable, and PermitRefused for a
    context permit of another answer, attempt, caller or step.
    """

    def decision(left: float) -> Release | None:
        shown = ContextPermit.objects.get(pk=context.pk)  # never changes, so read before the locks
        admitted = {UUID(d): UUID(v) for d, v in shown.document_versions.items()}
        rows = lock_then_read(ELIGIBLE, left=left, reader=shown.caller, documents=admitted)
        if {row[0]: row[1] for row in rows} != admitted:
            raise SourcesChanged(count_out_sources(reader=shown.caller, versions=admitted))
        current = Answer.objects.select_for_update().get(pk=answer.pk)
        _check_permit(shown, current, evidence)
        if current.state != AnswerState.RUNNING or current.cancel_requested:
            return None
        _keep(current, grounded, evidence)
        digest = digest_of(answer_id=current.id, outcome=str(finish["outcome"]))
        permit = ReleasePermit.objects.create(
            answer=current,
            attempt=current.attempt,
            digest=digest,
            caller=current.user_id,
            document_versions=shown.document_versions,
            access_revisions=_revisions(shown.caller, rows),
        )
        Answer.objects.filter(pk=current.pk).update(
            state=AnswerState.FINISHED, digest=digest, finished_at=timezone.now(), **finish
        )
        record_attempt(answer=current)
        return Release(permit=permit)

    return decide(decision)


def consume(*, permit: ReleasePermit, caller: UUID) -> bool:
    """Hand the answer over. True once, for the caller it was made for; never again."""
    return bool(
        ReleasePermit.objects.filter(pk=permit.pk, caller=caller, consumed_at=None).update(
            consumed_at=timezone.now()
        )
    )


def _revisions(reader: UUID, rows: Sequence[tuple]) -> dict[str, int]:
    return {str(row[0]): row[2] for row in rows} | {str(reader): row[3] for row in rows}


def _check_permit(shown: ContextPermit, current: Answer, evidence: Sequence[Evidence]) -> None:
    made_for = (shown.answer_id, shown.attempt, shown.caller, shown.step)
    if made_for != (current.pk, current.attempt, current.user_id, PermitStep.GENERATE):
        raise PermitRefused(f"Context permit {shown.id} was not made for answer {current.pk}.")
    used = {str(chunk.chunk_id) for chunk in evidence}
    if not used or not used <= set(shown.chunks):
        raise PermitRefused(f"Context permit {shown.id} does not cover the evidence.")


def _keep(answer: Answer, grounded: GroundedAnswer, evidence: Sequence[Evidence]) -> None:
    """Store claims and citations; the same passage cited twice keeps one number."""
    sources = {chunk.number: chunk for chunk in evidence}
    claims = Claim.objects.bulk_create(
        Claim(answer=answer, ordinal=claim.ordinal, text=claim.text) for claim in grounded.claims
    )
    numbers: dict[tuple, int] = {}
    citations = []
    for row, claim in zip(claims, grounded.claims, strict=True):
        for quote in claim.citations:
            source = sources[quote.source]
            key = (source.version_id, quote.start, quote.end)
            number = numbers.setdefault(key, len(numbers) + 1)
            citations.append(_citation(row, number, source, quote))
    Citation.objects.bulk_create(citations)


def _citation(claim: Claim, number: int, source: Evidence, quote: GroundedQuote) -> Citation:
    section = section_at(source.text, quote.start - source.start, outer=source.section)
    return Citation(
        claim=claim,
        number=number,
        document_id=source.document_id,
        version_id=source.version_id,
        chunk_id_cited=source.chunk_id,
        page=source.page,
        section=section_name(section)[:300],
        start=quote.start,
        end=quote.end,
        quote=quote.quote,
        language=source.language,
    )
