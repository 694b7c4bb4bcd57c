"""A code is asked about exactly: what is about a code that only resembles it is no candidate.

The keyword leg matches codes whole or by exact parts. The vector leg does not know them: to it ZX-49
and ZX-4819 are nearly the same. So of the candidates of a question that names a code, those are dropped
that name another code of the same series (ZX-…), in their text, title or reference, and not that one.
"""

import re
from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from documents.ingestion.identifiers import identifier_terms, identifiers
from documents.models import IndexGeneration
from tenants.scope import current_tenant_id

from .terms import IDENTIFIER

_SERIES = re.compile(r"[A-Z]+[-/._]?(?=[0-9])")

# Only of candidates, which the legs found among what the reader may use.
STATEMENT = """
SELECT c.id, d.title || ' ' || d.reference,
       coalesce(array_agg(substr(t.term, %(skip)s)) FILTER (WHERE t.term LIKE %(identifier)s), '{}')
FROM documents_chunk c
JOIN documents_document d ON d.id = c.document_id AND d.tenant_id = c.tenant_id
LEFT JOIN documents_chunkterm t ON t.chunk_id = c.id AND t.generation_id = %(generation)s
                               AND t.tenant_id = c.tenant_id
WHERE c.tenant_id = %(tenant)s AND c.id = ANY(%(chunks)s)
GROUP BY c.id, d.title, d.reference
"""


def without_near_codes(
    *, question: str, generation: IndexGeneration, fused: Sequence[tuple[UUID, float]]
) -> list[tuple[UUID, float]]:
    """The candidates in their order, without those about a code that is only like the asked one."""
    asked = {code for code in identifiers(question) if _series(code)}
    if not asked:
        return list(fused)
    about = _about(generation, [chunk_id for chunk_id, _ in fused])
    return [
        (chunk_id, score)
        for chunk_id, score in fused
        if not _is_about_another(asked, about.get(chunk_id, set()))
    ]


def _is_about_another(asked: set[str], codes: set[str]) -> bool:
    if asked & codes:
        return False
    series = {_series(code) for code in asked}
    return any(_series(code) in series for code in codes)


def _series(code: str) -> str:
    """What stands before a code's first digit: "ZX-" of ZX-49; empty where no letters do."""
    found = _SERIES.match(code)
    return found[0] if found else ""


def _about(generation: IndexGeneration, chunks: Sequence[UUID]) -> dict[UUID, set[str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            STATEMENT,
            {
                "tenant": current_tenant_id(),
                "generation": generation.pk,
                "chunks": list(chunks),
                "identifier": IDENTIFIER + "%",
                "skip": len(IDENTIFIER) + 1,
            },
        )
        return {
            chunk_id: identifier_terms(heads) | {code.upper() for code in codes}
            for chunk_id, heads, codes in cursor.fetchall()
        }
