"""HTML by selectolax: what a reader of the page sees, with headings, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from documents.ingestion.extracted import (
    BlockKind,
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    Repair,
)
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.plain import decoded
from documents.ingestion.extraction.read import Options
from documents.ingestion.extraction.tables import MAX_COLUMNS, add_table

MAX_DEPTH = 200
MAX_NODES = 1_000_000

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_UNSEEN = frozenset(
    str.split(
        "script style noscript template head iframe object embed svg math canvas audio video select"
        " input textarea button map datalist"
    )
)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_WITHIN_LINES = frozenset(
    str.split(
        "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp"
        " small span strike strong sub sup time tt u var wbr -text"
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read(data: bytes, options: Options) -> ExtractedText:
    found = _CHARSET.search(data[:4096])
    text, repairs = decoded(data, declared=found[1].decode("ascii", "replace") if found else "")
    tree = LexborHTMLParser(text)
    walk = _Walk()
    if tree.body is not None:
        walk.over(tree.body)
    if walk.hidden:
        repairs.append(Repair.HIDDEN_TEXT)
    return build([walk.page], repairs=repairs)


class _Walk:
    """Blocks in the order of the page. Words gather until an element ends the line."""

    def __init__(self) -> None:
        self.page = Page()
        self.hidden = False
        self._words: list[str] = []
        self._nodes = 0

    def over(self, node: LexborNode, depth: int = 0) -> None:
        for child in self._children(node, depth):
            self._one(child, depth + 1)
        if depth == 0:
            self._close()

    def _children(self, node: LexborNode, depth: int) -> Iterator[LexborNode]:
        if depth > MAX_DEPTH:
            raise _overdone(f"more than {MAX_DEPTH} elements within one another")
        child = node.first_child
        while child is not None:
            self._nodes += 1
            if self._nodes > MAX_NODES:
                raise _overdone(f"more than {MAX_NODES:,} elements")
            yield child
            child = child.next

    def _one(self, node: LexborNode, depth: int) -> None:
        tag = node.tag
        if tag == "-text":
            self._words.append(re.sub(r"\s+", " ", node.text_content or ""))
        elif tag == "br":
            self._words.append("\n")
        elif tag.startswith("-") or tag in _UNSEEN:
            return
        elif _is_hidden(node):
            self.hidden = self.hidden or bool(node.text(strip=True))
        elif tag == "table":
            self._close()
            self._table(node, depth)
        elif tag == "pre":
            self._close()
            self.page.add(BlockKind.PARAGRAPH, node.text())
        elif tag in _WITHIN_LINES:
            self.over(node, depth)
        else:
            self._close()
            kind, level = _kind(tag)
            if tag == "li":
                self._words.append(_mark(node))
            self.over(node, depth)
            self._close(kind, level)

    def _close(self, kind: BlockKind = BlockKind.PARAGRAPH, level: int = 0) -> None:
        self.page.add(kind, "".join(self._words), level)
        self._words.clear()

    def _table(self, table: LexborNode, depth: int) -> None:
        if _is_layout(table):
            for row in self._rows(table, depth):
                for cell in self._children(row, depth):
                    self.over(cell, depth + 1)
                    self._close()
            return
        grid: list[list[str]] = []
        carried: dict[int, tuple[int, str]] = {}  # column -> (rows still covered, words)
        headers = 0
        for child in self._children(table, depth):
            if child.tag == "caption":
                self.page.add(BlockKind.CAPTION, _cell_words(child))
        for row in self._rows(table, depth):
            if _is_hidden(row):
                self.hidden = True
                continue
            cells, heads_only = _row(list(self._children(row, depth)), carried)
            if heads_only and headers == len(grid):
                headers += 1
            grid.append(cells)
        add_table(self.page, grid, headers=headers or None)

    def _rows(self, table: LexborNode, depth: int) -> Iterator[LexborNode]:
        for child in self._children(table, depth):
            if child.tag == "tr":
                yield child
            elif child.tag in ("thead", "tbody", "tfoot") and not _is_hidden(child):
                yield from (row for row in self._children(child, depth) if row.tag == "tr")


def _row(nodes: list[LexborNode], carried: dict[int, tuple[int, str]]) -> tuple[list[str], bool]:
    """The cells of a row, merged ones in each place, and whether all of its own are heads."""
    cells: list[str] = []
    own = [node for node in nodes if node.tag in ("td", "th") and not _is_hidden(node)]

    def take_carried() -> None:
        while len(cells) in carried:
            rows, words = carried.pop(len(cells))
            if rows > 1:
                carried[len(cells)] = (rows - 1, words)
            cells.append(words)

    for node in own:
        take_carried()
        words = _cell_words(node)
        width, height = _span(node, "colspan"), _span(node, "rowspan")
        for _ in range(width):
            if height > 1:
                carried[len(cells)] = (height - 1, words)
            cells.append(words)
    take_carried()
    return cells, bool(own) and all(node.tag == "th" for node in own)


def _cell_words(node: LexborNode) -> str:
    for inner in node.css("*"):
        if inner.tag in _UNSEEN or _is_hidden(inner):
            inner.decompose()
    return node.text(separator=" ")


def _span(node: LexborNode, name: str) -> int:
    given = node.attributes.get(name) or "1"
    return max(1, min(int(given), MAX_COLUMNS)) if given.isascii() and given.isdigit() else 1


def _is_layout(table: LexborNode) -> bool:
    """A table that arranges a page: it holds other tables or headings, or has one column."""
    return table.css_first("td table, td h1, td h2, td h3, td h4") is not None


def _is_hidden(node: LexborNode) -> bool:
    given = node.attributes
    return (
        "hidden" in given
        or (given.get("aria-hidden") or "").lower() == "true"
        or bool(_HIDING.search(given.get("style") or ""))
    )


def _kind(tag: str) -> tuple[BlockKind, int]:
    if tag in _HEADINGS:
        return BlockKind.HEADING, _HEADINGS[tag]
    if tag in ("li", "dt", "dd"):
        return BlockKind.LIST_ITEM, 0
    if tag in ("figcaption", "caption"):
        return BlockKind.CAPTION, 0
    return BlockKind.PARAGRAPH, 0


def _mark(item: LexborNode) -> str:
    """The number or bullet that a browser puts before a list's item."""
    parent = item.parent
    if parent is None or parent.tag != "ol":
        return "• "
    start = parent.attributes.get("start") or "1"
    number = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
    before = item.prev
    while before is not None:
        number += before.tag == "li"
        before = before.prev
    return f"{number}. "


def _overdone(what: str) -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.TOO_LARGE,
        f"The page has {what}, which no document does. Print it to PDF and upload that.",
    )
