"""What every embedder promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class EmbedderUnavailable(Exception):
    """No vectors can be had now; the message says why and what to do."""


class Embedder(Protocol):
    """Vectors are float32 and of length 1, so a dot product is a cosine.

    `version` changes whenever the same text may give another vector. Passages and queries have
    different sides in some models: never embed one as the other. U+0000 in a text is ignored.
    Methods and the properties `version` and `dims` raise EmbedderUnavailable.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Shape (len(texts), dims), in order; (0, dims) for no texts."""
        ...

    def embed_query(self, text: str) -> np.ndarray:
        """Shape (dims,)."""
        ...


def unit(vectors: np.ndarray, *, maker: str) -> np.ndarray:
    """Rows scaled to length 1. A zero or non-finite row has no direction: it raises."""
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise EmbedderUnavailable(
            f"{maker} returned a vector without direction. Check the model, then try again."
        )
    return vectors / lengths


def without_nul(text: str) -> str:
    """C strings end at U+0000: a model behind one would silently see half the text."""
    return text.replace("\x00", "")
