"""The keyword leg: BM25 in one statement, with the permission predicate inside."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from documents.models import IndexGeneration
from tenants.scope import current_tenant_id

from .hits import Hit
from .ranking import Ranking
from .terms import IDENTIFIER

# Robertson/Spärck Jones idf with +1 inside the logarithm, so that it is never negative.
STATEMENT = """
WITH readable AS MATERIALIZED (SELECT version_id FROM documents_readable(%(reader)s)),
corpus AS MATERIALIZED (
    SELECT chunk_count::float AS n, total_length::float / chunk_count AS average_length
    FROM documents_corpusstatistics
    WHERE tenant_id = %(tenant)s AND generation_id = %(generation)s AND chunk_count > 0
),
wanted AS MATERIALIZED (
    SELECT s.term,
           ln(1 + (n - document_frequency + 0.5) / (document_frequency + 0.5))
             * CASE WHEN s.term LIKE %(identifier)s THEN %(boost)s ELSE 1 END AS weight
    FROM documents_termstatistics s, corpus
    WHERE s.tenant_id = %(tenant)s AND s.generation_id = %(generation)s
      AND s.term = ANY(%(terms)s) AND s.document_frequency > 0
)
SELECT t.chunk_id,
       sum(w.weight * t.tf * (%(k1)s + 1)
           / (t.tf + %(k1)s * (1 - %(b)s + %(b)s * t.length / c.average_length))) AS score
FROM wanted w
JOIN documents_chunkterm t ON t.generation_id = %(generation)s AND t.term = w.term
                          AND t.tenant_id = %(tenant)s
CROSS JOIN corpus c
-- IS TRUE keeps this a hashed look-up: as a semi-join the planner picks a nested loop, seven times slower.
WHERE (t.version_id IN (SELECT version_id FROM readable)) IS TRUE
GROUP BY t.chunk_id
ORDER BY score DESC, t.chunk_id
LIMIT %(limit)s
"""


def keyword_leg(
    *, reader: UUID, generation: IndexGeneration, ranking: Ranking, terms: Sequence[str]
) -> list[Hit]:
    """The best chunks this reader may use by BM25, best first; none when there is no term."""
    if not terms:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            STATEMENT,
            {
                "reader": reader,
                "tenant": current_tenant_id(),
                "generation": generation.id,
                "terms": list(terms),
                "identifier": IDENTIFIER + "%",
                "boost": ranking.identifier_boost,
                "k1": ranking.k1,
                "b": ranking.b,
                "limit": ranking.leg_size,
            },
        )
        return [Hit(chunk_id=row[0], score=row[1]) for row in cursor.fetchall()]
