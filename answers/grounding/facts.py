"""Whether a claim says the facts its quotes say: figures, identifiers, negations, conditions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from answers.grounding.numbers import Figure, figures, units_without_number
from answers.grounding.polarity import Turn, deviation
from answers.grounding.quotes import tidied
from documents.ingestion.identifiers import identifiers

_MIXED = re.compile(r"(?<!\w)[\w]+(?:[-/+][\w]+)*(?!\w)")
_PLAIN_PUNCTUATION = frozenset("–—‘’“”„…€£§«»°·•ʼ\u00a0\u202f\u2009")
_EDGES = "()[]{}.,;:!?\"'“”‘’«»„…"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Stored words and the language that decides how their numbers are read."""

    text: str
    language: str


class FactRule(StrEnum):
    NUMBER = "number"
    IDENTIFIER = "identifier"
    CHARACTERS = "characters"
    NEGATION = "negation"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """``reason`` holds words of the claim at most, never of a source."""

    rule: FactRule
    reason: str


_RULE_OF_TURN = {
    Turn.NEGATION: FactRule.NEGATION,
    Turn.CONDITION: FactRule.CONDITION,
    Turn.LIMIT: FactRule.CONDITION,
    Turn.MODALITY: FactRule.CONDITION,
}


def discrepancy(
    *,
    claim: str,
    quotes: Sequence[Quoted],
    sentences: Sequence[str],
    language: str,
    labels: Sequence[str] = (),
) -> Discrepancy | None:
    """The first fact of ``claim``, written in ``language``, that its quotes do not bear, or None.

    ``sentences`` are the whole sentences that the quotes are cut from: a "not" just outside a
    quote still counts. ``labels`` are titles and references of the quoted documents: a claim may
    name what the document names itself, such as a product's code.
    """
    claim = tidied(claim)
    quotes = [Quoted(tidied(quote.text), quote.language) for quote in quotes]
    return (
        _characters(claim, quotes)
        or _figures(claim, quotes, language)
        or _identifiers(claim, [quote.text for quote in quotes] + [tidied(one) for one in labels])
        or _turns(claim, sentences, language)
    )


def _characters(claim: str, quotes: Sequence[Quoted]) -> Discrepancy | None:
    """Look-alike letters, fullwidth digits and invisible characters only as they are quoted."""
    quoted = {word.strip(_EDGES) for quote in quotes for word in quote.text.split()}
    for word in claim.split():
        if any(_is_unusual(char) for char in word) and word.strip(_EDGES) not in quoted:
            return Discrepancy(
                FactRule.CHARACTERS, "a word has unusual characters that no quote has"
            )
    return None


def _is_unusual(char: str) -> bool:
    if char.isascii():
        return not char.isprintable()
    if char in _PLAIN_PUNCTUATION:
        return False
    if char in "ıſ" or ord(char) > 0x17F:
        return char != "ẞ"
    return unicodedata.category(char) not in ("Lu", "Ll")


def _figures(claim: str, quotes: Sequence[Quoted], language: str) -> Discrepancy | None:
    borne = [figure for quote in quotes for figure in figures(quote.text, quote.language)]
    loose = frozenset(unit for quote in quotes for unit in units_without_number(quote.text))
    for figure in figures(_without_codes(claim), language):
        if not any(_bears(quoted, figure, loose) for quoted in borne):
            return Discrepancy(
                FactRule.NUMBER, f'"{_as_said(figure)}" is not in the quotes of the claim'
            )
    return None


def _bears(quoted: Figure, said: Figure, loose_units: frozenset[str]) -> bool:
    if not said.supported_by(quoted):
        return False
    if said.unit == quoted.unit:
        return True
    if not said.unit:
        return quoted.unit != "percent"
    return not quoted.unit and said.unit in loose_units


def _as_said(figure: Figure) -> str:
    return f"{figure.written} {figure.unit}".strip()


def _identifiers(claim: str, texts: Sequence[str]) -> Discrepancy | None:
    borne = {name for text in texts for name in identifiers(text)}
    if missing := sorted(identifiers(claim) - borne):
        return Discrepancy(FactRule.IDENTIFIER, f'"{missing[0]}" is not in the quotes of the claim')
    written = {word.lower() for text in texts for word in _codes(text)}
    if missing := sorted({word.lower() for word in _codes(claim)} - written):
        return Discrepancy(FactRule.IDENTIFIER, f'"{missing[0]}" is not in the quotes of the claim')
    return None


def _codes(text: str) -> list[str]:
    """Words of letters and digits together: "P-4", "T+2", "FIDO2". Counted units are none."""
    return [word[0] for word in _MIXED.finditer(text) if _is_code(word[0])]


def _is_code(word: str) -> bool:
    return (
        any(char.isdigit() for char in word)
        and any(char.isalpha() for char in word)
        and not re.fullmatch(r"\d+(?:[.,]\d+)?(?:k|m|bn|st|nd|rd|th|er|e|h\d*)?", word.lower())
        and not re.fullmatch(r"\d+-[^\W\d]+(?:-[^\W\d]+)*", word)
    )


def _without_codes(text: str) -> str:
    """The 49 of "ZX-49" is no figure: the whole code must stand in a quote, see _identifiers."""

    def blank(word: re.Match[str]) -> str:
        named = _is_code(word[0]) and not word[0][0].isdigit()
        return " " * len(word[0]) if named else word[0]

    return _MIXED.sub(blank, text)


def _turns(claim: str, sentences: Sequence[str], language: str) -> Discrepancy | None:
    turned = deviation(claim, "\n".join(sentences), language)
    return Discrepancy(_RULE_OF_TURN[turned.turn], turned.what) if turned else None
