"""Two ranked lists become one. Which way, and with what weight, the index generation says."""

from collections.abc import Sequence
from uuid import UUID

from .hits import Hit
from .ranking import Fusion, Ranking


def fuse(
    *, keyword: Sequence[Hit], vector: Sequence[Hit], ranking: Ranking
) -> list[tuple[UUID, float]]:
    """(chunk, fused score), best first, ties broken by id, at most `max_candidates`."""
    blend = _reciprocal_rank if ranking.fusion == Fusion.RRF else _linear
    scores = blend(keyword, vector, ranking)
    ordered = sorted(scores.items(), key=lambda item: (-item[1], str(item[0])))
    return ordered[: ranking.max_candidates]


def _reciprocal_rank(
    keyword: Sequence[Hit], vector: Sequence[Hit], ranking: Ranking
) -> dict[UUID, float]:
    """Reciprocal rank fusion: the sum of 1 / (k + rank), rank counting from 1 (Cormack et al., 2009)."""
    scores: dict[UUID, float] = {}
    for leg in (keyword, vector):
        for rank, hit in enumerate(leg, start=1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (ranking.rrf_k + rank)
    return scores


def _linear(keyword: Sequence[Hit], vector: Sequence[Hit], ranking: Ranking) -> dict[UUID, float]:
    """(1 - w) · keyword + w · vector, each min-max scaled over the question's own list."""
    scores: dict[UUID, float] = {}
    for leg, weight in ((keyword, 1 - ranking.vector_weight), (vector, ranking.vector_weight)):
        for chunk_id, scaled in _min_max(leg):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight * scaled
    return scores


def _min_max(leg: Sequence[Hit]) -> list[tuple[UUID, float]]:
    if not leg:
        return []
    lowest, highest = min(hit.score for hit in leg), max(hit.score for hit in leg)
    span = highest - lowest
    return [(hit.chunk_id, (hit.score - lowest) / span if span > 0 else 1.0) for hit in leg]
