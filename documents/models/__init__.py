"""Documents and their versions, who may read them, and what the indexes hold of them."""

from .document import (
    UNFINISHED,
    Document,
    DocumentVersion,
    FailureCode,
    Grant,
    LifeCycle,
    Priority,
    VersionStatus,
)
from .duplicate import (
    DuplicateFinding,
    InventoryEntry,
    Likeness,
    TextBand,
    TextProfile,
    Verdict,
)
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
    "UNFINISHED",
    "Chunk",
    "ChunkEmbedding",
    "ChunkTerm",
    "CorpusStatistics",
    "Document",
    "DocumentVersion",
    "DuplicateFinding",
    "EventKind",
    "FailureCode",
    "GenerationStatus",
    "Grant",
    "IndexGeneration",
    "InventoryEntry",
    "LifeCycle",
    "Likeness",
    "OutboxEvent",
    "Priority",
    "ShadowComparison",
    "TermStatistics",
    "TextBand",
    "TextProfile",
    "Verdict",
    "VersionStatus",
]
