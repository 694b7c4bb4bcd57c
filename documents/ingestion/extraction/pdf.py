"""A PDF's bytes become text with page spans, or a failure that a person can act on."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass, replace

import pypdf
from pypdf import PasswordType

from documents.ingestion.extracted import (
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    Repair,
    assemble,
)
from documents.ingestion.extraction.glyphs import is_language
from documents.ingestion.extraction.ocr import Recogniser, recogniser
from documents.ingestion.extraction.page_lines import blocks_of_pages
from documents.ingestion.extraction.pdf_rows import table_rows
from documents.ingestion.extraction.read import Options
from documents.ingestion.normalise import normalise, one_line

MAX_BYTES = 20 * 1024 * 1024
MAX_PAGES = 5_000
MAX_PAGE_CHARACTERS = 200_000

_SIGNATURE = b"%PDF-"
# Viewers accept a little junk before the signature, and so do we.
_SIGNATURE_WINDOW = 1024

# pypdf reports each repaired oddity of a file; which file it was is not in the message, so the
# lines only bury ours.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read(data: bytes, options: Options) -> ExtractedText:
    return extract_pdf(data, max_bytes=options.max_bytes, recognise=recogniser(data, options))


@dataclass(slots=True)
class _Page:
    text: str
    recognised: bool = False


def extract_pdf(
    data: bytes, *, max_bytes: int = MAX_BYTES, recognise: Recogniser | None = None
) -> ExtractedText:
    """Extract and normalise every page. A file that opens without a password is read, even if
    an owner password restricts printing or copying. Pages without text, or with a text layer that
    is no language, are given to `recognise`.

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
            FailureCode.UNSUPPORTED,
            "The file is not a PDF, whatever its name says. Export the document as PDF and "
            "upload that.",
        )
    try:
        reader = _open(data)
        pages = _pages(reader)
        labels, repairs = _labels(reader, len(pages)), _left_out(reader)
    except (ExtractionFailed, MemoryError):
        raise
    except Exception as error:
        # A malformed file can make pypdf raise nearly anything: KeyError, RecursionError, …
        raise _damaged() from error
    _recognise_pages(pages, recognise)
    if any(page.recognised for page in pages):
        repairs.append(Repair.RECOGNISED)
    extracted = assemble([page.text for page in pages])
    return replace(
        extracted,
        pages=tuple(
            replace(span, label=labels[index], recognised=pages[index].recognised)
            for index, span in enumerate(extracted.pages)
        ),
        blocks=blocks_of_pages(extracted, table_rows(data, count=len(pages))),
        repairs=tuple(repairs),
    )


def _pages(reader: pypdf.PdfReader) -> list[_Page]:
    count = len(reader.pages)
    if count == 0:
        raise _damaged()
    if count > MAX_PAGES:
        raise ExtractionFailed(
            FailureCode.TOO_LARGE,
            f"The PDF has {count:,} pages and the limit is {MAX_PAGES:,}. Split it into "
            "parts, then upload them.",
        )
    pages = []
    for index in range(count):
        lines = _Lines(page=index + 1)
        reader.pages[index].extract_text(visitor_text=lines.add)
        pages.append(_Page(normalise(lines.text())))
    return pages


def _recognise_pages(pages: list[_Page], recognise: Recogniser | None) -> None:
    """Fill in the pages that have no words of their own."""
    garbled = 0
    for number, page in enumerate(pages, start=1):
        readable = is_language(page.text)
        if page.text and readable:
            continue
        recognised = normalise(recognise(number)) if recognise else ""
        if recognised and (not page.text or is_language(recognised)):
            page.text, page.recognised = recognised, True
        elif not readable:
            garbled += 1
    if garbled * 2 > sum(bool(page.text) for page in pages):
        raise ExtractionFailed(
            FailureCode.NO_TEXT,
            "The PDF has a text layer, but what it says is no language: its fonts do not tell "
            "which letters they draw. Export the document as PDF again with its fonts embedded, or "
            "upload a copy that went through text recognition (OCR).",
        )


def _labels(reader: pypdf.PdfReader, count: int) -> list[str]:
    """What is printed on each page, where the file says so."""
    if "/PageLabels" not in reader.root_object:
        return [""] * count
    try:
        labels = [one_line(label)[:20] for label in reader.page_labels]
    except Exception:  # a malformed numbering is no reason to refuse the text
        return [""] * count
    return (labels + [""] * count)[:count]


def _left_out(reader: pypdf.PdfReader) -> list[Repair]:
    names = reader.root_object.get("/Names")
    names = names.get_object() if names is not None else {}
    attached = "/EmbeddedFiles" in names or "/Collection" in reader.root_object
    return [Repair.ATTACHMENTS] if attached else []


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
