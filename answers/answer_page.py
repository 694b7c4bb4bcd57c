"""An answer as its page shows it. The page's script fills the same HTML from the API's answer."""

from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import get_language_info

from .models import Answer, AnswerState, Feedback, Outcome
from .present import citation_url, message_for
from .selectors import AnswerView, CitationView

REFUSALS = (Outcome.ABSTAINED, Outcome.ACCESS_DENIED)


@dataclass(frozen=True, slots=True)
class Source:
    """A citation with its place in the source viewer and the name of a foreign language."""

    citation: CitationView
    url: str
    foreign_language: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim with the sources it rests on."""

    text: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class AnswerPage:
    answer: Answer
    outcome: str
    message: str
    statements: tuple[Statement, ...]
    sources: tuple[Source, ...]
    feedback: Feedback | None

    @property
    def id(self) -> UUID:
        return self.answer.id

    @property
    def is_running(self) -> bool:
        return self.answer.state == AnswerState.RUNNING

    @property
    def is_quoted(self) -> bool:
        """The extractive generator writes nothing of its own, and the page says so."""
        quoted = self.answer.generator.startswith("extractive")
        return quoted and self.outcome == Outcome.ANSWERED

    @property
    def quotes_withdrawn(self) -> bool:
        return any(source.citation.withdrawn_date for source in self.sources)

    @property
    def is_refusal(self) -> bool:
        return self.outcome in REFUSALS

    @property
    def can_ask_again(self) -> bool:
        return not self.is_running and self.outcome not in (Outcome.ANSWERED, *REFUSALS)

    @property
    def takes_feedback(self) -> bool:
        return self.outcome in (Outcome.ANSWERED, Outcome.EXCERPTS, *REFUSALS)


def answer_page(view: AnswerView, *, feedback: Feedback | None) -> AnswerPage:
    sources = {
        cited.n: Source(
            citation=cited,
            url=citation_url(view, cited),
            foreign_language=foreign_language(cited.language, answer=view.answer.language),
        )
        for cited in view.citations
    }
    return AnswerPage(
        answer=view.answer,
        outcome=view.outcome,
        message=message_for(view),
        statements=tuple(
            Statement(claim.text, tuple(sources[n] for n in claim.citations))
            for claim in view.claims
        ),
        sources=tuple(sources.values()),
        feedback=feedback,
    )


def foreign_language(quoted: str, *, answer: str) -> str:
    """The English name of a quote's language if it is another than the answer's, else ''."""
    if not quoted or quoted == answer:
        return ""
    try:
        return get_language_info(quoted)["name"]
    except KeyError:
        return quoted
