"""Passages become vectors, in batches, telling how far it is."""

from collections.abc import Callable, Sequence

import numpy as np

from documents.embedding import Embedder

from .chunk import ChunkSpan

BATCH = 8


def embed_chunks(
    chunks: Sequence[ChunkSpan],
    *,
    embedder: Embedder,
    done: Callable[[int], None],
    known: Sequence[np.ndarray | None] = (),
) -> np.ndarray:
    """Shape (len(chunks), dims). `done` is called after each batch with the number finished.

    `known` has one entry per chunk: its vector where there is one already. Raises
    EmbedderUnavailable.
    """
    vectors = list(known) or [None] * len(chunks)
    fresh = [at for at, vector in enumerate(vectors) if vector is None]
    kept = len(chunks) - len(fresh)
    for start in range(0, len(fresh), BATCH):
        batch = fresh[start : start + BATCH]
        made = embedder.embed_passages([chunks[at].embedded_text for at in batch])
        for at, vector in zip(batch, made, strict=True):
            vectors[at] = vector
        done(kept + start + len(batch))
    return np.stack(vectors) if vectors else np.zeros((0, embedder.dims), np.float32)
