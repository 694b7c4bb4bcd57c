"""One page of extracted text, made fit to search, to quote and to count offsets in.

The result is what `/text` serves and what citations point into, so it must read like the page:
letters are repaired, layout noise goes, and meaning-bearing characters stay. Compatibility forms
are kept on purpose ("25 days²" must not become "25 days2"); only `search_form` folds them.

Line-end hyphens. "compen-\\nsation" becomes "compensation" where both sides of the break are
lower-case letters. The hyphen stays ("cross-\\nborder" becomes "cross-border") when

- the same page writes the word with its hyphen elsewhere and never without;
- the part before it is one letter ("e-\\nmail") or a word that forms compounds ("non-\\n…");
- the break is inside a chain around a small word ("up-to-\\ndate", "c'est-\\nà-dire").

A suspended hyphen ("in-\\nen uitvoer", "Ein-\\nund Ausgang") is left as it is, break included.
"POL-2024-\\n017" is closed up with its hyphen: it is one code.
"""

from __future__ import annotations

import re
import unicodedata

_LETTER_FORMS = str.maketrans(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
        # Adobe's old private-use slots for the two ligatures every text font has.
        "\uf001": "fi",
        "\uf002": "fl",
        # Symbol and Wingdings bullets, which Word exports as private-use characters.
        "\uf0b7": "•",
        "\uf0a7": "•",
        "\uf0d8": "•",
        "\uf0fc": "•",
        "\uf076": "•",
        # The place of the bullet in a Windows-encoded font without a map to Unicode.
        "\x7f": "•",
    }
)
_LINE_BREAKS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# A NUL beside a digit is usually a minus sign whose glyph had no name: dropping it would turn
# "−4" into "4". It becomes the replacement character, which a reader sees for what it is.
_NUL_AT_NUMBER = re.compile(r"(?<!\x00)\x00+(?=\s?\d)|(?<=\d)\x00+")
_ZERO_WIDTH_GAP = re.compile(r"(?<=[^\W_])\u200b+(?=[^\W_])")
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f"
    r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SOFT_BREAK = re.compile(r"\u00ad[^\S\n]*\n[^\S\n]*(?=[^\W\d_])")
_BLANKS = re.compile(r"[^\S\n]+")
_EDGE_BLANKS = re.compile(r" ?\n ?")
# A bullet or item number that the layout put on a line of its own.
_LONE_MARK = re.compile(
    r"^([•▪◦●○■□·‣∙➢✓]|\d{1,2}\.|\(?[a-z]\)|\(?\d{1,2}\))\n+(?=\S)", re.MULTILINE
)
_PARAGRAPH_GAP = re.compile(r"\n{3,}")

_WORD_PART = r"[^\W\d_]+(?:['’][^\W\d_]+)?"
# Anchored and bounded, so that a page of nothing but letters or hyphens costs no more than another.
_HYPHEN_BREAK = re.compile(
    rf"(?<![^\W\d_])(?P<left>(?:{_WORD_PART}[-\u2010]){{0,4}}{_WORD_PART})(?P<hyphen>[-\u2010])\n"
    rf"(?P<right>{_WORD_PART}(?:[-\u2010]{_WORD_PART}){{0,4}})"
)
_CODE_BREAK = re.compile(r"\b([A-Z]{2,10}[A-Z0-9/.-]{0,30}-)\n(?=\d)")

_SUSPENDED = frozenset(str.split("and or to nor en of et ou und oder bzw sowie ni noch"))
_COMPOUND_HEADS = frozenset(
    str.split(
        "cross non self well third half know day year long "
        "niet oud vice quasi sous semi contre avant après vis peut lui elle eux ceux celui"
    )
)
_CHAIN_WORDS = frozenset(
    str.split("to of the in on by and at for your a t à de du la le dire vis op de het en")
)


def normalise(raw: str) -> str:
    """Return the page's text as it is kept. Idempotent; never changes a digit.

    Lines are separated by one newline, paragraphs by one blank line; no line begins or ends with
    a space; the result is in NFC, holds no control or invisible characters, and encodes as UTF-8.
    """
    text = _LINE_BREAKS.sub("\n", raw)
    text = _NUL_AT_NUMBER.sub("\ufffd", text)
    text = _SURROGATE.sub("\ufffd", text)
    text = _SOFT_BREAK.sub("", text)
    text = _ZERO_WIDTH_GAP.sub(" ", text)
    text = text.translate(_LETTER_FORMS)
    text = _INVISIBLE.sub("", text)
    text = unicodedata.normalize("NFC", text)
    text = _BLANKS.sub(" ", text)
    text = _EDGE_BLANKS.sub("\n", text)
    text = _LONE_MARK.sub(r"\1 ", text)
    text = _join_hyphenated(text)
    text = _CODE_BREAK.sub(r"\1", text)
    return _PARAGRAPH_GAP.sub("\n\n", text).strip()


def one_line(text: str) -> str:
    """A title, code or file name as it is kept: one line, without control, direction-changing or
    invisible characters, so that it cannot disturb what is shown beside it.
    """
    plain = _SURROGATE.sub("\ufffd", _LINE_BREAKS.sub(" ", text))
    return " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", plain)).split())


def search_form(text: str) -> str:
    """Compatibility-folded lower case, for index terms only: offsets do not survive it."""
    return unicodedata.normalize("NFKC", text).lower()


def _join_hyphenated(text: str) -> str:
    if "-\n" not in text and "\u2010\n" not in text:
        return text
    vocabulary = _Vocabulary(text)
    # A chain such as "a-\nb-\nc" overlaps itself, so go round until nothing changes.
    while True:
        joined = _HYPHEN_BREAK.sub(lambda match: _joined(match, vocabulary), text)
        if joined == text:
            return joined
        text = joined


class _Vocabulary:
    """The words of one page, asked whether it writes a compound with a hyphen or without."""

    def __init__(self, text: str) -> None:
        unbroken = _HYPHEN_BREAK.sub(" ", text).lower()
        self._words = frozenset(re.findall(rf"{_WORD_PART}(?:[-\u2010]{_WORD_PART})*", unbroken))

    def hyphenates(self, left: str, right: str) -> bool | None:
        if left + right in self._words:
            return False
        return True if f"{left}-{right}" in self._words else None


def _joined(match: re.Match[str], vocabulary: _Vocabulary) -> str:
    left, hyphen, right = match["left"], match["hyphen"], match["right"]
    if not (left[-1].islower() and right[0].islower()) or right.lower() in _SUSPENDED:
        return match[0]
    keeps = vocabulary.hyphenates(left.lower(), right.lower())
    if keeps is None:
        keeps = _is_compound(left.lower(), right.lower())
    return left + (hyphen if keeps else "") + right


def _is_compound(left: str, right: str) -> bool:
    *before, last = re.split(r"[-\u2010]", left)
    first, *after = re.split(r"[-\u2010]", right)
    if len(last) == 1 or last in _COMPOUND_HEADS:
        return True
    if before and last in _CHAIN_WORDS:
        return True
    return bool(after) and first in _CHAIN_WORDS
