"""The numbers that Word draws before paragraphs and does not write down: "Article 4", "3.2", "b)"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from documents.ingestion.extraction.docx_styles import attribute, child, name_of

_ROMAN = list(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"],
        strict=True,
    )
)
_DEPTHS = 9


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    style_id: str = ""


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)


class Numbers:
    """Counts along: ask for each paragraph once, in the order of the document."""

    def __init__(self, root: etree._Element | None) -> None:
        abstract: dict[str, _List] = {}
        self._lists: dict[str, _List] = {}
        for element in [] if root is None else root:
            if name_of(element) == "abstractNum":
                abstract[attribute(element, "abstractNumId")] = _List(_levels(element))
            elif name_of(element) == "num":
                of = child(element, "abstractNumId")
                base = abstract.get(attribute(of, "val") if of is not None else "")
                if base is not None:
                    restarts = any(
                        child(inner, "startOverride") is not None
                        for inner in element
                        if name_of(inner) == "lvlOverride"
                    )
                    own = _List(base.levels) if restarts else base
                    self._lists[attribute(element, "numId")] = own

    def next(self, numbering: tuple[str, int | None] | None, style_id: str) -> str:
        """What stands before the next paragraph of a list, or ""."""
        if numbering is None or (numbered := self._lists.get(numbering[0])) is None:
            return ""
        depth = numbering[1]
        if depth is None:
            by_style = (d for d, level in numbered.levels.items() if level.style_id == style_id)
            depth = next(by_style, 0) if style_id else 0
        level = numbered.levels.get(depth, _Level())
        numbered.counts[depth] = numbered.counts.get(depth, level.start - 1) + 1
        for deeper in range(depth + 1, _DEPTHS):
            numbered.counts.pop(deeper, None)
        if level.form in ("bullet", "none"):
            return "•" if level.form == "bullet" else ""

        def count(found: re.Match[str]) -> str:
            at = int(found[1]) - 1
            above = numbered.levels.get(at, _Level())
            return _write(numbered.counts.get(at, above.start), above.form)

        return re.sub(r"%([1-9])", count, level.pattern)[:40]


def _levels(element: etree._Element) -> dict[int, _Level]:
    def value(level: etree._Element, name: str, otherwise: str) -> str:
        found = child(level, name)
        return attribute(found, "val") if found is not None else otherwise

    levels = {}
    for level in element:
        depth = attribute(level, "ilvl")
        if name_of(level) == "lvl" and depth in "012345678" and depth:
            start = value(level, "start", "1")
            levels[int(depth)] = _Level(
                start=int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1,
                form=value(level, "numFmt", "decimal"),
                pattern=value(level, "lvlText", ""),
                style_id=value(level, "pStyle", ""),
            )
    return levels


def _write(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and number > 0:
        repeats, at = divmod(number - 1, 26)
        letters = chr(ord("a") + at) * min(repeats + 1, 5)
        return letters if form == "lowerLetter" else letters.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        written = ""
        for value, sign in _ROMAN:
            written += sign * (number // value)
            number %= value
        return written if form == "lowerRoman" else written.upper()
    return f"{number:02d}" if form == "decimalZero" else str(number)
