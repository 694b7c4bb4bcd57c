"""Which terms stand in anything a person may use. Ids and counts of others play no part in it."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection

from documents.models import IndexGeneration
from tenants.scope import current_tenant_id

STATEMENT = """
WITH readable AS MATERIALIZED (SELECT version_id FROM documents_readable(%(reader)s))
SELECT wanted.term FROM unnest(%(terms)s::text[]) AS wanted (term)
WHERE EXISTS (
    SELECT 1 FROM documents_chunkterm t
    WHERE t.tenant_id = %(tenant)s AND t.generation_id = %(generation)s AND t.term = wanted.term
      AND t.version_id IN (SELECT version_id FROM readable)
)
"""


def present_terms(
    *, reader: UUID, generation: IndexGeneration, terms: Collection[str]
) -> frozenset[str]:
    """Those of `terms` (see `question_terms`) that a passage has which this reader may use."""
    with connection.cursor() as cursor:
        parameters = {
            "reader": reader,
            "tenant": current_tenant_id(),
            "generation": generation.id,
            "terms": sorted(terms),
        }
        cursor.execute(STATEMENT, parameters)
        return frozenset(row[0] for row in cursor.fetchall())
