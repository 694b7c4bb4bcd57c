"""Prompt texts. A version that was ever served is never edited: copy it under the next number."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Prompt:
    """``version`` is the name and the first 12 hex digits of the text's SHA-256."""

    name: str
    text: str
    digest: str

    @property
    def version(self) -> str:
        return f"{self.name}+{self.digest[:12]}"


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt stored as ``NAME.txt``. Raises FileNotFoundError for an unknown name."""
    raw = (Path(__file__).parent / f"{name}.txt").read_bytes()
    return Prompt(name=name, text=raw.decode("utf-8"), digest=hashlib.sha256(raw).hexdigest())
