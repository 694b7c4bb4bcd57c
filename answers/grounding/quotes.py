"""Finding a quote in the text it claims to come from, and giving back the stored words.

A quote is found as it stands, or up to the noise that extraction leaves in a PDF's text: runs of
white space, control characters, bullets at the start of a line, zero-width characters. Letters,
digits and punctuation are never bent. Whatever the quote looked like, what is returned is a span
of the stored text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

BULLETS = frozenset("•◦▪‣●○■□▸►➢➤✓✔\uf0b7\uf0a7\uf0d8")
_DASHES = frozenset("-–—*")
_ZERO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_SIGNS = frozenset("+-−±")

LEAST_WORDS = 3
LEAST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Span:
    """``start`` and ``end`` are code-point offsets into the searched text."""

    start: int
    end: int


def occurrences(quote: str, text: str) -> list[Span]:
    """Where ``quote`` stands in ``text``: as it is or, only if nowhere so, up to noise.

    An occurrence that cuts through a word or a number does not count: "5 days" is not in
    "2.5 days", nor "25" in "125" or "25²".
    """
    wanted = quote.strip()
    if not wanted:
        return []
    return list(_as_it_stands(wanted, text)) or list(_without_noise(wanted, text))


def covers_enough(span: Span, text: str) -> bool:
    """Whether the span says anything: three words, twelve characters, or a whole line."""
    quoted = " ".join(text[span.start : span.end].split())
    count = sum(any(char.isalnum() for char in word) for word in quoted.split())
    if count == 0:
        return False
    return count >= LEAST_WORDS or len(quoted) >= LEAST_CHARACTERS or _is_whole_line(span, text)


def tidied(text: str) -> str:
    """One line: every run of white space is one space."""
    return " ".join(text.split())


def _as_it_stands(wanted: str, text: str) -> Iterator[Span]:
    start = text.find(wanted)
    while start >= 0:
        span = Span(start, start + len(wanted))
        if not _cuts(span, text):
            yield span
        start = text.find(wanted, start + 1)


def _without_noise(wanted: str, text: str) -> Iterator[Span]:
    needle = _significant(wanted)[0].strip()
    if not needle:
        return
    haystack, offsets = _significant(text)
    at = haystack.find(needle)
    while at >= 0:
        span = Span(offsets[at], offsets[at + len(needle) - 1] + 1)
        if not _cuts(span, text):
            yield span
        at = haystack.find(needle, at + 1)


def _significant(text: str) -> tuple[str, list[int]]:
    """The text without noise, and for each of its characters the offset it came from."""
    kept: list[str] = []
    offsets: list[int] = []
    at_line_start = True
    for offset, char in enumerate(text):
        if char in _ZERO_WIDTH:
            continue
        if char.isspace() or unicodedata.category(char) == "Cc":
            if kept and kept[-1] != " ":
                kept.append(" ")
                offsets.append(offset)
            at_line_start = at_line_start or char in "\n\r\f\v\u2028\u2029"
            continue
        if at_line_start and _is_bullet(text, offset):
            continue
        at_line_start = False
        kept.append(char)
        offsets.append(offset)
    return "".join(kept), offsets


def _is_bullet(text: str, offset: int) -> bool:
    """A bullet stands alone. A dash before a number may be a minus, so it is no bullet."""
    following = text[offset + 1 : offset + 2]
    if following and not following.isspace():
        return False
    if text[offset] in BULLETS:
        return True
    rest = text[offset + 1 :].lstrip()
    return text[offset] in _DASHES and bool(rest) and not rest[0].isnumeric()


def _cuts(span: Span, text: str) -> bool:
    return _joined(text, span.start) or _joined(text, span.end) or _cuts_sign(span.start, text)


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of ``at`` belong to one word or one number."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if _is_word(before) and _is_word(after):
        return True
    if before in ".,'’" and after.isnumeric():
        return at >= 2 and text[at - 2].isnumeric()
    if after in ".,'’" and before.isnumeric():
        return at + 1 < len(text) and text[at + 1].isnumeric()
    return False


def _cuts_sign(start: int, text: str) -> bool:
    """Whether a number lost its sign: "5%" is not in "(-5%)", but may be in "2-5%"."""
    if start == 0 or not text[start].isnumeric() or text[start - 1] not in _SIGNS:
        return False
    return start == 1 or not text[start - 2].isalnum()


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")


def _is_whole_line(span: Span, text: str) -> bool:
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.end)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    return line.strip() == text[span.start : span.end].strip()
