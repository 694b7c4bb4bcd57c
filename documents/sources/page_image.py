"""A page of a PDF as a picture, with a quote marked where it stands."""

from __future__ import annotations

import ctypes
import io
import os
import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image, ImageChops, ImageDraw

_HIGHLIGHT = (255, 236, 105)
# A poster-sized page must not become a poster-sized bitmap.
_MAX_PIXELS_A_SIDE = 4_000
_MARGIN = 1.5
_IGNORED = re.compile(r"[\s\W\x00-\x1f\u00ad\u200b-\u200f\ufeff\ufffd_]")
# A piece of a quote shorter than this could stand anywhere on the page.
_MIN_PIECE = 4

# PDFium keeps global state and is not thread-safe.
_lock = threading.Lock()


class PageImageFailed(Exception):
    """The file could not be drawn; the message says which way."""


class PageNotFound(PageImageFailed):
    """The document has no page of that number."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """`highlighted` is False when no quote was asked for or it was not found on the page."""

    png: bytes
    width: int
    height: int
    highlighted: bool


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float


def render_page(
    *, data: bytes, page: int, quote: str | None = None, scale: float = 1.5
) -> PageImage:
    """Draw a page (1-based) at `scale` × 72 dots an inch; mark the quote's words in yellow.

    The quote is looked for by its letters and digits alone, so it is found over line breaks,
    hyphenation, ligatures, case and table cells. Where the page's own order of text differs, its
    lines are looked for one by one, and marked only if all are there.

    Raises PageNotFound, and PageImageFailed for a file PDFium cannot open.
    """
    with _lock:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise PageImageFailed(f"The PDF cannot be opened for drawing: {error}") from error
        try:
            if not 1 <= page <= len(document):
                raise PageNotFound(f"Page {page} does not exist: the PDF has {len(document)}.")
            return _draw(document[page - 1], quote, scale)
        except pdfium.PdfiumError as error:
            raise PageImageFailed(f"Page {page} cannot be drawn: {error}") from error
        finally:
            document.close()


def _draw(page: pdfium.PdfPage, quote: str | None, scale: float) -> PageImage:
    scale = min(scale, _MAX_PIXELS_A_SIDE / max(page.get_size()))
    image = page.render(scale=scale).to_pil().convert("RGB")
    boxes = _find(page, quote, image.size) if quote else []
    if boxes:
        image = _mark(image, boxes)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return PageImage(
        png=buffer.getvalue(), width=image.width, height=image.height, highlighted=bool(boxes)
    )


def _mark(image: Image.Image, boxes: list[_Box]) -> Image.Image:
    tint = Image.new("RGB", image.size, "white")
    brush = ImageDraw.Draw(tint)
    for box in boxes:
        brush.rectangle(
            (box.left - _MARGIN, box.top - _MARGIN, box.right + _MARGIN, box.bottom + _MARGIN),
            fill=_HIGHLIGHT,
        )
    # Multiplying colours the paper and leaves the ink.
    return ImageChops.multiply(image, tint)


def _find(page: pdfium.PdfPage, quote: str, size: tuple[int, int]) -> list[_Box]:
    """Boxes in pixels, one for each run of the quote on a line; none if it is not there."""
    text_page = page.get_textpage()
    try:
        letters, indexes = _page_letters(text_page)
        matched = _matches(letters, quote)
        characters = sorted({indexes[position] for span in matched for position in range(*span)})
        return list(_line_boxes(_character_boxes(page, text_page, characters, size)))
    finally:
        text_page.close()


def _page_letters(text_page: pdfium.PdfTextPage) -> tuple[str, list[int]]:
    """The page's letters and digits, folded, and for each the index of its character."""
    letters: list[str] = []
    indexes: list[int] = []
    for index in range(text_page.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(text_page, index)
        folded = _fold(chr(code)) if 0 < code < 0x110000 else ""
        letters.append(folded)
        indexes.extend([index] * len(folded))
    return "".join(letters), indexes


def _fold(text: str) -> str:
    # lower(), not casefold(): ß must stay one letter on both sides. Marks go, since a page may
    # draw "é" as two characters.
    decomposed = unicodedata.normalize("NFKD", text).lower()
    return _IGNORED.sub("", "".join(c for c in decomposed if not unicodedata.combining(c)))


def _matches(letters: str, quote: str) -> list[tuple[int, int]]:
    wanted = _fold(quote)
    whole = letters.find(wanted) if wanted else -1
    if whole >= 0:
        return [(whole, whole + len(wanted))]
    pieces = [piece for piece in map(_fold, quote.splitlines()) if piece]
    if len(pieces) < 2 or max(map(len, pieces)) < _MIN_PIECE:
        return []
    spans = []
    position = 0
    for piece in pieces:
        at = letters.find(piece, position)
        at = letters.find(piece) if at < 0 else at
        if at < 0:
            return []
        spans.append((at, at + len(piece)))
        position = at + len(piece)
    return spans


def _character_boxes(
    page: pdfium.PdfPage,
    text_page: pdfium.PdfTextPage,
    characters: list[int],
    size: tuple[int, int],
) -> Iterator[_Box]:
    for index in characters:
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        if right <= left or top <= bottom:
            continue
        corners = [_to_pixels(page, x, y, size) for x in (left, right) for y in (bottom, top)]
        xs, ys = zip(*corners, strict=True)
        yield _Box(min(xs), min(ys), max(xs), max(ys))


def _to_pixels(page: pdfium.PdfPage, x: float, y: float, size: tuple[int, int]) -> tuple[int, int]:
    """PDFium's own conversion, which knows of rotated and cropped pages."""
    column, row = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, column, row)
    return column.value, row.value


def _line_boxes(boxes: Iterator[_Box]) -> Iterator[_Box]:
    """Join neighbours on one line, so that the spaces between words are marked too."""
    current: _Box | None = None
    for box in boxes:
        if current is not None and _on_one_line(current, box):
            current = _Box(
                min(current.left, box.left),
                min(current.top, box.top),
                max(current.right, box.right),
                max(current.bottom, box.bottom),
            )
            continue
        if current is not None:
            yield current
        current = box
    if current is not None:
        yield current


def _on_one_line(line: _Box, box: _Box) -> bool:
    shared = min(line.bottom, box.bottom) - max(line.top, box.top)
    lower_height = min(line.bottom - line.top, box.bottom - box.top)
    gap = max(box.left - line.right, line.left - box.right)
    return shared > lower_height / 2 and gap <= 2 * max(lower_height, 1)


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)
