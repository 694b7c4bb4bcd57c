"""How well the best passage on each side of the reader's permission fits a question: two numbers.

The only query of the product that looks past a permission. It runs for tenants that chose to tell
people when access is missing (see answers.refusals), and lets out no text, id or count.
"""

from dataclasses import dataclass

from django.db import DatabaseError, connection
from pgvector import HalfVector

from documents.embedding import EmbedderUnavailable
from documents.generations import pinned_embedder, serving_generation
from documents.models.document import CITABLE
from tenants.models import User
from tenants.scope import current_tenant_id
from tenants.selectors import current_tenant

from .search import SearchUnavailable
from .terms import IDENTIFIER, question_terms

# Coverage: the share of the question's terms, by how rare they are, that a passage has. A passage's
# score needs no more than that and its cosine, so no text is read. On the restricted side a passage
# counts only when it covers most of the question: what is merely near it proves nothing.
STATEMENT = """
WITH readable AS MATERIALIZED (SELECT version_id FROM documents_readable(%(reader)s)),
citable AS MATERIALIZED (
    SELECT d.current_version_id AS version_id,
           EXISTS (SELECT FROM readable r WHERE r.version_id = d.current_version_id) AS permitted
    FROM documents_document d
    WHERE d.tenant_id = %(tenant)s AND d.deleted_at IS NULL
      AND d.life_cycle = ANY(%(citable)s) AND d.current_version_id IS NOT NULL
),
wanted AS MATERIALIZED (
    SELECT term, split_part(term, ':', 1) AS language,
           ln(1 + (c.chunk_count - coalesce(s.document_frequency, 0) + 0.5)
                  / (coalesce(s.document_frequency, 0) + 0.5)) AS weight
    FROM unnest(%(terms)s::text[]) term
    JOIN documents_corpusstatistics c
      ON c.tenant_id = %(tenant)s AND c.generation_id = %(generation)s
    LEFT JOIN documents_termstatistics s USING (term, generation_id, tenant_id)
),
covered AS MATERIALIZED (
    SELECT t.chunk_id, v.permitted,
           sum(w.weight) / (
               SELECT sum(a.weight) FROM wanted a WHERE a.language IN (k.language, %(exact)s)
           ) AS coverage
    FROM wanted w
    JOIN documents_chunkterm t ON t.tenant_id = %(tenant)s AND t.term = w.term
                              AND t.generation_id = %(generation)s
    JOIN citable v ON v.version_id = t.version_id
    JOIN documents_chunk k ON k.id = t.chunk_id
    GROUP BY t.chunk_id, v.permitted, k.language
),
scored AS (
    SELECT c.permitted, %(cosine_weight)s * greatest(0, 1 - (
               e.vector::halfvec({dims}) <=> %(query)s::halfvec({dims})))
           + %(coverage_weight)s * c.coverage AS score
    FROM covered c
    JOIN documents_chunkembedding e ON e.chunk_id = c.chunk_id
         AND e.tenant_id = %(tenant)s AND e.generation_id = %(generation)s AND e.live
    WHERE c.permitted OR c.coverage >= %(least_coverage)s
)
SELECT max(score) FILTER (WHERE permitted), max(score) FILTER (WHERE NOT permitted) FROM scored
"""
LEAST_COVERAGE = 0.6


@dataclass(frozen=True, slots=True)
class BestScores:
    """0 to 1; 0 where no passage counts."""

    permitted: float
    restricted: float


def best_scores(
    *, user: User, question: str, cosine_weight: float, coverage_weight: float
) -> BestScores:
    """The best weighted score of a passage this person may use, and of one he may not.

    Raises SearchUnavailable when the embedder or the database fails.
    """
    try:
        return _best_scores(user, question, cosine_weight, coverage_weight)
    except (EmbedderUnavailable, DatabaseError) as error:
        raise SearchUnavailable(str(error)) from error


def _best_scores(
    user: User, question: str, cosine_weight: float, coverage_weight: float
) -> BestScores:
    generation = serving_generation()
    terms = question_terms(question, current_tenant().languages)
    query = pinned_embedder(generation).embed_query(question)
    with connection.cursor() as cursor:
        cursor.execute(
            STATEMENT.format(dims=int(generation.dims)),
            {
                "reader": user.id,
                "tenant": current_tenant_id(),
                "generation": generation.id,
                "citable": [str(value) for value in CITABLE],
                "terms": terms,
                "exact": IDENTIFIER.rstrip(":"),
                "query": HalfVector(query).to_text(),
                "cosine_weight": cosine_weight,
                "coverage_weight": coverage_weight,
                "least_coverage": LEAST_COVERAGE,
            },
        )
        permitted, restricted = cursor.fetchone()
    return BestScores(permitted=permitted or 0.0, restricted=restricted or 0.0)
