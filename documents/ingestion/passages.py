"""What an index generation will hold of a version's text: passages with language and vector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from documents.generations import pinned_embedder
from documents.models import DocumentVersion, IndexGeneration
from tenants.selectors import current_tenant

from .chunk import ChunkSpan, chunk_id
from .embed import embed_chunks
from .language import detect_language
from .reuse import known_vectors


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk ready to be published."""

    id: UUID
    span: ChunkSpan
    language: str
    vector: np.ndarray


@dataclass(frozen=True, slots=True)
class Passages:
    """All of a version for one generation; ``embedded`` counts those without a vector before."""

    built: list[Passage]
    embedded: int


def make_passages(
    *,
    version: DocumentVersion,
    generation: IndexGeneration,
    chunks: Sequence[ChunkSpan],
    language: str,
    done: Callable[[int], None],
) -> Passages:
    """Detect languages, with `language` where a passage does not tell, and embed what is new.

    `done` is called after each batch with the number finished. Raises EmbedderUnavailable.
    """
    languages = _languages_of(chunks, default=language)
    known = known_vectors(chunks, languages=languages, version=version, generation=generation)
    vectors = embed_chunks(chunks, embedder=pinned_embedder(generation), done=done, known=known)
    return Passages(
        built=[
            Passage(
                id=chunk_id(
                    version_id=version.id, chunking=generation.chunking, ordinal=chunk.ordinal
                ),
                span=chunk,
                language=spoken,
                vector=vector,
            )
            for chunk, spoken, vector in zip(chunks, languages, vectors, strict=True)
        ],
        embedded=sum(one is None for one in known),
    )


def _languages_of(chunks: Sequence[ChunkSpan], *, default: str) -> list[str]:
    """Each passage's own language, among the tenant's."""
    among = current_tenant().languages
    return [detect_language(chunk.text, among=among, default=default) for chunk in chunks]
