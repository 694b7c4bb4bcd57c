"""A file's bytes become text with pages and structure, or a failure that a person can act on."""

from collections.abc import Sequence

from documents.ingestion.extracted import ExtractedText
from documents.ingestion.extraction.read import Options
from documents.ingestion.sandbox import read_apart

MAX_BYTES = 20 * 1024 * 1024


def extract(
    data: bytes, *, languages: Sequence[str] = (), ocr: bool = False, max_bytes: int = MAX_BYTES
) -> ExtractedText:
    """Read a file of any kind in the sandbox. `languages` are those its text may be in.

    Raises ExtractionFailed.
    """
    options = Options(max_bytes=max_bytes, languages=tuple(languages), ocr=ocr)
    return read_apart(data, options=options)
