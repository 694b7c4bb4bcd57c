"""The one gate between a draft and an answer. Everything passes, or nothing does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from answers.evidence import Evidence
from answers.generation.base import Draft, DraftClaim, DraftQuote
from answers.grounding.facts import Quoted, discrepancy
from answers.grounding.form import foreign_form, unsupported
from answers.grounding.quotes import Span, covers_enough, occurrences, tidied
from documents.ingestion.exceptions import MARK, takes_back
from documents.ingestion.sentences import sentences

# A row of a table or a heading is followed by the next one, not limited by it.
_ENDED = re.compile(r"[.!?;:][\"'”’»)\]]*$")


class GroundingRule(StrEnum):
    EMPTY_CLAIM = "empty_claim"
    NO_QUOTE = "no_quote"
    UNKNOWN_SOURCE = "unknown_source"
    QUOTE_NOT_FOUND = "quote_not_found"
    QUOTE_TOO_SHORT = "quote_too_short"
    CHARACTERS = "characters"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    NEGATION = "negation"
    CONDITION = "condition"
    FORM = "form"
    SUPPORT = "support"
    ENTAILMENT = "entailment"


class GroundingFailed(Exception):
    """One claim failed, so there is no answer. ``ordinal`` counts claims from 1.

    ``reason`` is one line for an operator; it holds words of the claim at most.
    """

    def __init__(self, *, ordinal: int, rule: GroundingRule, reason: str) -> None:
        super().__init__(f"claim {ordinal}: {rule.value}: {reason}")
        self.ordinal = ordinal
        self.rule = rule
        self.reason = reason


@dataclass(frozen=True, slots=True)
class GroundedQuote:
    """Stored words: ``start`` and ``end`` are offsets in the version's extracted text."""

    source: int
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    ordinal: int
    text: str
    citations: tuple[GroundedQuote, ...]


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    claims: tuple[GroundedClaim, ...]


def check(
    *, draft: Draft, evidence: Sequence[Evidence], language: str | None = None
) -> GroundedAnswer:
    """The draft with every quote replaced by the stored words it names.

    ``language`` is the answer's; without it a claim is read in its source's language. Raises
    GroundingFailed for the first claim that its evidence does not bear out. A draft without
    claims is an answer without claims.
    """
    by_number = {chunk.number: chunk for chunk in evidence}
    if len(by_number) != len(evidence):
        raise ValueError("two pieces of evidence have the same number")
    said = _spans_quoted(draft, by_number)
    return GroundedAnswer(
        tuple(
            _grounded(claim, ordinal=ordinal, by_number=by_number, said=said, language=language)
            for ordinal, claim in enumerate(draft.claims, 1)
        )
    )


def check_each(
    *, draft: Draft, evidence: Sequence[Evidence], language: str | None = None
) -> tuple[GroundedAnswer, tuple[GroundingFailed, ...]]:
    """What is left of the draft without the claims that fail, and why each of those does.

    Whenever one goes, the others are checked again: they may have left to it what limits them.
    ``ordinal`` of a failure counts in the draft as it was then.
    """
    failures: list[GroundingFailed] = []
    while True:
        try:
            return check(draft=draft, evidence=evidence, language=language), tuple(failures)
        except GroundingFailed as failure:
            failures.append(failure)
            at = failure.ordinal - 1
            draft = replace(draft, claims=(*draft.claims[:at], *draft.claims[at + 1 :]))


def _grounded(
    claim: DraftClaim,
    *,
    ordinal: int,
    by_number: Mapping[int, Evidence],
    said: Mapping[int, Sequence[Span]],
    language: str | None,
) -> GroundedClaim:
    def fail(rule: GroundingRule, reason: str) -> GroundingFailed:
        return GroundingFailed(ordinal=ordinal, rule=rule, reason=reason)

    text = tidied(claim.text)
    if not any(char.isalnum() for char in text):
        raise fail(GroundingRule.EMPTY_CLAIM, "the claim says nothing")
    if not claim.quotes:
        raise fail(GroundingRule.NO_QUOTE, "the claim quotes nothing")
    citations: list[GroundedQuote] = []
    quoted: list[Quoted] = []
    context: list[str] = []
    labels: list[str] = []
    spoken: list[tuple[str, str]] = []
    for quote in claim.quotes:
        chunk = by_number.get(quote.source)
        if chunk is None:
            raise fail(GroundingRule.UNKNOWN_SOURCE, f"there is no evidence {quote.source}")
        span = _best(occurrences(quote.quote, chunk.text), chunk.text)
        if span is None:
            reason = f"a quote does not stand in evidence {quote.source} as it is given"
            raise fail(GroundingRule.QUOTE_NOT_FOUND, reason)
        if not covers_enough(span, chunk.text):
            reason = f"a quote of evidence {quote.source} is too short to bear a claim"
            raise fail(GroundingRule.QUOTE_TOO_SHORT, reason)
        citations.append(_citation(quote, span=span, chunk=chunk))
        quoted.append(Quoted(citations[-1].quote, chunk.language))
        labels.extend((chunk.title, chunk.reference))
        context.extend(_whole_sentences(span, chunk.text))
        context.extend(_what_limits(span, chunk.text, said[quote.source]))
        spoken.append((" ".join([chunk.title, chunk.section, *context]), chunk.language))
    if reason := foreign_form(text, [" ".join(one.text.split()) for one in quoted]):
        raise fail(GroundingRule.FORM, reason)
    found = discrepancy(
        claim=text,
        quotes=quoted,
        sentences=context,
        language=language or quoted[0].language,
        labels=labels,
    )
    if found is not None:
        raise fail(GroundingRule(found.rule.value), found.reason)
    if reason := unsupported(text, language=language or quoted[0].language, sentences=spoken):
        raise fail(GroundingRule.SUPPORT, reason)
    if claim.entailed is False:
        raise fail(GroundingRule.ENTAILMENT, "the checker found that its quotes do not bear it out")
    return GroundedClaim(ordinal=ordinal, text=text, citations=tuple(citations))


def _citation(quote: DraftQuote, *, span: Span, chunk: Evidence) -> GroundedQuote:
    return GroundedQuote(
        source=quote.source,
        start=chunk.start + span.start,
        end=chunk.start + span.end,
        quote=chunk.text[span.start : span.end],
    )


def _best(spans: Sequence[Span], text: str) -> Span | None:
    """Of several occurrences of the same words, the first that cuts no sentence."""
    if len(spans) < 2:
        return spans[0] if spans else None
    split = sentences(text)
    starts, ends = {one.start for one in split}, {one.end for one in split}
    return next((one for one in spans if one.start in starts and one.end in ends), spans[0])


def _whole_sentences(span: Span, text: str) -> list[str]:
    """The sentences a span touches, so that a quote cannot be cut off before its "not"."""
    touched = [
        sentence.text
        for sentence in sentences(text)
        if sentence.start < span.end and span.start < sentence.end
    ]
    return touched or [text[span.start : span.end]]


def _spans_quoted(draft: Draft, by_number: Mapping[int, Evidence]) -> dict[int, list[Span]]:
    """What the whole draft quotes, by source."""
    found: dict[int, list[Span]] = {number: [] for number in by_number}
    for quote in (quote for claim in draft.claims for quote in claim.quotes):
        if chunk := by_number.get(quote.source):
            found[quote.source] += occurrences(quote.quote, chunk.text)
    return found


def _what_limits(span: Span, text: str, said: Sequence[Span]) -> list[str]:
    """The sentence after the quoted ones, in their paragraph, when it takes back what they say.

    Not where the draft quotes it as well: then it is kept where that is said.
    """
    split = sentences(text)
    after = next((at for at, one in enumerate(split) if one.start >= span.end), None)
    if not after:
        return []
    last, following = split[after - 1], split[after]
    if any(one.start < following.end and following.start < one.end for one in said):
        return []
    goes_on = "\n\n" not in text[last.end : following.start]
    return [following.text] if goes_on and _is_limited(last.text, following.text) else []


def _is_limited(sentence: str, following: str) -> bool:
    is_item = MARK.match(following) is not None
    return _ENDED.search(sentence) is not None and not is_item and takes_back(following)
