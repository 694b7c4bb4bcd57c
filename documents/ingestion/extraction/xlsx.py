"""XLSX by openpyxl: a sheet is a page, a row is a line that names its columns.

Cells are written as the sheet shows them: 0.05 formatted as a percentage is "5%". Formulas give the
value that was last calculated. Hidden sheets, rows and columns stay out.
"""

from __future__ import annotations

import io
import re
from datetime import date, datetime, time
from typing import Any

import openpyxl
from openpyxl.utils import range_boundaries
from openpyxl.worksheet.worksheet import Worksheet

from documents.ingestion.extracted import (
    BlockKind,
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    Repair,
)
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.numbers import shown
from documents.ingestion.extraction.ooxml import Package
from documents.ingestion.extraction.read import Options
from documents.ingestion.extraction.tables import MAX_COLUMNS, add_table

MAX_CELLS = 1_000_000
_MERGED = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"
)


def read(data: bytes, options: Options) -> ExtractedText:
    package = Package(data)
    package.check_all()
    _check_merged(package)
    workbook = openpyxl.load_workbook(
        io.BytesIO(data), data_only=True, keep_vba=False, keep_links=False
    )
    repairs = package.left_out()
    pages = []
    budget = MAX_CELLS
    for sheet in workbook.worksheets:
        if sheet.sheet_state != "visible":
            repairs.append(Repair.HIDDEN)
            continue
        budget -= len(sheet._cells)
        if budget < 0:
            raise _overfull()
        page = Page(label=sheet.title[:40])
        page.add(BlockKind.HEADING, sheet.title, 1)
        hidden = _add_sheet(page, sheet)
        repairs += [Repair.HIDDEN] if hidden else []
        if len(page.parts) > 1:
            pages.append(page)
    return build(
        pages, repairs=repairs, nothing="The workbook has no words or figures in visible cells."
    )


def _check_merged(package: Package) -> None:
    """openpyxl makes a cell of each place that a merged one covers, so these are counted first."""
    places = 0
    for name in package.names:
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            for found in _MERGED.finditer(package.bytes(name)):
                left, top, right, bottom = range_boundaries(found[1].decode())
                places += (right - left + 1) * (bottom - top + 1)
    if places > MAX_CELLS:
        raise _overfull()


def _add_sheet(page: Page, sheet: Worksheet) -> bool:
    """Add the sheet's tables, which empty rows divide. True if something of it is hidden."""
    columns, hidden_columns = _visible_columns(sheet)
    merged = _merged(sheet)
    rows: dict[int, set[int]] = {}
    for row, column in sheet._cells:
        rows.setdefault(row, set()).add(column)
    hidden_rows = False
    table: list[list[str]] = []
    previous = 0
    for row in sorted(rows):
        if sheet.row_dimensions[row].hidden:
            hidden_rows = True
            previous = row if previous == row - 1 else previous
            continue
        places = (merged.get((row, column), (row, column)) for column in columns)
        cells = [_shown(sheet._cells.get(place)) for place in places]
        if row != previous + 1 or not any(cells):
            _flush(page, table)
        if any(cells):
            table.append(cells)
        previous = row
    _flush(page, table)
    return hidden_rows or hidden_columns


def _flush(page: Page, table: list[list[str]]) -> None:
    """Add the rows gathered so far. Lines of one cell above them are titles, and no heads."""
    used = [at for at in range(len(table[0])) if any(row[at] for row in table)] if table else []
    rows = [[row[at] for at in used] for row in table]
    table.clear()
    while rows and len({cell for cell in rows[0] if cell}) == 1:
        page.add(BlockKind.PARAGRAPH, next(cell for cell in rows.pop(0) if cell))
    if rows:
        add_table(page, rows)


def _visible_columns(sheet: Worksheet) -> tuple[list[int], bool]:
    last = min(max((column for _, column in sheet._cells), default=0), MAX_COLUMNS)
    hidden: set[int] = set()
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            first = dimension.min or 0
            hidden |= set(range(first, min(dimension.max or first, last) + 1))
    columns = [column for column in range(1, last + 1) if column not in hidden]
    return columns, bool(hidden & {column for _, column in sheet._cells})


def _merged(sheet: Worksheet) -> dict[tuple[int, int], tuple[int, int]]:
    """For each place of a merged cell, where its words are."""
    places: dict[tuple[int, int], tuple[int, int]] = {}
    for area in list(sheet.merged_cells.ranges)[:10_000]:
        if area.size["rows"] * area.size["columns"] > 10_000:
            continue
        for row in range(area.min_row, area.max_row + 1):
            for column in range(area.min_col, area.max_col + 1):
                places[(row, column)] = (area.min_row, area.min_col)
    return places


def _shown(cell: Any) -> str:
    value = getattr(cell, "value", None)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        midnight = value.time() == time()
        return value.strftime("%Y-%m-%d" if midnight else "%Y-%m-%d %H:%M")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.strftime("%H:%M")
    if isinstance(value, int | float):
        return shown(value, cell.number_format or "General")
    return str(value)


def _overfull() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.TOO_LARGE,
        f"The workbook has more than {MAX_CELLS:,} cells. Data of that size is not a document; upload "
        "the part that people are to read.",
    )
