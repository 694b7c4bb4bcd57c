"""What the lines of a PDF's pages are, judged by form and place: a PDF says nothing of itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from documents.ingestion.extracted import Block, BlockKind, ExtractedText
from documents.ingestion.extraction.pdf_rows import letters_of
from documents.ingestion.headings import heading_lines

# Lines this close to a page's edge that come back on other pages are running heads and feet.
_EDGE_LINES = 3
_LEAST_SHARE = 0.4
_LONGEST = 120  # longer ones are text
_LIST_MARK = re.compile(r"(?:[•▪◦●○■□·‣∙➢✓–]|\(?[a-z]\)|\(?\d{1,2}\)|\(?[ivx]{1,4}\))\s")
_CAPTION = re.compile(
    r"(?:table|tabel|tableau|tabelle|figure|figuur|abbildung|abb\.|tab\.|fig\.)\s*\d+",
    re.IGNORECASE,
)
_DEPTH = re.compile(r"\d+(?:\.\d+)*")

_Line = tuple[int, str]  # where it starts in the text, and its words


def blocks_of_pages(extracted: ExtractedText, rows: Sequence[frozenset[str]]) -> tuple[Block, ...]:
    """`rows` are, for each page, the lines that hold cells of a table (see pdf_rows)."""
    pages = [list(_lines(extracted.text, page.start, page.end)) for page in extracted.pages]
    running = _running(pages)
    blocks: list[Block] = []
    for index, page in enumerate(extracted.pages):
        text = extracted.text[page.start : page.end]
        headings = {page.start + start for start, _ in heading_lines(text)}
        blocks += _page_blocks(pages[index], headings, rows[index], running[index])
    return tuple(blocks)


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    for line in text[start:end].split("\n"):
        yield start, line
        start += len(line) + 1


def _page_blocks(
    lines: list[_Line], headings: set[int], rows: frozenset[str], running: set[int]
) -> Iterator[Block]:
    begin = end = None  # of the paragraph or list item that goes on

    def kind_of_open() -> BlockKind:
        return BlockKind.LIST_ITEM if in_list else BlockKind.PARAGRAPH

    in_list = False
    table = False
    for index, (start, line) in enumerate(lines):
        kind, level = None, 0
        if start in running:
            kind = BlockKind.RUNNING
        elif _is_row(lines, index, rows):
            kind = BlockKind.TABLE_ROW if table else BlockKind.TABLE_HEADER
        elif start in headings:
            kind, level = BlockKind.HEADING, _level(line)
        elif _CAPTION.match(line) and len(line) < 150:
            kind = BlockKind.CAPTION
        if line.strip() and kind is not BlockKind.RUNNING:
            table = kind in (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)
        ends = kind is not None or not line.strip() or _LIST_MARK.match(line)
        if ends and begin is not None:
            yield Block(kind_of_open(), begin, end)
            begin = None
        if kind is not None:
            yield Block(kind, start, start + len(line), level)
        elif line.strip():
            if begin is None:
                begin, in_list = start, bool(_LIST_MARK.match(line))
            end = start + len(line)
    if begin is not None:
        yield Block(kind_of_open(), begin, end)


def _is_row(lines: list[_Line], index: int, rows: frozenset[str]) -> bool:
    """A line of cells beside another: one alone is a heading with its number, or a form's field."""
    beside = [lines[at][1] for at in (index - 1, index + 1) if 0 <= at < len(lines)]
    return letters_of(lines[index][1]) in rows and any(letters_of(line) in rows for line in beside)


def _level(line: str) -> int:
    number = _DEPTH.match(line.strip())
    return number[0].count(".") + 1 if number else 1


def _running(pages: list[list[_Line]]) -> list[set[int]]:
    """For each page, where its running heads and feet start; never all that a page says."""
    full = [[line for line in page if line[1].strip()] for page in pages]
    found: list[set[int]] = [set() for _ in pages]
    for from_edge in (range(_EDGE_LINES), range(-1, -1 - _EDGE_LINES, -1)):
        inside = set(range(len(pages)))  # pages all of whose lines nearer to the edge are running
        for place in from_edge:
            seen: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
            for index in sorted(inside):
                if -len(full[index]) <= place < len(full[index]):
                    start, line = full[index][place]
                    seen[re.sub(r"\d+", "#", line.strip()).casefold()].append((index, start, line))
            inside = set()
            for places in seen.values():
                if len(places) >= max(2, _LEAST_SHARE * len(pages)) and _is_running(places):
                    inside |= {index for index, _, _ in places}
                    for index, start, _ in places:
                        found[index].add(start)
    return [
        starts if len(starts) < len(full[index]) else set() for index, starts in enumerate(found)
    ]


def _is_running(places: list[tuple[int, int, str]]) -> bool:
    """The same words each time, or the same but for a number that counts the pages."""
    if any(line.lstrip()[:1].islower() or len(line) > _LONGEST for _, _, line in places):
        return False
    if len({line.strip().casefold() for _, _, line in places}) == 1:
        return True
    numbers = [[int(n) for n in re.findall(r"\d{1,9}", line)] for _, _, line in places]
    return any(
        len({row[column] - index for row, (index, _, _) in zip(numbers, places, strict=True)}) == 1
        for column in range(min(map(len, numbers)))
    )
