"""A PDF's bytes become text with page spans, or a failure that a person can act on."""

from __future__ import annotations

import io
import logging

import pypdf
from pypdf import PasswordType

from documents.ingestion.extracted import (
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    assemble,
)
from documents.ingestion.normalise import normalise

MAX_BYTES = 20 * 1024 * 1024
MAX_PAGES = 5_000
MAX_PAGE_CHARACTERS = 200_000

_SIGNATURE = b"%PDF-"
# Viewers accept a little junk before the signature, and so do we.
_SIGNATURE_WINDOW = 1024

# pypdf reports each repaired oddity of a file; which file it was is not in the message, so the
# lines only bury ours.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def extract_pdf(data: bytes, *, max_bytes: int = MAX_BYTES) -> ExtractedText:
    """Extract and normalise every page. A file that opens without a password is read, even if
    an owner password restricts printing or copying.

    Raises ExtractionFailed. It bounds size, pages and characters, not time: run it where it can
    be stopped.
    """
    if len(data) > max_bytes:
        raise ExtractionFailed(
            FailureCode.TOO_LARGE,
            f"The file is {_megabytes(len(data))} and the limit is {_megabytes(max_bytes)}. "
            "Reduce the size of its images or split it into parts, then upload it again.",
        )
    if _SIGNATURE not in data[:_SIGNATURE_WINDOW]:
        raise ExtractionFailed(
            FailureCode.NOT_PDF,
            "The file is not a PDF, whatever its name says. Export the document as PDF and "
            "upload that.",
        )
    return assemble(_pages(data))


def _pages(data: bytes) -> list[str]:
    try:
        reader = _open(data)
        count = len(reader.pages)
        if count == 0:
            raise _damaged()
        if count > MAX_PAGES:
            raise ExtractionFailed(
                FailureCode.TOO_LARGE,
                f"The PDF has {count:,} pages and the limit is {MAX_PAGES:,}. Split it into "
                "parts, then upload them.",
            )
        return [normalise(_page_text(reader, index)) for index in range(count)]
    except ExtractionFailed:
        raise
    except Exception as error:
        # A malformed file can make pypdf raise nearly anything: KeyError, RecursionError, …
        raise _damaged() from error


def _open(data: bytes) -> pypdf.PdfReader:
    reader = pypdf.PdfReader(io.BytesIO(data))
    if not reader.is_encrypted:
        return reader
    try:
        opened = reader.decrypt("")
    except Exception as error:
        raise _encrypted() from error
    if opened is PasswordType.NOT_DECRYPTED:
        raise _encrypted()
    return reader


def _page_text(reader: pypdf.PdfReader, index: int) -> str:
    lines = _Lines(page=index + 1)
    reader.pages[index].extract_text(visitor_text=lines.add)
    return lines.text()


class _Lines:
    """The pieces of a page in the order of its content, with the cells of a table row rejoined.

    pypdf ends the line after each piece of text that moves to the next line, and table cells do:
    a piece that is drawn on the same baseline, to the right, continues that line all the same.
    """

    def __init__(self, *, page: int) -> None:
        self._page = page
        self._pieces: list[str] = []
        self._length = 0
        self._place: tuple[float, float] | None = None

    def add(
        self, piece: str, cm: list[float], tm: list[float], _font: object, font_size: float
    ) -> None:
        """Receives pypdf's `visitor_text` calls; together the pieces are its extracted text."""
        self._length += len(piece)
        if self._length > MAX_PAGE_CHARACTERS:
            raise _overfull(self._page)
        if piece.strip():
            place = _place(cm, tm)
            if self._continues_line(place, font_size):
                self._pieces[-1] = self._pieces[-1][:-1] + " "
            self._place = place
        if piece:
            self._pieces.append(piece)

    def text(self) -> str:
        return "".join(self._pieces)

    def _continues_line(self, place: tuple[float, float] | None, font_size: float) -> bool:
        if place is None or self._place is None or not self._pieces[-1].endswith("\n"):
            return False
        same_baseline = abs(place[1] - self._place[1]) < 0.1 * abs(font_size)
        return same_baseline and place[0] > self._place[0]


def _place(cm: list[float], tm: list[float]) -> tuple[float, float] | None:
    """Where upright text starts, in points; None for turned text."""
    horizontal = tm[0] * cm[0] + tm[1] * cm[2]
    slope = tm[0] * cm[1] + tm[1] * cm[3]
    if horizontal <= 0 or abs(slope) > 0.01 * horizontal:
        return None
    return (
        tm[4] * cm[0] + tm[5] * cm[2] + cm[4],
        tm[4] * cm[1] + tm[5] * cm[3] + cm[5],
    )


def _encrypted() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.ENCRYPTED,
        "The PDF needs a password to open. Save a copy without the password and upload that.",
    )


def _damaged() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.DAMAGED,
        "The PDF is damaged and cannot be read. Open it in a viewer, export it as PDF again, and "
        "upload the new file.",
    )


def _overfull(page: int) -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.TOO_LARGE,
        f"Page {page} of the PDF holds more than {MAX_PAGE_CHARACTERS:,} characters, which no "
        "readable page does. Export the document as PDF again and upload the new file.",
    )


def _megabytes(size: int) -> str:
    return f"{size / (1024 * 1024):.1f} MB"
