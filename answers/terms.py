"""What a question asks about: its content words, folded so that inflections meet.

The folding is light on purpose. It only has to make "approved", "approves" and "approval" the
same word when a question's coverage is counted; retrieval has its own tokeniser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, lru_cache

from answers.lexicon import concepts
from answers.vocabulary import GENERIC_WORDS, STOP_WORDS
from documents.ingestion.identifiers import identifier_terms, identifiers

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu)['’](?=\w)")
_PARTICIPLE = re.compile(r"ge(\w{4,}?)(?:et|d|t)")
_POSSESSIVE = re.compile(r"['’]s?$")
_VOWELS = frozenset("aeiouy")
_SHORTEST_STEM = 3

# Longest first within a language: the first that leaves a long enough stem is cut.
_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "en": (
        "ations", "ation", "ements", "ement", "ments", "ment", "ingly", "ances", "ance",
        "ings", "ions", "ures", "ing", "ies", "ied", "ion", "ure", "als", "ers", "ors", "ed",
        "es", "er", "or", "al", "ly", "e", "s",
    ),
    "nl": ("ingen", "eren", "ing", "jes", "ers", "en", "je", "er", "es", "e", "s", "t"),
    "fr": (
        "ations", "ation", "ements", "ement", "ments", "euses", "ment", "ions", "euse", "eurs",
        "ables", "able", "eur", "ees", "ons", "ion", "ent", "es", "er", "ee", "ez", "e", "s", "x",
    ),
    "de": ("ungen", "ung", "ern", "en", "er", "es", "em", "e", "n", "s"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The folded content words of a question, what each weighs, and the identifiers it names."""

    terms: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    identifiers: frozenset[str] = frozenset()
    language: str = "en"

    @property
    def wanted(self) -> tuple[str, ...]:
        """Everything to look for: the terms, then the identifiers."""
        return (*self.terms, *sorted(self.identifiers))

    def weight(self, wanted: str) -> float:
        return IDENTIFIER_WEIGHT if wanted in self.identifiers else self.weights.get(wanted, 1.0)

    def share(self, strength: Mapping[str, float]) -> float:
        """The weighted mean strength of what is wanted, 0 to 1; 0 when nothing is."""
        total = sum(self.weight(one) for one in self.wanted)
        return sum(self.weight(one) * strength[one] for one in self.wanted) / (total or 1.0)

    def coverage(self, text: str, language: str | None = None) -> float:
        """Weighted share of the terms in ``text``, 0 to 1; 0 when there are no terms.

        A word of the same meaning counts almost as much as the word itself (`strength`).
        """
        return self.share(strengths(self, text, language))


IDENTIFIER_WEIGHT = 2.0

# What finding a term is worth: the word, a word of the same meaning, a part of a compound.
SAME_WORD, SAME_MEANING, IN_COMPOUND = 1.0, 0.85, 0.7
_SHORTEST_PART = 4
_SHORTEST_COMPOUND = 8
_COMPOUNDING = ("nl", "de")


def strengths(terms: QuestionTerms, text: str, language: str | None = None) -> dict[str, float]:
    """How well ``text``, written in ``language``, has each wanted thing: 0 to 1.

    An identifier is there whole or as an exact part, or it is not.
    """
    language = known_language(language or terms.language)
    present = folded_words(text, language) | folded_words(text, terms.language)
    found = {term: _strength(term, terms.language, present, language) for term in terms.terms}
    named = identifier_terms(text) if terms.identifiers else frozenset()
    return found | {one: SAME_WORD if one in named else 0.0 for one in terms.identifiers}


def _strength(term: str, asked_in: str, present: AbstractSet[str], written_in: str) -> float:
    if term in present:
        return SAME_WORD
    meaning = _same_meaning(term, asked_in, written_in) | _same_meaning(term, asked_in, asked_in)
    if not present.isdisjoint(meaning):
        return SAME_MEANING
    if written_in in _COMPOUNDING or asked_in in _COMPOUNDING:
        parts = meaning | {term}
        if any(_is_compound_of(word, part) for word in present for part in parts):
            return IN_COMPOUND
        if asked_in in _COMPOUNDING and any(_is_compound_of(term, word) for word in present):
            return IN_COMPOUND
    return 0.0


def _is_compound_of(word: str, part: str) -> bool:
    return (
        len(word) >= _SHORTEST_COMPOUND
        and len(part) >= _SHORTEST_PART
        and len(word) - len(part) >= _SHORTEST_STEM
        and (word.startswith(part) or word.endswith(part))
    )


@cache
def _same_meaning(term: str, asked_in: str, written_in: str) -> frozenset[str]:
    return frozenset(
        fold(word, written_in)
        for concept in concepts()
        if any(fold(word, asked_in) == term for word in concept[asked_in])
        for word in concept[written_in]
    )


def question_terms(
    question: str, language: str, weights: Mapping[str, float] | None = None
) -> QuestionTerms:
    """The terms of a question asked in ``language`` ("en", "nl", "fr" or "de").

    ``weights`` maps a word as written or folded to its weight, for instance its inverse document
    frequency. Without them a word weighs 1, and words any policy uses weigh less.
    """
    language = known_language(language)
    named = frozenset(identifiers(question))
    rest = question
    for identifier in sorted(named, key=len, reverse=True):
        rest = re.sub(re.escape(identifier), " ", rest, flags=re.IGNORECASE)
    terms: dict[str, float] = {}
    for word in content_words(rest, language):
        term = fold(word, language)
        given = (weights or {}).get(word, (weights or {}).get(term))
        if given is None:
            given = 0.4 if word in GENERIC_WORDS[language] else 1.0
        terms[term] = max(terms.get(term, 0.0), float(given))
    return QuestionTerms(tuple(terms), terms, named, language)


def content_words(text: str, language: str) -> list[str]:
    """The words that carry meaning, unaccented and in lower case, in order, with repeats."""
    stop = STOP_WORDS[known_language(language)]
    return [word for word in words(text) if word not in stop and (len(word) > 1 or word.isdigit())]


def words(text: str) -> list[str]:
    """All words, unaccented and in lower case, without elided articles and possessives."""
    plain = unaccented(text)
    return [
        word
        for raw in _WORD.findall(plain)
        if (word := _POSSESSIVE.sub("", _ELISION.sub("", raw.replace("’", "'"))))
    ]


def folded_words(text: str, language: str) -> frozenset[str]:
    language = known_language(language)
    return frozenset(fold(word, language) for word in words(text))


def unaccented(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def known_language(language: str) -> str:
    code = language.lower()[:2]
    return code if code in STOP_WORDS else "en"


@lru_cache(maxsize=65_536)
def fold(word: str, language: str) -> str:
    """The word without its inflection. Numbers and short words stay as they are."""
    if len(word) <= _SHORTEST_STEM or any(char.isdigit() for char in word):
        return word
    if language == "en" and word.endswith("ss"):
        return word
    if language in _COMPOUNDING and (participle := _PARTICIPLE.fullmatch(word)):
        return participle[1]
    for suffix in _SUFFIXES[language]:
        stem = word[: -len(suffix)]
        if word.endswith(suffix) and _long_enough(stem, suffix):
            return stem + "i" if suffix in ("ies", "ied") else _tidied(stem, language)
    return _tidied(word, language)


def _long_enough(stem: str, suffix: str) -> bool:
    least = _SHORTEST_STEM if len(suffix) <= 2 else _SHORTEST_STEM + 1
    if suffix in ("ing", "ings"):
        least = _SHORTEST_STEM
    if suffix == "t":
        least = _SHORTEST_STEM + 1
    return len(stem) >= least and any(char in _VOWELS for char in stem)


def _tidied(stem: str, language: str) -> str:
    if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] and stem[-1] not in "aeious":
        stem = stem[:-1]
    if language == "en":
        stem = stem.replace("iz", "is") if stem.endswith("iz") else stem
        if len(stem) > _SHORTEST_STEM and stem[-1] in "ey" and stem[-2] not in "aeiou":
            stem = stem[:-1] + "i" if stem[-1] == "y" else stem[:-1]
    elif language == "nl":
        # Dutch writes one long vowel two ways: "jaar", "jaren"; "dagen", "dag".
        stem = re.sub(r"(aa|ee|oo|uu)(?=[^aeiou]$)", lambda pair: pair[0][0], stem)
        stem = stem[:-1] + {"v": "f", "z": "s"}.get(stem[-1], stem[-1])
    return stem
