"""Reading answers again: a fresh authorisation of everything they cite."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db.models import QuerySet

from documents.access import readable_documents
from tenants.models import User
from tenants.selectors import NotFound

from .canonical import digest_of
from .models import Answer, AnswerState, Outcome, Reason

REFUSAL = "I could not find enough evidence in the documents available to you."


@dataclass(frozen=True, slots=True)
class CitationView:
    n: int
    document_id: UUID
    title: str
    version: int
    chunk_id: UUID
    page: int
    section: str
    start_offset: int
    end_offset: int
    quote: str
    language: str
    effective_date: date | None
    withdrawn_date: date | None


@dataclass(frozen=True, slots=True)
class ClaimView:
    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer as its asker may see it now."""

    answer: Answer
    outcome: str
    reason: str
    claims: tuple[ClaimView, ...]
    citations: tuple[CitationView, ...]

    @property
    def is_released(self) -> bool:
        return bool(self.claims)


def own_answers(*, user: User) -> QuerySet[Answer]:
    """The person's own questions, newest first."""
    return Answer.objects.filter(user=user).order_by("-created_at", "id")


def get_own_answer(*, user: User, answer_id: UUID) -> Answer:
    """Raises NotFound for somebody else's answer as for none."""
    answer = own_answers(user=user).filter(pk=answer_id).first()
    if answer is None:
        raise NotFound("There is nothing here.")
    return answer


def present_answer(*, user: User, answer: Answer) -> AnswerView:
    """The answer if every source it cites may still be cited to this person; else not a word of it."""
    if answer.user_id != user.id:
        raise NotFound("There is nothing here.")
    answer = Answer.objects.get(pk=answer.pk)
    if answer.state != AnswerState.FINISHED or not answer.digest:
        return AnswerView(answer, answer.outcome, answer.reason, (), ())
    claims = list(answer.claims.prefetch_related("citations__document", "citations__version"))
    cited = {(c.document_id, c.version_id) for claim in claims for c in claim.citations.all()}
    readable = set(
        readable_documents(user=user)
        .filter(id__in=[document for document, _ in cited])
        .values_list("id", "current_version_id")
    )
    if not cited <= readable:
        return AnswerView(answer, Outcome.UNAVAILABLE, Reason.SOURCES_CHANGED, (), ())
    if digest_of(answer_id=answer.id, outcome=answer.outcome) != answer.digest:
        return AnswerView(answer, Outcome.UNAVAILABLE, Reason.AUTHORITY, (), ())
    citations = {c.number: _citation(c) for claim in claims for c in claim.citations.all()}
    return AnswerView(
        answer=answer,
        outcome=answer.outcome,
        reason=answer.reason,
        claims=tuple(
            ClaimView(claim.text, tuple(sorted({c.number for c in claim.citations.all()})))
            for claim in claims
        ),
        citations=tuple(citations[number] for number in sorted(citations)),
    )


def _citation(row) -> CitationView:
    return CitationView(
        n=row.number,
        document_id=row.document_id,
        title=row.document.title,
        version=row.version.number,
        chunk_id=row.chunk_id_cited,
        page=row.page,
        section=row.section,
        start_offset=row.start,
        end_offset=row.end,
        quote=row.quote,
        language=row.language,
        effective_date=row.document.effective_date,
        withdrawn_date=row.document.withdrawn_date,
    )
