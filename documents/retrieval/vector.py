"""The vector leg: cosine over pgvector in one statement, with the permission predicate inside.

Which plan to use is decided here, never by the planner: an index scan that filters afterwards
silently returns too few rows (see docs/adr/0003).
"""

from collections.abc import Sequence
from enum import StrEnum
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from pgvector import HalfVector

from documents.models import IndexGeneration
from tenants.scope import current_tenant_id

from .hits import Hit
from .ranking import Ranking

# Comparing this many vectors one by one stays under 50 ms (p95) on two cores.
EXACT_UP_TO_CHUNKS = 45_000
# An approximate scan reads more than it needs and is sorted again by exact distance.
HNSW_OVERSAMPLING = 2


class Plan(StrEnum):
    EXACT = "exact"
    HNSW = "hnsw"


EXACT = """
SELECT e.chunk_id, 1 - (e.vector::halfvec({dims}) <=> %(query)s::halfvec({dims})) AS cosine
FROM documents_chunkembedding e
WHERE e.tenant_id = %(tenant)s AND e.generation_id = %(generation)s AND e.live
  AND e.document_id = ANY(ARRAY(SELECT document_id FROM documents_readable(%(reader)s)))
  {only_these}
ORDER BY cosine DESC, e.chunk_id
LIMIT %(limit)s
"""
ONLY_THESE = "AND e.chunk_id = ANY(%(chunks)s)"

HNSW = """
SELECT chunk_id, cosine FROM (
    SELECT e.chunk_id, 1 - (e.vector::halfvec({dims}) <=> %(query)s::halfvec({dims})) AS cosine
    FROM documents_chunkembedding e
    WHERE e.tenant_id = %(tenant)s AND e.generation_id = %(generation)s AND e.live
      AND e.document_id = ANY(ARRAY(SELECT document_id FROM documents_readable(%(reader)s)))
    ORDER BY e.vector::halfvec({dims}) <=> %(query)s::halfvec({dims})
    LIMIT %(limit)s * {oversampling}
) nearest ORDER BY cosine DESC, chunk_id LIMIT %(limit)s
"""

# Relaxed iteration keeps reading the graph until enough permitted rows were met.
HNSW_SETTINGS = (
    "SET LOCAL hnsw.iterative_scan = relaxed_order",
    "SET LOCAL hnsw.ef_search = 100",
    "SET LOCAL hnsw.max_scan_tuples = 100000",
    "SET LOCAL enable_sort = off",
    "SET LOCAL enable_seqscan = off",
    "SET LOCAL enable_bitmapscan = off",
)


def vector_leg(
    *,
    reader: UUID,
    generation: IndexGeneration,
    ranking: Ranking,
    query: np.ndarray,
    plan: Plan | None = None,
) -> list[Hit]:
    """The nearest chunks this reader may use, best first. `plan` overrides the choice, for tests."""
    chosen = plan or choose_plan(reader=reader)
    limit = ranking.leg_size
    if chosen == Plan.HNSW:
        hits = scan_graph(reader=reader, generation=generation, limit=limit, query=query)
        if len(hits) == limit:
            return hits
        # The scan ended before it met everything the reader may use; that is not "no more".
    return _run(EXACT, reader, generation, limit, query)


def scan_graph(
    *, reader: UUID, generation: IndexGeneration, limit: int, query: np.ndarray
) -> list[Hit]:
    """The HNSW scan alone: approximate, and it may end early."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            for setting in HNSW_SETTINGS:
                cursor.execute(setting)
        return _run(HNSW, reader, generation, limit, query)


def choose_plan(*, reader: UUID) -> Plan:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(v.chunk_count), 0) FROM documents_documentversion v"
            " WHERE v.id IN (SELECT version_id FROM documents_readable(%s))",
            [reader],
        )
        permitted = cursor.fetchone()[0]
    return Plan.EXACT if permitted <= EXACT_UP_TO_CHUNKS else Plan.HNSW


def cosines(
    *, reader: UUID, generation: IndexGeneration, query: np.ndarray, chunk_ids: Sequence[UUID]
) -> dict[UUID, float]:
    """Cosines of chunks the other leg found, for those the reader may use.

    Also asked for none, so that a search is the same statements whatever its legs found.
    """
    hits = _run(EXACT, reader, generation, len(chunk_ids), query, chunks=list(chunk_ids))
    return {hit.chunk_id: hit.score for hit in hits}


def _run(
    statement: str,
    reader: UUID,
    generation: IndexGeneration,
    limit: int,
    query: np.ndarray,
    chunks: Sequence[UUID] | None = None,
) -> list[Hit]:
    sql = statement.format(
        dims=int(generation.dims),
        oversampling=HNSW_OVERSAMPLING,
        only_these="" if chunks is None else ONLY_THESE,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            sql,
            {
                "reader": reader,
                "tenant": current_tenant_id(),
                "generation": generation.id,
                "query": HalfVector(query).to_text(),
                "limit": limit,
                "chunks": list(chunks or ()),
            },
        )
        return [Hit(chunk_id=row[0], score=row[1]) for row in cursor.fetchall()]
