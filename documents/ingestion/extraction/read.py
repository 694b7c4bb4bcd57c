"""One file to its text: what it is, then the reader of that format."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from documents.ingestion.extracted import ExtractedText, ExtractionFailed, FailureCode
from documents.ingestion.extraction.sniff import Kind, sniff

_READERS = {
    Kind.PDF: "pdf",
    Kind.DOCX: "docx",
    Kind.XLSX: "xlsx",
    Kind.PPTX: "pptx",
    Kind.DOC: "doc",
    Kind.HTML: "html",
    Kind.MARKDOWN: "markdown",
    Kind.TEXT: "plain",
}


@dataclass(frozen=True, slots=True)
class Options:
    """`languages` are codes such as "nl", the likeliest first; `ocr` allows text recognition."""

    max_bytes: int
    languages: tuple[str, ...] = ()
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """Whether a file's reader starts other programs (tesseract), or threads (LibreOffice)."""

    programs: bool = False
    threads: bool = False


def needs_of(data: bytes, options: Options) -> Needs:
    try:
        kind = sniff(data)
    except ExtractionFailed:
        return Needs()
    return Needs(programs=kind is Kind.PDF and options.ocr, threads=kind is Kind.DOC)


def read(data: bytes, options: Options) -> ExtractedText:
    """Raises ExtractionFailed. It bounds size, not time or memory: see documents.ingestion.sandbox."""
    if len(data) > options.max_bytes:
        raise ExtractionFailed(
            FailureCode.TOO_LARGE,
            f"The file is {len(data) / 2**20:.1f} MB and the limit is "
            f"{options.max_bytes / 2**20:.1f} MB. Split it into parts, then upload them.",
        )
    kind = sniff(data)
    reader = import_module(f"documents.ingestion.extraction.{_READERS[kind]}")
    try:
        return reader.read(data, options)
    except (ExtractionFailed, MemoryError):
        raise
    except Exception as error:
        # Parsers raise nearly anything on a malformed file: KeyError, RecursionError, …
        raise ExtractionFailed(
            FailureCode.DAMAGED,
            "The file is damaged and cannot be read. Open it in the program it was made with, save "
            "it again, and upload the new file.",
        ) from error
