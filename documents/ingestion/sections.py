"""Passages that follow a document's structure: one section or a part of one, never two.

A section is what stands under one heading on one page. What would be cut off from its meaning goes
along as context: the headings above, and for the later rows of a table its caption and header.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from documents.ingestion import exceptions
from documents.ingestion.chunk import ChunkSpan, running_key, running_lines
from documents.ingestion.extracted import Block, BlockKind, ExtractedText, PageSpan
from documents.ingestion.headings import heading_lines
from documents.ingestion.sentences import blocks as blocks_by_form
from documents.ingestion.sentences import sentences
from documents.ingestion.templates import section_name

PATH_SEPARATOR = " › "
_LONGEST_CONTEXT = 600
_WORD = re.compile(r"\S+")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s")
_NAMED = re.compile(r"[^\W\d_]+\.?\s*(?:\d{1,3}(?:\.\d{1,3})*|[IVX]{1,5}|[A-Z])\b")
_TABLE = (BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading on one page. `path`: the headings above and its own."""

    page: int
    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch that is cut only where it must be, then between its `parts`, then its words.

    `head` is the caption and header row of the table that it is a part of, which start at
    `head_start`.
    """

    start: int
    end: int
    parts: tuple[_Piece, ...] = ()
    head: str = ""
    head_start: int = -1


def split_sections(extracted: ExtractedText, *, max_words: int = 250) -> list[ChunkSpan]:
    """Cut into passages of at most `max_words` words, none across a section or a page.

    A table, a paragraph, a rule with its exception stay whole where they fit. RUNNING blocks are
    in no passage; every other character that is not white space is in exactly one.
    """
    text = extracted.text
    chunks: list[ChunkSpan] = []
    carried: _Piece | None = None
    for section in sections(extracted):
        headings = [block for block in section.blocks if block.kind == BlockKind.HEADING]
        body = section.blocks[len(headings) :]
        pieces = _pieces(text, body, carried if not headings else None)
        carried = pieces[-1] if pieces and pieces[-1].head else None
        for start, end, head in _pack(text, headings, pieces, max_words):
            inside = text[start:end]
            chunks.append(
                ChunkSpan(
                    ordinal=len(chunks),
                    section=section_name(section.path[-1]) if section.path else "",
                    page=section.page,
                    start=start,
                    end=end,
                    text=inside,
                    sha256=hashlib.sha256(inside.encode("utf-8")).hexdigest(),
                    context=_context(section, headings, start, head, text),
                )
            )
    return chunks


def sections(extracted: ExtractedText) -> Iterator[Section]:
    """In the order of the text. A running line ends a stretch of text, but not its section."""
    path: list[tuple[int, str]] = []
    running = running_lines(extracted)
    for page in extracted.pages:
        open_blocks: list[Block] = []
        for block in _blocks_of_page(extracted, page, running):
            heading = block.kind == BlockKind.HEADING
            has_body = any(one.kind != BlockKind.HEADING for one in open_blocks)
            if open_blocks and (block.kind == BlockKind.RUNNING or (heading and has_body)):
                yield Section(page.page, tuple(words for _, words in path), tuple(open_blocks))
                open_blocks = []
            if block.kind == BlockKind.RUNNING:
                continue
            if heading:
                words = _one_line(extracted.text[block.start : block.end])
                path = [one for one in path if one[0] < block.level] + [(block.level, words)]
            open_blocks.append(block)
        if open_blocks:
            yield Section(page.page, tuple(words for _, words in path), tuple(open_blocks))


def _blocks_of_page(extracted: ExtractedText, page: PageSpan, running: set[str]) -> list[Block]:
    """The blocks that the format gave, and between them those that the form of the lines tells."""
    text, found, position = extracted.text, [], page.start
    for block in extracted.blocks:
        if block.start < page.start or block.start >= page.end or not _words(text, block):
            continue
        found.extend(_by_form(text, position, block.start, running))
        found.append(block)
        position = block.end
    found.extend(_by_form(text, position, page.end, running))
    return found


def _by_form(text: str, start: int, end: int, running: set[str]) -> Iterator[Block]:
    inside = text[start:end]
    # A heading with a number is one, also where "Article 1" and "Article 2" each open a page.
    headings = {
        at: words
        for at, words in heading_lines(inside)
        if running_key(words) not in running or any(sign.isdigit() for sign in words)
    }
    for block in blocks_by_form(inside):
        words = headings.get(block.start)
        if words is not None and len(words) == block.end - block.start:
            kind, level = BlockKind.HEADING, _level(words)
        else:
            kind, level = block.kind, 0
        yield Block(kind, start + block.start, start + block.end, level)


def _level(heading: str) -> int:
    """By its number: "3.2" lies below "3", and both below a heading without."""
    numbered = _NUMBERED.match(heading)
    if numbered:
        return 2 + numbered[1].count(".")
    return 2 if _NAMED.match(heading) else 1


def _pieces(text: str, body: Iterable[Block], carried: _Piece | None) -> list[_Piece]:
    """Tables, paragraphs and lists, each with what belongs to it.

    `carried`: a table that the page before broke off in; its header holds for rows that go on.
    """
    pieces: list[_Piece] = []
    table: list[Block] = []
    last: Block | None = None
    for block in body:
        in_table = block.kind in _TABLE or (block.kind == BlockKind.NOTE and table)
        new_table = table and table[-1].kind not in (BlockKind.TABLE_HEADER, BlockKind.CAPTION)
        if table and (not in_table or (block.kind == BlockKind.TABLE_HEADER and new_table)):
            pieces.append(_table(text, table, carried if not pieces else None))
            table = []
        if in_table or block.kind == BlockKind.CAPTION:
            table.append(block)
        else:
            _add_text(text, pieces, block, last)
        last = block
    if table:
        pieces.append(_table(text, table, carried if not pieces else None))
    return pieces


def _table(text: str, table: list[Block], carried: _Piece | None) -> _Piece:
    """Caption and header stay with the first row."""
    rows = next(
        (at for at, one in enumerate(table) if one.kind == BlockKind.TABLE_ROW), len(table) - 1
    )
    start, end = table[0].start, table[-1].end
    if rows:
        head, head_start = _one_line(text[start : table[rows - 1].end]), start
    elif carried is not None and table[0].kind == BlockKind.TABLE_ROW:
        head, head_start = carried.head, carried.head_start
    else:
        head, head_start = "", -1
    bounds = [start, *(block.start for block in table[rows + 1 :])]
    ends = [block.end for block in table[rows:]]
    parts = tuple(
        _Piece(first, last, (), head, head_start) for first, last in zip(bounds, ends, strict=True)
    )
    return _Piece(start, end, parts, head, head_start)


def _add_text(text: str, pieces: list[_Piece], block: Block, last: Block | None) -> None:
    """A paragraph, or one more part of the piece before when it belongs there."""
    parts = _sentences(text, block)
    before = pieces[-1] if pieces else None
    if before is None or last is None or before.head:
        pieces.append(_whole(parts))
        return
    introduced = text[last.start : last.end].rstrip().endswith(":")
    in_list = block.kind == last.kind == BlockKind.LIST_ITEM
    if exceptions.OPENS.match(text, parts[0].start):
        bound = _whole([*before.parts[-1:], parts[0]])
        pieces[-1] = _whole([*before.parts[:-1], bound, *parts[1:]])
    elif introduced or in_list:
        pieces[-1] = _whole([*before.parts, *parts])
    else:
        pieces.append(_whole(parts))


def _sentences(text: str, block: Block) -> list[_Piece]:
    """One piece per sentence; an exception is bound to the sentence before."""
    parts: list[_Piece] = []
    for sentence in sentences(text[block.start : block.end]):
        piece = _Piece(block.start + sentence.start, block.start + sentence.end)
        limits = exceptions.OPENS.match(sentence.text) or exceptions.INSIDE.search(sentence.text)
        if parts and limits:
            parts[-1] = _whole([parts[-1], piece])
        else:
            parts.append(piece)
    return parts


def _whole(parts: list[_Piece]) -> _Piece:
    return _Piece(parts[0].start, parts[-1].end, tuple(parts))


def _pack(
    text: str, headings: list[Block], pieces: list[_Piece], max_words: int
) -> Iterator[tuple[int, int, str]]:
    """Fill passages with pieces: start, end, and the table header that the first row is without."""
    first = _Piece(headings[0].start, headings[-1].end) if headings else None
    room = max_words - (_words(text, first) if first else 0)
    limit = room if room >= max_words / 2 else max_words
    fitting = list(_fitting(text, first, max_words)) if first else []
    for piece in pieces:
        fitting.extend(_fitting(text, piece, limit))
    taken: list[_Piece] = []
    count = 0
    for piece in fitting:
        words = _words(text, piece)
        if taken and count + words > max_words:
            yield _passage(taken)
            taken, count = [], 0
        taken.append(piece)
        count += words
    if taken:
        yield _passage(taken)


def _passage(taken: list[_Piece]) -> tuple[int, int, str]:
    start = taken[0].start
    return start, taken[-1].end, taken[0].head if taken[0].head_start < start else ""


def _fitting(text: str, piece: _Piece, limit: int) -> Iterator[_Piece]:
    if _words(text, piece) <= limit:
        yield piece
    elif piece.parts:
        for part in piece.parts:
            yield from _fitting(text, part, limit)
    else:
        words = [match.span() for match in _WORD.finditer(text, piece.start, piece.end)]
        for at in range(0, len(words), limit):
            last = min(at + limit, len(words)) - 1
            yield _Piece(words[at][0], words[last][1], (), piece.head, piece.head_start)


def _words(text: str, piece: _Piece | Block) -> int:
    return sum(1 for _ in _WORD.finditer(text, piece.start, piece.end))


def _context(section: Section, headings: list[Block], start: int, head: str, text: str) -> str:
    """The headings that do not stand in the passage itself, and the table's caption and header."""
    inside = {
        _one_line(text[block.start : block.end]) for block in headings if block.start >= start
    }
    above = [heading for heading in section.path if heading not in inside]
    parts = [PATH_SEPARATOR.join(above), head]
    return "\n".join(part for part in parts if part)[:_LONGEST_CONTEXT]


def _one_line(text: str) -> str:
    return " ".join(text.split())
