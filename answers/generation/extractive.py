"""The bundled generator. Its claims are sentences of the evidence, chosen by rules one can follow.

It scores each sentence by the question's terms that stand in it and near it, and answers only if
the terms that carry the question are covered. The numbers it decided by are in the draft's
explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from answers.evidence import Evidence
from answers.generation.asked import names_person, parts, wants_figure, wants_person
from answers.generation.base import Draft, DraftClaim, DraftQuote
from answers.generation.candidates import Candidate, Nearness, candidates, scored, unmarked
from answers.generation.quotable import Quotable
from answers.grounding.quotes import tidied
from answers.terms import QuestionTerms, question_terms
from documents.ingestion.identifiers import identifier_terms

NAME = "extractive-1"


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """All constants of the generator. Changing one makes another generator: change NAME too.

    ``least_coverage``: share of the question's weight that must stand somewhere in the best
    sentence's chunk or title. ``least_focus``: the score the best sentence needs. ``least_own``:
    share that must stand in the sentence itself, its table header or its heading.
    ``cross_language_*``: the weak path for a question whose words the evidence cannot share.
    """

    nearness: Nearness = field(default_factory=Nearness)
    least_coverage: float = 0.75
    least_focus: float = 0.6
    least_own: float = 0.3
    figure_bonus: float = 0.08
    person_bonus: float = 0.05
    archived_penalty: float = 0.05
    cosine_share: float = 0.1
    rank_share: float = 0.05
    second_claim: float = 0.9
    new_term_claim: float = 0.7
    same_words: float = 0.85
    max_claims: int = 4
    cross_language_cosine: float = 0.82
    cross_language_margin: float = 0.015
    cross_language_coverage: float = 0.5


@dataclass(frozen=True, slots=True)
class _Decision:
    chosen: tuple[Candidate, ...]
    why: str
    coverage: float = 0.0
    focus: float = 0.0
    own: float = 0.0


class ExtractiveGenerator:
    name = NAME
    processor = NAME

    def __init__(self, settings: ExtractiveSettings | None = None) -> None:
        self._settings = settings or ExtractiveSettings()

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        """A draft whose claims are sentences of ``evidence``; without claims when unsupported."""
        decision = self._decide(question, language, evidence)
        if not decision.chosen:
            decision = self._partly(question, language, evidence) or decision
        return Draft(
            claims=_claims(decision.chosen),
            generator=NAME,
            model=NAME,
            prompt_version="",
            tokens_in=0,
            tokens_out=0,
            explanation={
                "decision": decision.why,
                "coverage": round(decision.coverage, 3),
                "least_coverage": self._settings.least_coverage,
                "focus": round(decision.focus, 3),
                "least_focus": self._settings.least_focus,
                "own": round(decision.own, 3),
                "least_own": self._settings.least_own,
            },
        )

    def _partly(
        self, question: str, language: str, evidence: Sequence[Evidence]
    ) -> _Decision | None:
        """The parts of a question that can be answered, when the whole cannot."""
        pieces = parts(question)
        if len(pieces) == 1:
            return None
        decisions = [self._decide(piece, language, evidence) for piece in pieces]
        chosen: list[Candidate] = []
        for decision in decisions:
            chosen.extend(one for one in decision.chosen if not self._repeats(one, chosen))
        if not chosen:
            return None
        best = max(decisions, key=lambda decision: decision.focus)
        return _Decision(
            tuple(chosen[: self._settings.max_claims]),
            "a part of the question is answered",
            best.coverage,
            best.focus,
            best.own,
        )

    def _decide(self, question: str, language: str, evidence: Sequence[Evidence]) -> _Decision:
        settings = self._settings
        terms = question_terms(question, language)
        usable = _naming(terms, evidence)
        if terms.identifiers and not usable:
            return _Decision((), "no evidence has the identifier that the question names")
        if not terms.wanted:
            return _Decision((), "the question has no words to look for")
        ranked = self._ranked(question, terms, usable)
        if not ranked:
            return _Decision((), "there is no sentence that can be quoted")
        best = ranked[0]
        coverage = terms.share(best.anywhere)
        own = terms.share(best.own)
        seen = {"coverage": coverage, "focus": best.score, "own": own}
        if coverage < settings.least_coverage:
            return _Decision((), "the evidence does not cover the question's terms", **seen)
        if best.score < settings.least_focus or own < settings.least_own:
            return _Decision((), "no sentence is close enough to the question", **seen)
        return _Decision(self._chosen(ranked, terms), "answered", **seen)

    def _ranked(
        self, question: str, terms: QuestionTerms, evidence: Sequence[Evidence]
    ) -> list[Candidate]:
        settings = self._settings
        figure, person = wants_figure(question), wants_person(question, terms.language)
        cosines = [chunk.cosine for chunk in evidence]
        lowest, highest = min(cosines, default=0.0), max(cosines, default=0.0)
        found = []
        for one in candidates(terms, evidence, settings.nearness):
            score = terms.share(one.around)
            if figure:
                score += settings.figure_bonus if one.has_figure else -settings.figure_bonus
            if person and names_person(one.sentence.text):
                score += settings.person_bonus
            if highest > lowest:
                relative = (one.evidence.cosine - lowest) / (highest - lowest)
                score += settings.cosine_share * (relative - 0.5)
            score -= settings.rank_share * (one.evidence.number - 1) / max(1, len(evidence))
            if one.evidence.withdrawn_date is not None:
                score -= settings.archived_penalty
            found.append(scored(one, score))
        return sorted(found, key=lambda one: (-one.score, one.evidence.number, one.place))

    def _chosen(self, ranked: Sequence[Candidate], terms: QuestionTerms) -> tuple[Candidate, ...]:
        settings = self._settings
        chosen = [ranked[0]]
        for one in ranked[1:]:
            if len(chosen) == settings.max_claims:
                break
            if self._repeats(one, chosen):
                continue
            missing = [t for t in terms.wanted if all(c.own[t] < 0.5 for c in chosen)]
            adds = sum(terms.weight(t) for t in missing if one.own[t] >= 0.5)
            least = settings.new_term_claim if adds >= 1 else settings.second_claim
            if one.score >= least * ranked[0].score and one.score >= settings.least_focus:
                chosen.append(one)
        return tuple(chosen)

    def _repeats(self, one: Candidate, chosen: Sequence[Candidate]) -> bool:
        return any(
            one.sentence.text in _full_text(other)
            or _alike(one.words, other.words) >= self._settings.same_words
            for other in chosen
        )


def _naming(terms: QuestionTerms, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence that has an identifier of the question, exactly; all, if it names none."""
    if not terms.identifiers:
        return list(evidence)
    return [
        chunk
        for chunk in evidence
        if terms.identifiers & identifier_terms(f"{chunk.reference}\n{chunk.title}\n{chunk.text}")
    ]


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _claims(chosen: Sequence[Candidate]) -> tuple[DraftClaim, ...]:
    """Best document first, and within a document in its own order."""
    order: dict[object, int] = {}
    for one in sorted(chosen, key=lambda one: -one.score):
        order.setdefault(one.evidence.document_id, len(order))
    in_order = sorted(
        chosen,
        key=lambda one: (
            order[one.evidence.document_id],
            one.evidence.start + one.sentence.start,
        ),
    )
    return tuple(_claim(one) for one in in_order)


def _claim(one: Candidate) -> DraftClaim:
    if one.is_row and one.header:
        quotes = (_quote(one.header), _quote(one.sentence))
        return DraftClaim(f"{one.header.text} — {one.sentence.text}", quotes)
    span = _span(one)
    quote = one.evidence.text[span[0] : span[1]]
    text = unmarked(tidied(quote))
    return DraftClaim(text, (DraftQuote(one.sentence.source, quote),))


def _span(one: Candidate) -> tuple[int, int]:
    """From the sentence it leans on to the exception that follows it."""
    start = one.lead.start if one.lead else one.sentence.start
    end = one.exception.end if one.exception else one.sentence.end
    return start, end


def _full_text(one: Candidate) -> str:
    start, end = _span(one)
    return tidied(one.evidence.text[start:end])


def _quote(sentence: Quotable) -> DraftQuote:
    return DraftQuote(sentence.source, sentence.quote)
