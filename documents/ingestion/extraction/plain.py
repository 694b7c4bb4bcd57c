"""Plain text: paragraphs between blank lines; its one page is the file, or what form feeds divide."""

from __future__ import annotations

import re

from documents.ingestion.extracted import BlockKind, ExtractedText, Repair
from documents.ingestion.extraction import encodings
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.read import Options
from documents.ingestion.headings import heading_lines

_LIST_MARK = re.compile(r"\s*(?:[•▪◦●○■□·‣∙➢✓*–-]|\(?[a-z]\)|\(?\d{1,2}[.)])\s+\S")


def decoded(data: bytes, *, declared: str = "") -> tuple[str, list[Repair]]:
    """The text, and what was repaired."""
    text, mixed = encodings.decode(data, declared=declared)
    text, mended = encodings.repair(text)
    return text.lstrip("\ufeff"), [Repair.ENCODING] if mixed or mended else []


def read(data: bytes, options: Options) -> ExtractedText:
    text, repairs = decoded(data)
    pages = []
    for words in re.sub(r"\r\n?", "\n", text).split("\f"):
        page = Page()
        for block in re.split(r"\n(?:[^\S\n]*\n)+", words):
            _add(page, block)
        pages.append(page)
    return build(pages, repairs=repairs)


def _add(page: Page, block: str) -> None:
    """A stretch of lines: headings and list items in it stand alone."""
    headings = {start for start, _ in heading_lines(f"{block}\n\nText follows here.")}
    kind, open_lines, position = BlockKind.PARAGRAPH, [], 0

    def close() -> None:
        page.add(kind, "\n".join(open_lines))
        open_lines.clear()

    lines = block.split("\n")
    items = [bool(_LIST_MARK.match(line)) for line in lines]
    for index, line in enumerate(lines):
        starts = position + len(line) - len(line.lstrip())
        is_item = items[index]
        # "1. Scope" heads what follows, unless it is one item beside another.
        beside = any(items[max(index - 1, 0) : index] + items[index + 1 : index + 2])
        if starts in headings and not (is_item and beside):
            close()
            page.add(BlockKind.HEADING, line, 1)
            kind = BlockKind.PARAGRAPH
        elif is_item:
            close()
            kind = BlockKind.LIST_ITEM
            open_lines.append(line)
        else:
            open_lines.append(line)
        position += len(line) + 1
    close()
