"""PPTX by python-pptx: a slide is a page; speaker's notes follow its words as notes."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

from documents.ingestion.extracted import BlockKind, ExtractedText, Repair
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.ooxml import Package
from documents.ingestion.extraction.read import Options
from documents.ingestion.extraction.tables import add_table

_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE}
_RUNNING = {PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE}
_DEEPEST_GROUP = 20


def read(data: bytes, options: Options) -> ExtractedText:
    package = Package(data)
    package.check_all()
    repairs = package.left_out()
    pages = []
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        page = Page()
        pages.append(page)  # a hidden slide keeps its number
        if slide.element.get("show") in ("0", "false"):
            repairs.append(Repair.HIDDEN)
            continue
        _add_shapes(page, slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            page.add(BlockKind.NOTE, slide.notes_slide.notes_text_frame.text.replace("\v", "\n"))
    return build(pages, repairs=repairs, nothing="The presentation has no words on its slides.")


def _add_shapes(page: Page, shapes: Iterable, depth: int = 0) -> None:
    for shape in shapes:
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth < _DEEPEST_GROUP:
                _add_shapes(page, shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False) and shape.has_table:
            _add_table(page, shape.table)
        elif shape.has_text_frame:
            _add_text(page, shape)


def _add_text(page: Page, shape) -> None:
    role = shape.placeholder_format.type if shape.is_placeholder else None
    paragraphs = [p.text.replace("\v", "\n") for p in shape.text_frame.paragraphs]
    if role in _TITLES:
        page.add(BlockKind.HEADING, " ".join(paragraphs), 1)
    elif role in _RUNNING:
        page.add(BlockKind.RUNNING, " ".join(paragraphs))
    else:
        is_list = role in (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT) and len(paragraphs) > 1
        for words in paragraphs:
            kind = BlockKind.LIST_ITEM if is_list else BlockKind.PARAGRAPH
            page.add(kind, f"• {words}" if is_list and words.strip() else words)


def _add_table(page: Page, table) -> None:
    """A merged cell's words stand in its first place; the others repeat them."""
    rows: list[list[str]] = []
    origin: dict[tuple[int, int], str] = {}
    for at, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for down in range(cell.span_height):
                    for across in range(cell.span_width):
                        origin[(at + down, column + across)] = cell.text
            cells.append(origin.get((at, column), cell.text))
        rows.append(cells)
    add_table(page, rows, headers=1 if table.first_row and len(rows) > 1 else None)
