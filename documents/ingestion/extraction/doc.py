"""Legacy DOC: LibreOffice, where it is installed, makes a DOCX of it and that is read."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from documents.ingestion.extracted import ExtractedText, ExtractionFailed, FailureCode
from documents.ingestion.extraction import docx
from documents.ingestion.extraction.read import Options

_SECONDS = 90


def read(data: bytes, options: Options) -> ExtractedText:
    program = shutil.which("soffice")
    if program is None:
        raise ExtractionFailed(
            FailureCode.UNSUPPORTED,
            "The file is an old Word document (DOC), which cannot be read here. Save it as DOCX or "
            "PDF and upload that, or ask the operator to install LibreOffice.",
        )
    folder = Path(tempfile.mkdtemp())
    given, made = folder / "given.doc", folder / "given.docx"
    given.write_bytes(data)
    command = [
        program,
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        *("--headless", "--norestore", "--convert-to", "docx", "--outdir", str(folder), str(given)),
    ]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(  # noqa: S603 (names of ours only)
            command, capture_output=True, timeout=_SECONDS, check=False
        )
    if not made.exists():
        raise ExtractionFailed(
            FailureCode.DAMAGED,
            "The old Word document (DOC) could not be opened. Save it as DOCX or PDF with Word and "
            "upload that.",
        )
    return docx.read(made.read_bytes(), options)
