"""Documents and their versions, who may read them, and what the indexes hold of them."""

from .document import Document, DocumentVersion, FailureCode, Grant, LifeCycle, VersionStatus
from .index import (
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    CorpusStatistics,
    GenerationStatus,
    IndexGeneration,
    ShadowComparison,
    TermStatistics,
)
from .outbox import EventKind, OutboxEvent

__all__ = [
    "Chunk",
    "ChunkEmbedding",
    "ChunkTerm",
    "CorpusStatistics",
    "Document",
    "DocumentVersion",
    "EventKind",
    "FailureCode",
    "GenerationStatus",
    "Grant",
    "IndexGeneration",
    "LifeCycle",
    "OutboxEvent",
    "ShadowComparison",
    "TermStatistics",
    "VersionStatus",
]
