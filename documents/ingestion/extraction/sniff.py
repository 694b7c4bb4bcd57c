"""What a file is, by its content and never by its name. Cheap, and safe on any bytes."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from enum import StrEnum

from documents.ingestion.extracted import ExtractionFailed, FailureCode


class Kind(StrEnum):
    """The formats that are read; the value is the media type."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    DOC = "application/msword"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    TEXT = "text/plain"


ENDINGS = {
    Kind.PDF: "pdf",
    Kind.DOCX: "docx",
    Kind.XLSX: "xlsx",
    Kind.PPTX: "pptx",
    Kind.DOC: "doc",
    Kind.HTML: "html",
    Kind.MARKDOWN: "md",
    Kind.TEXT: "txt",
}
READABLE = "PDF, Word (DOCX, DOC), Excel (XLSX), PowerPoint (PPTX), HTML, Markdown and plain text"

_PDF_WINDOW = 1024  # viewers accept a little junk before the signature, and so do we
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_DIRECTORY = 2 * 1024 * 1024
_OFFICE = {"word/": Kind.DOCX, "xl/": Kind.XLSX, "ppt/": Kind.PPTX}
_MAIN_PARTS = re.compile(
    r"(word/)document\d*\.xml|(xl/)workbook\d*\.xml|(ppt/)presentation\d*\.xml"
)
_OTHERS = [
    (b"{\\rtf", "an RTF file", "Save it as DOCX or PDF and upload that."),
    (b"\x89PNG", "a picture", "Save it as a PDF and upload that."),
    (b"\xff\xd8\xff", "a picture", "Save it as a PDF and upload that."),
    (b"GIF8", "a picture", "Save it as a PDF and upload that."),
    (b"II*\x00", "a picture", "Save it as a PDF and upload that."),
    (b"MM\x00*", "a picture", "Save it as a PDF and upload that."),
    (b"MZ", "a program", "Upload the document itself."),
    (b"\x7fELF", "a program", "Upload the document itself."),
    (b"Rar!", "an archive", "Upload the documents it holds, one by one."),
    (b"7z\xbc\xaf", "an archive", "Upload the documents it holds, one by one."),
    (b"\x1f\x8b", "an archive", "Upload the documents it holds, one by one."),
]
_HTML_START = re.compile(
    r"(?:\s|<!--.{0,2000}?-->|<\?xml[^>]{0,200}\?>)*<(?:!doctype\s+html|html|head|body|title|meta"
    r"|div|table|article|section|main|h[1-6]|p)\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKDOWN_SIGNS = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^#{1,6} \S.*\n(?:\s*\n|[A-Za-z#|*-])",
        r"^\|?(?: *:?-{3,}:? *\|)+(?: *:?-{3,}:? *)?$",
        r"\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)",
        r"(?<!\w)\*\*[^*\n]{1,200}\*\*(?!\w)",
        r"^```",
    )
]


def sniff(data: bytes) -> Kind:
    """The kind of a file that can be read. Raises ExtractionFailed(UNSUPPORTED) for any other."""
    claims_pdf = b"%PDF-" in data[:_PDF_WINDOW]
    if data.startswith((_ZIP, _OLE)) or _other(data):
        if claims_pdf:
            raise _refuse(
                "The file is two kinds of file at once, a PDF and something else.",
                "Export the document again and upload the new file.",
            )
        return _packed(data)
    if claims_pdf:
        return Kind.PDF
    return _text(data)


def _packed(data: bytes) -> Kind:
    if other := _other(data):
        raise _refuse(f"The file is {other[0]}, which cannot be read.", other[1])
    return _office(data) if data.startswith(_ZIP) else _old_office(data)


def _other(data: bytes) -> tuple[str, str] | None:
    for signature, what, advice in _OTHERS:
        if data.startswith(signature):
            return what, advice
    return None


def _office(data: bytes) -> Kind:
    for name in _names(data):
        if found := _MAIN_PARTS.fullmatch(name):
            return _OFFICE[found[1] or found[2] or found[3]]
    raise _refuse(
        "The file is an archive, or of an office format that cannot be read.",
        "Upload the documents it holds one by one, or save it as DOCX, XLSX, PPTX or PDF.",
    )


def _names(data: bytes) -> list[str]:
    """The names in a ZIP file's directory; nothing is unpacked."""
    end = data.rfind(b"PK\x05\x06")
    if end < 0 or len(data) < end + 22:
        raise _damaged()
    (size,) = struct.unpack_from("<I", data, end + 12)
    if size > _MAX_DIRECTORY:
        raise ExtractionFailed(
            FailureCode.TOO_LARGE,
            "The file holds more parts than any document has. Export it again, then upload it.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except Exception as error:  # a torn directory raises nearly anything
        raise _damaged() from error


def _old_office(data: bytes) -> Kind:
    def holds(stream: str) -> bool:
        return stream.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        raise ExtractionFailed(
            FailureCode.ENCRYPTED,
            "The file needs a password to open. Save a copy without the password and upload that.",
        )
    if holds("WordDocument"):
        return Kind.DOC
    raise _refuse(
        "The file is of an old or unknown office format that cannot be read.",
        "Save it as DOCX, XLSX, PPTX or PDF and upload that.",
    )


def _text(data: bytes) -> Kind:
    from documents.ingestion.extraction.encodings import is_text

    start = data[:65_536]
    if not is_text(data):
        raise _refuse(
            "The file is of no kind that can be read, whatever its name says.",
            f"These are: {READABLE}.",
        )
    wide = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    words = start.decode("utf-16" if wide else "latin-1", "replace").lstrip("\ufeffï»¿")
    if _HTML_START.match(words):
        return Kind.HTML
    if words.lstrip().lower().startswith("<?xml"):
        raise _refuse("The file is XML data, not a document.", f"What can be read: {READABLE}.")
    words = words.replace("\r\n", "\n")
    return Kind.MARKDOWN if any(sign.search(words) for sign in _MARKDOWN_SIGNS) else Kind.TEXT


def _refuse(what: str, advice: str) -> ExtractionFailed:
    return ExtractionFailed(FailureCode.UNSUPPORTED, f"{what} {advice}")


def _damaged() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.DAMAGED,
        "The file is damaged and cannot be opened. Save the document again and upload the new file.",
    )
