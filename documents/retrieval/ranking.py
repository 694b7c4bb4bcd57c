"""How an index generation ranks: part of the generation, never of the code."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Fusion(StrEnum):
    LINEAR = "linear"
    RRF = "rrf"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Raises TypeError or ValueError when a stored generation does not fit the code.

    fusion: linear blends min-max scores with `vector_weight`; rrf sums 1 / (rrf_k + rank).
    leg_size: rows each leg returns. max_candidates: ids handed to the authority.
    k1, b: BM25's saturation and length normalisation. identifier_boost: factor on exact codes.
    rerank: settings of the reranker, opaque here.
    """

    fusion: Fusion = Fusion.LINEAR
    vector_weight: float = 0.5
    rrf_k: int = 60
    leg_size: int = 30
    max_candidates: int = 40
    k1: float = 1.5
    b: float = 0.75
    identifier_boost: float = 3.0
    rerank: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Ranking":
        values = dict(value)
        values["fusion"] = Fusion(values.get("fusion", Fusion.LINEAR))
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
