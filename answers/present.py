"""An answer as it travels: the answer object of the API contract."""

from urllib.parse import urlencode

from django.urls import reverse

from .gaps import name_gap
from .models import Outcome, Reason
from .selectors import REFUSAL, AnswerView, CitationView

MESSAGES = {
    Outcome.ABSTAINED: REFUSAL,
    Outcome.ACCESS_DENIED: (
        "This may be answered in a document you have no access to; "
        "ask your department's administrator."
    ),
    Outcome.CANCELLED: "You cancelled this question.",
    Outcome.INTERRUPTED: "The connection was lost before an answer was ready. Ask again.",
    Outcome.EXCERPTS: (
        "The answer could not be written just now. "
        "These are excerpts from documents available to you, not an answer."
    ),
}
UNAVAILABLE = {
    Reason.SEARCH: "The search is not available at the moment. Try again in a minute.",
    Reason.MODEL: "The model is not available at the moment. Try again in a minute.",
    Reason.AUTHORITY: "Access could not be checked just now, so nothing is shown. Try again.",
    Reason.BUDGET_EXCEEDED: (
        "The allowance for today does not cover this question. Ask again after midnight (UTC)."
    ),
    Reason.SOURCES_CHANGED: "The documents behind this answer have changed. Ask again.",
    Reason.NO_LONGER_KEPT: "The words of this answer are no longer kept. Ask again.",
    Reason.INTERNAL: "Something went wrong on our side. Try again in a minute.",
}


def message_for(view: AnswerView) -> str:
    """The sentence for a person; empty for a plain answer."""
    if view.outcome == Outcome.UNAVAILABLE:
        return UNAVAILABLE.get(view.reason, UNAVAILABLE[Reason.INTERNAL])
    message = MESSAGES.get(view.outcome, "")
    if view.outcome == Outcome.ABSTAINED:
        answer = view.answer
        gap = name_gap(answer.question, answer.signals.get("missing_words", []))
        message = " ".join(filter(None, [message, gap]))
    return message


def answer_object(view: AnswerView) -> dict[str, object]:
    """Keys in snake case; the renderer turns them to camel case."""
    answer = view.answer
    return {
        "answer_id": str(answer.id),
        "request_id": answer.request_id,
        "question": answer.question,
        "state": answer.state,
        "outcome": view.outcome or None,
        "reason": view.reason or None,
        "message": message_for(view),
        "claims": [
            {"text": claim.text, "citations": list(claim.citations)} for claim in view.claims
        ],
        "citations": [citation_object(view, citation) for citation in view.citations],
        "language": answer.language,
        "generated_by": answer.generator if view.is_released else None,
        "usage": {"tokens_in": answer.tokens_in, "tokens_out": answer.tokens_out},
    }


def citation_object(view: AnswerView, citation: CitationView) -> dict[str, object]:
    return {
        "n": citation.n,
        "document_id": str(citation.document_id),
        "title": citation.title,
        "version": citation.version,
        "chunk_id": str(citation.chunk_id),
        "page": citation.page,
        "page_label": citation.page_label,
        "recognised": citation.recognised,
        "section": citation.section,
        "start_offset": citation.start_offset,
        "end_offset": citation.end_offset,
        "quote": citation.quote,
        "language": citation.language,
        "effective_date": citation.effective_date and citation.effective_date.isoformat(),
        "withdrawn_date": citation.withdrawn_date and citation.withdrawn_date.isoformat(),
        "url": citation_url(view, citation),
    }


def citation_url(view: AnswerView, citation: CitationView) -> str:
    """The source viewer, on the right page, with the quote highlighted."""
    path = reverse("source", args=[citation.document_id, citation.version])
    where = {"page": citation.page, "answer": view.answer.id, "citation": citation.n}
    return f"{path}?{urlencode(where)}"
