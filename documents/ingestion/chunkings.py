"""The ways of cutting a text into passages, by the name that an index generation keeps."""

from __future__ import annotations

from collections.abc import Callable

from documents.ingestion.chunk import ChunkSpan, split
from documents.ingestion.extracted import ExtractedText
from documents.ingestion.sections import split_sections

Chunker = Callable[[ExtractedText], list[ChunkSpan]]

# A name stands for exactly one behaviour: what changes the passages of a text gets a new one.
CHUNKERS: dict[str, Chunker] = {"fixed-250-40": split, "sections-1": split_sections}


class UnknownChunking(Exception):
    """A generation names a chunking that this release does not have."""


def chunker(name: str) -> Chunker:
    """Raises UnknownChunking."""
    try:
        return CHUNKERS[name]
    except KeyError:
        raise UnknownChunking(
            f"There is no chunking named {name!r}. Choose one of {', '.join(CHUNKERS)}, and build "
            "a new generation with it."
        ) from None
