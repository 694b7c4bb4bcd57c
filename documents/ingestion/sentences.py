"""Sentences of a passage, with offsets, for picking the words to quote.

Extracted text has lines, and lines mean different things: a heading, a table row and a list item
each stand alone; a wrapped paragraph runs over its breaks. So lines are sorted first, and only
running text is then cut at full stops, in English, Dutch, French and German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from documents.ingestion.extracted import Block, BlockKind
from documents.ingestion.headings import ends_open, is_heading


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text == source[start:end]`, offsets in code points, no white space at either end."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str


# Never the end of a sentence, whatever follows.
_TITLES = frozenset(
    str.split(
        "mr mrs ms dr prof st mme mlle me mm hr fr ir ing drs jhr dhr mevr mw jr sen gen sr "
        "vs cf viz eg ie approx vgl bzw ggf inkl exkl gem sog ca zzgl bzgl insb einschl evtl "
        "bijv bv nl resp incl excl m.b.t o.a t.o.v i.v.m d.w.z a.d.h.v env p.ex c.-à-d "
        "z.b d.h u.a i.d.r i.s.d o.ä s.o s.u e.g i.e w.r.t"
    )
)
# Not the end where a number, a letter in brackets or a paragraph sign follows.
_BEFORE_NUMBER = frozenset(
    str.split(
        "no nos nr nrs art arts artt sec sect par para pp pg blz pag fig tab ch chap cl lit abs al "
        "ziff rn rz max min reg dir vol ed jan feb mar apr jun jul aug sep sept oct okt nov dec "
        "dez tel ext ref app cap hfst punt n°"
    )
)
_MONTHS = frozenset(
    str.split(
        "january february march april may june july august september october november december "
        "januari februari maart mei juni juli augustus oktober "
        "januar februar märz mai dezember jänner"
    )
)
_BULLET = re.compile(r"[•▪◦●○■□–—*·‣∙➢✓-]\s+\S|o\s+(?=[A-Z])")
_ENUMERATOR = re.compile(
    r"(?:\(?[a-z]\)|\([ivxlc]{1,6}\)|[ivxlc]{1,6}\)|\(?\d{1,3}\)|[a-z]\.|\d{1,2}\.(?!\d)"
    r"|\d{1,2}(?:\.\d{1,2}){1,4}\.?(?:\([a-z0-9]{1,3}\))*)\s+(?=\S)"
)
_MARK_AT_START = re.compile(
    r"(?:[•▪◦●○■□–—*·‣∙➢✓-]|\(?[a-z0-9]{1,4}[.)]|\d{1,2}(?:\.\d{1,2})+\.?)\s+"
)
_STOP = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]\u00b9\u00b2\u00b3\u2070-\u2079]*(?=\s)")
_REFERENCE_END = re.compile(
    r"(?<!\w)(?:clauses?|sections?|articles?|artikel(?:en)?|paragraphs?|par|art|nos?|nr|§|annexe?"
    r"|bijlage|anhang|hoofdstuk|chapitre|chapter|kapitel|points?|punt|lid|and|or|en|et|und|to|of"
    r"|than|the|at|from|least|most|within|van|tot|binnen|minstens|de|du|à|von|bis|mit)\.?$",
    re.IGNORECASE,
)
_LIST_INTRODUCED = re.compile(r"[.;:!?,…][\"'”’»)\]]*$|(?<!\w)(?:and|or|en|of|et|ou|und|oder)$")
_CELL_END = re.compile(
    r"(?:[\d%€$£)]|EUR|USD|GBP|CHF|days?|dagen|jours|Tage|Yes|No|Ja|Nee|Nein|Oui"
    r"|Non|n/a|–|—|-)$"
)
_ROW_CANNOT_END = re.compile(r"[.;:,!?…]$")
_STOP_INSIDE = re.compile(r"[a-zß-ÿ]{2,}[.!?]\s")
_NUMBER = re.compile(r"\d")
_SPACE = re.compile(r"\s*")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]*$")
_LONGEST_ABBREVIATION = 20
_LONGEST_ROW = 200
_MAX_ROW_WORDS = 14
# Shorter than this, in characters, no text column is taken to be.
_NARROW = 60
# Lines of one column differ in characters; below this share of the longest, one is short.
_FULL_LINE = 0.85


def sentences(text: str) -> list[Sentence]:
    """Split a passage. In order, disjoint, and every character that is not white space is in one.

    A line break inside a sentence does not end it: the span covers the break. What is unsure
    stays whole: "Meridian N.V. Employees …" is one sentence rather than two wrong ones.
    """
    found: list[Sentence] = []
    for block in _blocks(_lines(text)):
        found.extend(_split(text, block[0].start, block[-1].end))
    return found


def blocks(text: str) -> list[Block]:
    """What the lines of a text are, judged by their form alone. Every word is in one block.

    A table's first rows are its header as long as they hold no figure.
    """
    lines = _lines(text)
    rows = {lines[index].start for index in _table_rows(lines, _width(lines))}
    found: list[Block] = []
    for block in _blocks(lines):
        start, end = block[0].start, block[-1].end
        found.append(Block(_kind(text, start, end, rows, found), start, end))
    return found


def _kind(text: str, start: int, end: int, rows: set[int], before: list[Block]) -> BlockKind:
    if start in rows:
        opens = not before or before[-1].kind not in (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)
        heads = opens or before[-1].kind == BlockKind.TABLE_HEADER
        figure = _NUMBER.search(text, start, end)
        return BlockKind.TABLE_HEADER if heads and not figure else BlockKind.TABLE_ROW
    if _BULLET.match(text, start, end) or _ENUMERATOR.match(text, start, end):
        return BlockKind.LIST_ITEM
    return BlockKind.PARAGRAPH


def _width(lines: list[_Line]) -> int:
    return max([_NARROW, *(len(line.text) for line in lines)])


def _lines(text: str) -> list[_Line]:
    lines = []
    position = 0
    for raw in text.split("\n"):
        start = position + len(raw) - len(raw.lstrip())
        stripped = raw.strip()
        lines.append(_Line(start, start + len(stripped), stripped))
        position += len(raw) + 1
    return lines


def _blocks(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Groups of lines that running text may flow through."""
    width = _width(lines)
    rows = _table_rows(lines, width)
    block: list[_Line] = []
    for index, line in enumerate(lines):
        previous = lines[index - 1].text if index else ""
        following = lines[index + 1].text if index + 1 < len(lines) else ""
        alone = bool(line.text) and (
            index in rows or is_heading(line.text, previous=previous, following=following)
        )
        starts = _starts_item(line.text, previous) or _starts_afresh(line.text, previous, width)
        if block and (not line.text or alone or starts):
            yield block
            block = []
        if alone:
            yield [line]
        elif line.text:
            block.append(line)
    if block:
        yield block


def _breaks_early(line: str, following: str, width: int) -> bool:
    """Whether the next word would have had room on the line: then its end was meant."""
    first_word = following.split(maxsplit=1)[0] if following else ""
    return len(line) + 1 + len(first_word) < _FULL_LINE * width


def _starts_afresh(line: str, previous: str, width: int) -> bool:
    return (
        bool(previous)
        and not line[:1].islower()
        and not ends_open(previous)
        and not _REFERENCE_END.search(previous)
        and _breaks_early(previous, line, width)
    )


def _starts_item(line: str, previous: str) -> bool:
    if _BULLET.match(line):
        return not line.startswith(("-", "–", "—")) or not _continues(line, previous)
    mark = _ENUMERATOR.match(line)
    if mark is None:
        return False
    if previous and _REFERENCE_END.search(previous) and not _LIST_INTRODUCED.search(previous):
        return False
    if mark[0].strip().endswith(")"):
        return True
    return not line[mark.end()].islower() or bool(previous and _LIST_INTRODUCED.search(previous))


def _continues(line: str, previous: str) -> bool:
    """A dash that opens a line inside a sentence: "the limit\\n– if any – applies"."""
    return (
        bool(previous) and line[1:].lstrip()[:1].islower() and not _LIST_INTRODUCED.search(previous)
    )


def _table_rows(lines: list[_Line], width: int) -> set[int]:
    """Lines that stand in a run of two or more which look like rows, one of them with a number."""
    rows: set[int] = set()
    run: list[int] = []
    for index, line in enumerate(lines):
        following = lines[index + 1].text if index + 1 < len(lines) else ""
        if _looks_like_row(line.text, following, width):
            run.append(index)
            continue
        rows.update(_as_table(run, lines))
        run = []
    rows.update(_as_table(run, lines))
    return rows


def _looks_like_row(line: str, following: str, width: int) -> bool:
    if not line or len(line) > _LONGEST_ROW or len(line.split()) > _MAX_ROW_WORDS:
        return False
    if _BULLET.match(line):
        return False
    if _ROW_CANNOT_END.search(line) or _REFERENCE_END.search(line) or _STOP_INSIDE.search(line):
        return False
    early = _breaks_early(line, following, width)
    if following[:1].islower():
        # A row may start in lower case ("up to €10 …"), but so does the rest of a sentence.
        return early and _NUMBER.search(following) and not _ROW_CANNOT_END.search(following)
    if line[0].islower():
        return early and bool(_NUMBER.search(line))
    return early or bool(_CELL_END.search(line))


def _as_table(run: list[int], lines: list[_Line]) -> list[int]:
    numbered = [index for index in run if any(c.isdigit() for c in lines[index].text)]
    return run if len(run) >= 2 and numbered else []


def _split(text: str, start: int, end: int) -> Iterator[Sentence]:
    mark = _MARK_AT_START.match(text, start, end)
    search_from = mark.end() if mark else start
    for stop in _STOP.finditer(text, search_from, end):
        if _ends_here(text, start, stop, end):
            yield Sentence(start, stop.end(), text[start : stop.end()])
            start = _SPACE.match(text, stop.end(), end).end()
    if start < end:
        yield Sentence(start, end, text[start:end])


def _ends_here(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    following = text[stop.end() : min(end, stop.end() + 40)].lstrip()
    if not following:
        return True
    if following[0].islower():
        return False
    if stop[0][0] != "." or stop[0].startswith(".."):
        return True
    before = text[max(start, stop.start() - _LONGEST_ABBREVIATION) : stop.start()]
    word = _LAST_WORD.search(before)[0].lower()
    if stop[0] != "." and len(word) > 1:
        return True
    return not _is_abbreviation(word, following)


def _is_abbreviation(word: str, following: str) -> bool:
    if word in _TITLES:
        return True
    if word in _BEFORE_NUMBER:
        return (
            following[0].isdigit()
            or following[0] in "(§"
            or bool(re.match(r"[IVX]{1,5}\b", following))
        )
    if len(word) == 1 and word.isalpha():
        return True
    if "." in word and not any(character.isdigit() for character in word):
        return all(len(part) <= 2 for part in word.split("."))
    if re.fullmatch(r"[0-3]?\d", word):
        return re.match(r"\w+", following) is not None and (
            re.match(r"\w+", following)[0].lower() in _MONTHS
        )
    return False
