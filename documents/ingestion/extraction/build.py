"""Parts of pages, as a format gives them, become one text with pages and blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from documents.ingestion.extracted import (
    PAGE_SEPARATOR,
    Block,
    BlockKind,
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    PageSpan,
    Repair,
)
from documents.ingestion.normalise import normalise

MAX_CHARACTERS = 20_000_000
MAX_PARTS = 400_000

_ROWS = {BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW}


@dataclass(frozen=True, slots=True)
class Part:
    """A block's words, not yet normalised."""

    kind: BlockKind
    text: str
    level: int = 0


@dataclass(slots=True)
class Page:
    parts: list[Part] = field(default_factory=list)
    label: str = ""
    recognised: bool = False

    def add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if text and not text.isspace():
            self.parts.append(Part(kind, text, level))


def build(
    pages: Sequence[Page], *, repairs: Iterable[Repair] = (), nothing: str = ""
) -> ExtractedText:
    """Rows of a table and items of a list stand on lines of their own, all else apart.

    Raises ExtractionFailed: NO_TEXT with the sentence `nothing`, TOO_LARGE.
    """
    pieces: list[str] = []
    spans: list[PageSpan] = []
    blocks: list[Block] = []
    position = 0
    if sum(len(page.parts) for page in pages) > MAX_PARTS:
        raise _overfull()
    for number, page in enumerate(pages, start=1):
        if number > 1:
            pieces.append(PAGE_SEPARATOR)
            position += len(PAGE_SEPARATOR)
        start = position
        previous: Part | None = None
        for part in page.parts:
            text = normalise(part.text)
            if not text:
                continue
            if previous is not None:
                gap = "\n" if _belong_together(previous.kind, part.kind) else "\n\n"
                pieces.append(gap)
                position += len(gap)
            blocks.append(Block(part.kind, position, position + len(text), part.level))
            pieces.append(text)
            position += len(text)
            previous = part
            if position > MAX_CHARACTERS:
                raise _overfull()
        spans.append(PageSpan(number, start, position, page.label, page.recognised))
    if not blocks:
        raise ExtractionFailed(
            FailureCode.NO_TEXT, nothing or "The file has no text in it, so nothing can be found."
        )
    text = "".join(pieces)
    return ExtractedText(
        text=text,
        pages=tuple(spans),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        page_count=len(spans),
        blocks=tuple(blocks),
        repairs=tuple(dict.fromkeys(repairs)),
    )


def _belong_together(above: BlockKind, below: BlockKind) -> bool:
    if below is BlockKind.LIST_ITEM:
        return above in (BlockKind.LIST_ITEM, BlockKind.PARAGRAPH)
    return below in _ROWS and (above in _ROWS or above is BlockKind.CAPTION)


def _overfull() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.TOO_LARGE,
        f"The file holds more than {MAX_CHARACTERS:,} characters, which no readable document does. "
        "Split it into parts, then upload them.",
    )
