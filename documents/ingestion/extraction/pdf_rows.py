"""Which lines of a PDF's pages are rows of cells: pieces on one height with wide gaps between them."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pypdfium2 as pdfium

# In heights of a letter. Words are a quarter apart, justified ones seldom more than a half.
_GAP = 0.9
_MAX_PIECES = 5_000

_Piece = tuple[float, float, float, float]  # left, bottom, right, top


def table_rows(data: bytes, *, count: int) -> list[frozenset[str]]:
    """For each page the letters (`letters_of`) of its rows; none where PDFium cannot say."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError:
        return [frozenset()] * count
    try:
        return [_page_rows(document, index) for index in range(count)]
    finally:
        document.close()


def letters_of(text: str) -> str:
    """A line's letters and digits, so that spaces, ligatures and accents written apart do not count."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).lower() if c.isalnum())


def _page_rows(document: pdfium.PdfDocument, index: int) -> frozenset[str]:
    try:
        words = document[index].get_textpage()
        pieces = [words.get_rect(at) for at in range(min(words.count_rects(), _MAX_PIECES))]
        rows = [row for row in _lines(pieces) if _has_gap(row)]
        texts = (letters_of("".join(words.get_text_bounded(*p) for p in row)) for row in rows)
        return frozenset(text for text in texts if text)
    except (pdfium.PdfiumError, IndexError):
        return frozenset()


def _lines(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Pieces on one height, from left to right."""
    lines: list[list[_Piece]] = []
    for piece in sorted(pieces, key=lambda piece: -(piece[1] + piece[3])):
        middle = (piece[1] + piece[3]) / 2
        if lines and lines[-1][0][1] <= middle <= lines[-1][0][3]:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [sorted(line) for line in lines]


def _has_gap(line: list[_Piece]) -> bool:
    height = max(top - bottom for _, bottom, _, top in line)
    return any(after[0] - before[2] > _GAP * height for before, after in pairwise(line))
