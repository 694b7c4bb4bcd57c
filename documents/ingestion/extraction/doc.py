"""Legacy DOC: LibreOffice, where it is installed, makes a DOCX of it and that is read.

It is used as a library, through its C interface (LibreOfficeKit): the program would want local
sockets and other programs, which a reader may not have.
"""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from pathlib import Path

from documents.ingestion.extracted import ExtractedText, ExtractionFailed, FailureCode
from documents.ingestion.extraction import docx
from documents.ingestion.extraction.read import Options

_LIBRARIES = ("libmergedlo.so", "libsofficeapp.so")  # Debian's name, and the one of its makers


def read(data: bytes, options: Options) -> ExtractedText:
    library = find_library()
    if library is None:
        raise ExtractionFailed(
            FailureCode.UNSUPPORTED,
            "The file is an old Word document (DOC), which cannot be read here. Save it as DOCX or "
            "PDF and upload that, or ask the operator to install LibreOffice.",
        )
    folder = Path(tempfile.mkdtemp())
    given, made = folder / "given.doc", folder / "given.docx"
    given.write_bytes(data)
    if not _converted(library, given, made, profile=folder / "profile"):
        raise ExtractionFailed(
            FailureCode.DAMAGED,
            "The old Word document (DOC) could not be opened. Save it as DOCX or PDF with Word and "
            "upload that.",
        )
    return docx.read(made.read_bytes(), options)


def find_library() -> Path | None:
    """Where LibreOffice is installed, the library with its C interface."""
    program = shutil.which("soffice")
    if program is None:
        return None
    folder = Path(program).resolve().parent
    return next((folder / name for name in _LIBRARIES if (folder / name).exists()), None)


# The first members of the structures in LibreOfficeKit.h, whose order never changes.


class _Document(ctypes.Structure):
    pass


class _DocumentCalls(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("destroy", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Document))),
        (
            "save_as",
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Document), *[ctypes.c_char_p] * 3),
        ),
    )


_Document._fields_ = (("calls", ctypes.POINTER(_DocumentCalls)),)


class _Office(ctypes.Structure):
    pass


class _OfficeCalls(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("destroy", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Office))),
        (
            "load",
            ctypes.CFUNCTYPE(ctypes.POINTER(_Document), ctypes.POINTER(_Office), ctypes.c_char_p),
        ),
    )


_Office._fields_ = (("calls", ctypes.POINTER(_OfficeCalls)),)


def _converted(library: Path, given: Path, made: Path, *, profile: Path) -> bool:
    start = ctypes.CDLL(str(library)).libreofficekit_hook_2
    start.restype, start.argtypes = ctypes.POINTER(_Office), [ctypes.c_char_p, ctypes.c_char_p]
    office = start(str(library.parent).encode(), profile.as_uri().encode())
    if not office:
        return False
    document = office.contents.calls.contents.load(office, given.as_uri().encode())
    if not document:
        return False
    save_as = document.contents.calls.contents.save_as
    return bool(save_as(document, made.as_uri().encode(), b"docx", None)) and made.exists()
