"""The sentences of a set of evidence that a claim may quote, each with its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from answers.evidence import Evidence
from answers.grounding.quotes import Span, covers_enough, tidied
from documents.ingestion.sentences import sentences


@dataclass(frozen=True, slots=True)
class Quotable:
    """One sentence. ``id`` is "source.position"; ``quote`` is verbatim, ``text`` on one line.

    ``start`` and ``end`` are offsets into the evidence's text. ``may_be_quoted`` is false for what
    grounding would refuse, such as a heading of one word.
    """

    id: str
    source: int
    start: int
    end: int
    quote: str
    text: str
    may_be_quoted: bool


def quotable_sentences(evidence: Sequence[Evidence]) -> dict[str, Quotable]:
    """By id, in the order of the evidence and then of its text."""
    found: dict[str, Quotable] = {}
    for chunk in evidence:
        for position, sentence in enumerate(sentences(chunk.text), 1):
            quote = chunk.text[sentence.start : sentence.end]
            name = f"{chunk.number}.{position}"
            found[name] = Quotable(
                id=name,
                source=chunk.number,
                start=sentence.start,
                end=sentence.end,
                quote=quote,
                text=tidied(quote),
                may_be_quoted=covers_enough(Span(sentence.start, sentence.end), chunk.text),
            )
    return found
