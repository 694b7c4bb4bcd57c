"""A table's cells become rows of text in which every cell keeps the head of its column.

A header row is written as it stands, its cells divided by " | ". A row below it is written with
each cell's head before it: "City: Brussels | Limit MIN: 10 | Limit MAX: 20". So a row that is
found, quoted or read alone still says what each of its figures is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from documents.ingestion.extracted import BlockKind
from documents.ingestion.extraction.build import Page

DIVIDER = " | "
MAX_COLUMNS = 200
_FIGURE = re.compile(r"[\d.,'\s]+(?:%|[A-Z]{3}|€|\$|£)?|[€$£]\s?[\d.,'\s]+")

Row = Sequence[str]


def add_table(page: Page, rows: Sequence[Row], *, headers: int | None = None) -> None:
    """Add a table to a page. A merged cell comes with its words in each place it covers.

    `headers` is how many rows at its top are heads; None: judged by their form.
    """
    table = [[_one_line(cell) for cell in row[:MAX_COLUMNS]] for row in rows]
    table = [row for row in table if any(row)]
    while table and _is_title(table[0]) and len(table) > 1 and headers is None:
        page.add(BlockKind.CAPTION, table.pop(0)[0])
    if headers is None:
        headers = header_rows(table)
    heads = column_heads(table[:headers])
    for number, row in enumerate(table):
        if number < headers:
            page.add(BlockKind.TABLE_HEADER, DIVIDER.join(row))
        else:
            page.add(BlockKind.TABLE_ROW, labelled(row, heads))


def header_rows(table: Sequence[Row]) -> int:
    """One, or two where the first has merged cells that the second divides; 0 if there is none."""
    if len(table) < 2 or not _looks_like_heads(table[0]):
        return 0
    merged = any(a and a == b for a, b in zip(table[0], table[0][1:], strict=False))
    return 2 if merged and len(table) > 2 and _looks_like_heads(table[1]) else 1


def column_heads(headers: Sequence[Row]) -> list[str]:
    """The words above each column, from the top: "Limit MIN"."""
    width = max((len(row) for row in headers), default=0)
    heads = []
    for column in range(width):
        above = [row[column] for row in headers if column < len(row) and row[column]]
        heads.append(" ".join(dict.fromkeys(above)))
    return heads


def labelled(row: Row, heads: Sequence[str]) -> str:
    """The row's cells, each with its head. One cell over all columns stands alone."""
    if _is_title(row):
        return row[0]
    cells = []
    for column, cell in enumerate(row):
        head = heads[column].rstrip(" :") if column < len(heads) else ""
        if not head:
            cells.append(cell)
        elif cell:
            cells.append(f"{head}: {cell}")
    return DIVIDER.join(cells)


def _is_title(row: Row) -> bool:
    return len(row) > 1 and bool(row[0]) and len(set(row)) == 1


def _looks_like_heads(row: Row) -> bool:
    words = [cell for cell in row if cell]
    if len(words) < 2 or len(words) * 2 < len(row):
        return False
    return not any(_FIGURE.fullmatch(cell) or len(cell) > 120 for cell in words)


def _one_line(cell: str) -> str:
    return " ".join(cell.split())
