"""Reading answers again: a fresh authorisation of everything they cite."""

from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from documents.access import readable_documents
from documents.models import DocumentVersion
from tenants.models import User
from tenants.selectors import NotFound

from .canonical import digest_of
from .models import (
    Answer,
    AnswerState,
    Feedback,
    Outcome,
    Purpose,
    Reason,
    ReviewItem,
    ReviewKind,
)

REFUSAL = "I could not find enough evidence in the documents available to you."


@dataclass(frozen=True, slots=True)
class CitationView:
    n: int
    document_id: UUID
    title: str
    version: int
    chunk_id: UUID
    page: int
    page_label: str
    recognised: bool
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
    return Answer.objects.filter(user=user, purpose=Purpose.LIVE).order_by("-created_at", "id")


def get_own_answer(*, user: User, answer_id: UUID) -> Answer:
    """Raises NotFound for somebody else's answer as for none."""
    answer = own_answers(user=user).filter(pk=answer_id).first()
    if answer is None:
        raise NotFound("There is nothing here.")
    return answer


def get_own_answer_by_request(*, user: User, request_id: str) -> Answer:
    """The attempt a request id opened. Raises NotFound."""
    answer = own_answers(user=user).filter(request_id=request_id.replace("\x00", "")).first()
    if answer is None:
        raise NotFound("There is nothing here.")
    return answer


def feedback_on(answer: Answer) -> Feedback | None:
    """What its asker said of an answer."""
    return Feedback.objects.filter(answer=answer).first()


def present_answer(*, user: User, answer: Answer) -> AnswerView:
    """The answer if every source it cites may still be cited to this person; else not a word of it."""
    if answer.user_id != user.id:
        raise NotFound("There is nothing here.")
    answer = Answer.objects.get(pk=answer.pk)
    if answer.state != AnswerState.FINISHED or not answer.digest:
        return AnswerView(answer, answer.outcome, answer.reason, (), ())
    if answer.purged_at is not None:
        return AnswerView(answer, Outcome.UNAVAILABLE, Reason.NO_LONGER_KEPT, (), ())
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


def own_citation(
    *, user: User, version: DocumentVersion, answer_id: str, number: str
) -> CitationView | None:
    """An own, still authorised citation of this version, named by a URL; None for anything else."""
    try:
        answer = get_own_answer(user=user, answer_id=UUID(answer_id))
        wanted = int(number)
    except (ValueError, NotFound):
        return None
    for cited in present_answer(user=user, answer=answer).citations:
        same_version = (cited.document_id, cited.version) == (version.document_id, version.number)
        if cited.n == wanted and same_version:
            return cited
    return None


def _citation(row) -> CitationView:
    return CitationView(
        n=row.number,
        document_id=row.document_id,
        title=row.document.title,
        version=row.version.number,
        chunk_id=row.chunk_id_cited,
        page=row.page,
        page_label=row.version.printed_label(row.page),
        recognised=row.page in row.version.recognised_pages,
        section=row.section,
        start_offset=row.start,
        end_offset=row.end,
        quote=row.quote,
        language=row.language,
        effective_date=row.document.effective_date,
        withdrawn_date=row.document.withdrawn_date,
    )


@dataclass(frozen=True, slots=True)
class ReviewedQuote:
    """`quote` is None where the reviewer may not read that version of the document."""

    document: str
    quote: str | None
    number: int = 0
    url: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedClaim:
    """`text` is None where it may hold words the reviewer may not read."""

    text: str | None
    quotes: tuple[ReviewedQuote, ...]


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A review item as one reviewer may see it now."""

    reason: str
    claims: tuple[ReviewedClaim, ...]
    is_whole: bool


def review_items() -> QuerySet[ReviewItem]:
    """What waits for reviewers; evaluation runs look after themselves."""
    return ReviewItem.objects.filter(answer__purpose=Purpose.LIVE)


def present_review(*, reviewer: User, item: ReviewItem) -> ReviewView:
    """The blocked draft, or the released answer, without what this reviewer may not read.

    A draft failed its checks, so its sentences may hold words of anything its model was given: they
    are shown only when all of that is readable.
    """
    if item.answer.purged_at is not None:
        return ReviewView("The words of this answer are no longer kept.", (), is_whole=True)
    if item.kind != ReviewKind.BLOCKED_DRAFT:
        return replace(present_released(reviewer=reviewer, answer=item.answer), reason=item.reason)
    permits = item.answer.permits.all()
    given = {pair for permit in permits for pair in permit.document_versions.items()}
    quoted = {quote["document"] for claim in item.draft for quote in claim["quotes"]}
    titles, former = _readable_titles(reviewer, given)
    is_whole = {document for document, _ in given} | quoted <= set(titles)
    claims = tuple(
        ReviewedClaim(
            text=claim["text"] if is_whole else None,
            quotes=tuple(
                _reviewed(titles, former, q["document"], q["quote"]) for q in claim["quotes"]
            ),
        )
        for claim in item.draft
    )
    return ReviewView(item.reason if is_whole else rule_of(item), claims, is_whole)


def rule_of(item: ReviewItem) -> str:
    """Why it was blocked, without the words of the claim that follow the rule's name."""
    return ": ".join(item.reason.split(": ")[:2])


def present_released(*, reviewer: User, answer: Answer) -> ReviewView:
    """A released answer, whosever it is, without what this reviewer may not read."""
    claims = list(answer.claims.prefetch_related("citations__version"))
    cited = [citation for claim in claims for citation in claim.citations.all()]
    readable = readable_documents(user=reviewer).filter(id__in=[c.document_id for c in cited])
    in_force = {document.id: document.current_version_id for document in readable}
    titles = {str(document.id): document.title for document in readable}
    former = {}
    for citation in cited:
        document = str(citation.document_id)
        if in_force.get(citation.document_id) != citation.version_id and document in titles:
            former[document] = titles.pop(document)
    shown = []
    for claim in claims:
        quotes = tuple(_cited(titles, former, c) for c in claim.citations.all())
        is_readable = all(quote.quote is not None for quote in quotes)
        shown.append(ReviewedClaim(text=claim.text if is_readable else None, quotes=quotes))
    is_whole = all(claim.text is not None for claim in shown)
    return ReviewView("", tuple(shown), is_whole)


_Titles = dict[str, str]


def _readable_titles(user: User, given: set[tuple[str, str]]) -> tuple[_Titles, _Titles]:
    """Of those given in their version in force, and of those given in another; by document."""
    found = readable_documents(user=user).filter(id__in={document for document, _ in given})
    in_force = {str(document.id): document for document in found}
    former = {
        document
        for document, version in given
        if document in in_force and str(in_force[document].current_version_id) != version
    }
    titles = {key: document.title for key, document in in_force.items()}
    return titles, {key: titles.pop(key) for key in former}


def _reviewed(titles: _Titles, former: _Titles, document: str | None, quote: str) -> ReviewedQuote:
    if document in former:
        return ReviewedQuote(f"{former[document]}, in a version that is not in force", quote=None)
    if document not in titles:
        return ReviewedQuote(document="A document you may not read", quote=None)
    return ReviewedQuote(document=titles[document], quote=quote)


def _cited(titles: _Titles, former: _Titles, citation) -> ReviewedQuote:
    shown = _reviewed(titles, former, str(citation.document_id), citation.quote)
    if shown.quote is None:
        return replace(shown, number=citation.number)
    source = reverse("source", args=[citation.document_id, citation.version.number])
    return replace(
        shown,
        document=f"{shown.document}, version {citation.version.number}, page {citation.page}",
        number=citation.number,
        url=f"{source}?page={citation.page}",
    )
