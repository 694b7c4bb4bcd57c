"""What a leg finds, and what retrieval hands on: ids and scores, no text."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one leg, with that leg's own score (BM25, or cosine)."""

    chunk_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk the reader may use, with the score of each leg that found it."""

    chunk_id: UUID
    score: float
    keyword: float | None
    cosine: float
