"""Read a file without the sandbox and look at what its parts are."""

from __future__ import annotations

from documents.ingestion.extracted import BlockKind, ExtractedText
from documents.ingestion.extraction.read import Options, read

OPTIONS = Options(max_bytes=20 * 2**20, languages=("en", "nl", "fr", "de"))


def read_file(data: bytes, **changes) -> ExtractedText:
    return read(data, Options(**{"max_bytes": OPTIONS.max_bytes, **changes}))


def parts(extracted: ExtractedText, *kinds: BlockKind) -> list[str]:
    return [
        extracted.text[block.start : block.end]
        for block in extracted.blocks
        if not kinds or block.kind in kinds
    ]


def kinds(extracted: ExtractedText) -> list[tuple[str, str]]:
    return [(str(b.kind), extracted.text[b.start : b.end]) for b in extracted.blocks]
