"""Passages become vectors, in batches, telling how far it is."""

from collections.abc import Callable, Sequence

import numpy as np

from documents.embedding import Embedder

from .chunk import ChunkSpan

BATCH = 8


def embed_chunks(
    chunks: Sequence[ChunkSpan], *, embedder: Embedder, done: Callable[[int], None]
) -> np.ndarray:
    """Shape (len(chunks), dims). `done` is called after each batch with the number finished.

    Raises EmbedderUnavailable.
    """
    batches = []
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        batches.append(embedder.embed_passages([chunk.text for chunk in batch]))
        done(start + len(batch))
    return np.concatenate(batches) if batches else np.zeros((0, embedder.dims), np.float32)
