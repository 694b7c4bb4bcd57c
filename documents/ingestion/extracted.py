"""What extraction gives, whatever the format was: one text, its pages, and what its parts are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

PAGE_SEPARATOR = "\n\n"


class FailureCode(StrEnum):
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_TEXT = "no_text"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    STOPPED = "stopped"


class ExtractionFailed(Exception):
    """The file gave no usable text. `message` says what to do, in words for its owner."""

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Repair(StrEnum):
    """What was mended in a text or left out of it. Never words of the file."""

    ENCODING = "encoding"
    RECOGNISED = "recognised"
    CHANGES = "tracked changes taken as accepted"
    MACROS = "macros left out"
    ATTACHMENTS = "attachments left out"
    HIDDEN = "hidden content left out"
    HIDDEN_TEXT = "hidden text left out"


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    CAPTION = "caption"
    TABLE_HEADER = "table_header"
    TABLE_ROW = "table_row"
    NOTE = "note"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Where page `page` (1-based, as a viewer counts) lies in the text, in code points.

    `label` is what is printed on the page where the file says so ("iv"). `recognised` marks text
    that came from OCR.
    """

    page: int
    start: int
    end: int
    label: str = ""
    recognised: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text and what it is; `level` is a heading's depth, from 1.

    A RUNNING block repeats at the edge of pages: it stays in the text and goes into no passage.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """`text` holds all pages, normalised; a page without text is an empty span.

    `sha256` is the hex digest of the text's UTF-8 bytes. `blocks` are in the order of the text, do
    not overlap and cross no page; none means that the format says nothing of its structure.
    """

    text: str
    pages: tuple[PageSpan, ...]
    sha256: str
    page_count: int
    blocks: tuple[Block, ...] = ()
    repairs: tuple[Repair, ...] = ()


def assemble(pages: Iterator[str] | list[str]) -> ExtractedText:
    """Join pages of text, already normalised, into one text with spans.

    Raises ExtractionFailed(NO_TEXT) when no page has any.
    """
    spans: list[PageSpan] = []
    parts: list[str] = []
    position = 0
    for number, page in enumerate(pages, start=1):
        if number > 1:
            position += len(PAGE_SEPARATOR)
        spans.append(PageSpan(page=number, start=position, end=position + len(page)))
        parts.append(page)
        position += len(page)
    if not any(parts):
        raise ExtractionFailed(
            FailureCode.NO_TEXT,
            "The PDF has no text in it: it looks like a scan or a picture. Upload the original "
            "document, or a copy that went through text recognition (OCR).",
        )
    text = PAGE_SEPARATOR.join(parts)
    return ExtractedText(
        text=text,
        pages=tuple(spans),
        sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
        page_count=len(spans),
    )
