"""Admitted text. Whoever holds an Evidence got it from the authority; there is no other source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Evidence:
    """One admitted chunk, numbered as the answer will cite it.

    ``number`` counts from 1. ``start`` and ``end`` are code-point offsets of ``text`` in the
    version's extracted text. ``score`` is the reranking score, ``cosine`` the similarity of the
    question's and the chunk's vectors; both lie between 0 and 1. ``context`` is what the chunk stands
    under, such as its headings: it tells what the text is about, and is never quoted.
    """

    number: int
    chunk_id: UUID
    document_id: UUID
    version_id: UUID
    version_number: int
    title: str
    reference: str
    text: str
    start: int
    end: int
    page: int
    section: str
    language: str
    effective_date: date | None
    withdrawn_date: date | None
    life_cycle: str
    score: float
    cosine: float
    context: str = ""
