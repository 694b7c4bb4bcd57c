"""What a former version of the same document has a vector for is not embedded again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from documents.models import ChunkEmbedding, DocumentVersion, IndexGeneration

from .chunk import ChunkSpan


def known_vectors(
    chunks: Sequence[ChunkSpan],
    *,
    languages: Sequence[str],
    version: DocumentVersion,
    generation: IndexGeneration,
) -> list[np.ndarray | None]:
    """For each passage the vector that the generation has of the same words in another version.

    A generation has one embedder, so the vector still holds.
    """
    keys = [
        _key(language, chunk.embedded_text)
        for chunk, language in zip(chunks, languages, strict=True)
    ]
    wanted = set(keys)
    stored = (
        ChunkEmbedding.objects.filter(generation=generation, document_id=version.document_id)
        .exclude(version=version)
        .values_list("chunk__language", "chunk__context", "chunk__text", "vector")
    )
    known: dict[bytes, np.ndarray] = {}
    for language, context, text, vector in stored.iterator():
        key = _key(language, f"{context}\n{text}" if context else text)
        if key in wanted:
            known[key] = np.asarray(vector, dtype=np.float32)
    return [known.get(key) for key in keys]


def _key(language: str, embedded_text: str) -> bytes:
    return hashlib.sha256(f"{language}\n{embedded_text}".encode()).digest()
