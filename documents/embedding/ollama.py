"""Embedding by an Ollama server: the production path."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import httpx
import numpy as np
import ollama

from documents.embedding.base import EmbedderUnavailable, unit, without_nul

Reply = TypeVar("Reply")

BATCH_SIZE = 32
CONNECT_SECONDS = 5.0
# A batch on a CPU-only server, with the model still to be loaded, takes this long in earnest.
REPLY_SECONDS = 120.0

# Models trained with a prefix for each side lose much of their accuracy without it.
_PREFIXES = {"nomic-embed-text": ("search_query: ", "search_document: ")}


class OllamaEmbedder:
    """`model` as Ollama names it, with or without a tag; `host` defaults to OLLAMA_HOST.

    The number of dimensions is asked of the model, never assumed. Redirects are not followed:
    text goes to the configured host and nowhere else.
    """

    def __init__(
        self, *, model: str, host: str | None = None, reply_seconds: float = REPLY_SECONDS
    ) -> None:
        self.name = f"ollama:{model}"
        self._model = model
        self._host = host
        self._timeout = httpx.Timeout(reply_seconds, connect=CONNECT_SECONDS)
        self._query_prefix, self._passage_prefix = _PREFIXES.get(model.split(":")[0], ("", ""))
        self._dims: int | None = None
        self._digest: str | None = None
        self._client: ollama.Client | None = None
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)

    @property
    def version(self) -> str:
        """The name with the digest of the weights the server holds under it."""
        if self._digest is None:
            listed = self._call(lambda client: client.list()).models
            digests = {model.model: model.digest for model in listed}
            tagged = self._model if ":" in self._model else f"{self._model}:latest"
            if not digests.get(tagged):
                raise EmbedderUnavailable(self._missing_model())
            self._digest = digests[tagged]
        return f"{self.name}@{self._digest[:16]}"

    @property
    def dims(self) -> int:
        if self._dims is None:
            self._embed(["dimensions"])
        return self._dims

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        prefixed = [self._passage_prefix + without_nul(text) for text in texts]
        batches = [
            self._embed(prefixed[first : first + BATCH_SIZE])
            for first in range(0, len(prefixed), BATCH_SIZE)
        ]
        return np.concatenate(batches)

    def embed_query(self, text: str) -> np.ndarray:
        return self._embed([self._query_prefix + without_nul(text)])[0]

    def _embed(self, texts: list[str]) -> np.ndarray:
        reply = self._call(lambda client: client.embed(model=self._model, input=texts))
        vectors = [list(vector) for vector in reply.embeddings]
        lengths = {len(vector) for vector in vectors}
        if len(vectors) != len(texts) or len(lengths) != 1 or 0 in lengths:
            raise EmbedderUnavailable(
                f"{self._who()} returned {len(vectors)} vectors of {sorted(lengths)} dimensions "
                f"for {len(texts)} texts. Check that {self._model} is an embedding model."
            )
        dims = lengths.pop()
        if self._dims not in (None, dims):
            raise EmbedderUnavailable(
                f"{self._who()} now returns {dims} dimensions for {self._model}, before it was "
                f"{self._dims}. The model was replaced: build a new index generation."
            )
        self._dims = dims
        return unit(np.array(vectors, dtype=np.float32), maker=self._who())

    def _call(self, ask: Callable[[ollama.Client], Reply]) -> Reply:
        try:
            return ask(self._connected())
        except ollama.ResponseError as error:
            if error.status_code == 404:
                raise EmbedderUnavailable(self._missing_model()) from error
            raise EmbedderUnavailable(
                f"{self._who()} answered with status {error.status_code}: {error.error[:200]}. "
                "Look into its log, then try again."
            ) from error
        except httpx.TimeoutException as error:
            raise EmbedderUnavailable(
                f"{self._who()} did not answer within {self._timeout.read:g} s. It may be loading "
                "the model or be overloaded: try again later."
            ) from error
        except (ConnectionError, httpx.HTTPError) as error:
            raise EmbedderUnavailable(
                f"{self._who()} cannot be reached ({error}). Start it, or correct OLLAMA_HOST."
            ) from error
        except (ValueError, TypeError) as error:
            raise EmbedderUnavailable(
                f"{self._who()} sent a reply that is not Ollama's. Check what OLLAMA_HOST points "
                "to."
            ) from error

    def _connected(self) -> ollama.Client:
        with self._lock:
            if self._client is None:
                self._client = ollama.Client(
                    host=self._host, timeout=self._timeout, follow_redirects=False
                )
            return self._client

    def _who(self) -> str:
        return f"Ollama at {self._host or 'its default address'}"

    def _missing_model(self) -> str:
        return f"{self._who()} has no model named {self._model}. Run: ollama pull {self._model}"

    def _after_fork(self) -> None:
        # Two processes must not read replies from one connection.
        self._client = None
        self._lock = threading.Lock()
