"""The transparent reranker: a weighted sum that can be recomputed by hand from two numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self
from uuid import UUID

from answers.evidence import Evidence
from answers.terms import QuestionTerms, question_terms

__all__ = ["QuestionTerms", "RankingSettings", "question_terms", "rerank"]


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """Part of an index generation. The two weights must add up to 1.

    ``threshold`` only drops what is hopeless: no score separates answerable questions from
    unanswerable ones, so whether to answer is decided by the generator, not here.
    """

    cosine_weight: float = 0.7
    coverage_weight: float = 0.3
    threshold: float = 0.1
    max_overlap: float = 0.5
    max_chunks: int = 8

    def __post_init__(self) -> None:
        if abs(self.cosine_weight + self.coverage_weight - 1) > 1e-9:
            raise ValueError("cosine_weight and coverage_weight must add up to 1")
        if min(self.cosine_weight, self.coverage_weight) < 0:
            raise ValueError("cosine_weight and coverage_weight must not be negative")
        if not 0 <= self.max_overlap <= 1:
            raise ValueError("max_overlap is a share: between 0 and 1")
        if self.max_chunks < 1:
            raise ValueError("max_chunks must be at least 1")

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Missing fields take their defaults; an unknown field raises ValueError."""
        known = {f.name: type(f.default) for f in fields(cls)}
        if unknown := sorted(set(value) - set(known)):
            raise ValueError(f"unknown ranking settings: {', '.join(unknown)}")
        return cls(**{name: known[name](number) for name, number in value.items()})

    def to_json(self) -> dict[str, float | int]:
        return asdict(self)


def rerank(
    *,
    terms: QuestionTerms,
    evidence: Sequence[Evidence],
    cosines: Mapping[UUID, float],
    settings: RankingSettings,
) -> list[Evidence]:
    """The best evidence first, numbered from 1, with ``score`` and ``cosine`` filled in.

    ``cosines`` maps chunk ids to similarities; a chunk that is not in it keeps the cosine it
    carries. Negative similarities count as 0.
    """
    scored = [_scored(chunk, terms=terms, cosines=cosines, settings=settings) for chunk in evidence]
    scored = [chunk for chunk in scored if chunk.score >= settings.threshold]
    scored.sort(key=lambda chunk: (-chunk.score, -chunk.cosine, str(chunk.chunk_id)))
    kept: list[Evidence] = []
    for chunk in scored:
        if len(kept) == settings.max_chunks:
            break
        if not any(_overlap(chunk, better) > settings.max_overlap for better in kept):
            kept.append(replace(chunk, number=len(kept) + 1))
    return kept


def _scored(
    chunk: Evidence,
    *,
    terms: QuestionTerms,
    cosines: Mapping[UUID, float],
    settings: RankingSettings,
) -> Evidence:
    cosine = min(1.0, max(0.0, float(cosines.get(chunk.chunk_id, chunk.cosine))))
    coverage = terms.coverage(
        f"{chunk.title}\n{chunk.section}\n{chunk.context}\n{chunk.text}", chunk.language
    )
    score = settings.cosine_weight * cosine + settings.coverage_weight * coverage
    return replace(chunk, cosine=cosine, score=score)


def _overlap(one: Evidence, other: Evidence) -> float:
    """The share of the shorter chunk's characters that the other one has too."""
    if one.version_id != other.version_id:
        return 0.0
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return max(0, shared) / shorter if shorter > 0 else 0.0
