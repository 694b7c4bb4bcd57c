"""The canonical form of an answer, and its digest: what a release permit is bound to."""

import hashlib
import json
from uuid import UUID

from .models import Claim


def digest_of(*, answer_id: UUID, outcome: str) -> str:
    """SHA-256, in hex, of the stored claims and citations as sorted, compact JSON."""
    claims = Claim.objects.filter(answer_id=answer_id).prefetch_related("citations")
    content = {
        "answer": str(answer_id),
        "outcome": outcome,
        "claims": [
            {
                "text": claim.text,
                "citations": [
                    {
                        "n": citation.number,
                        "document": str(citation.document_id),
                        "version": str(citation.version_id),
                        "chunk": str(citation.chunk_id_cited),
                        "start": citation.start,
                        "end": citation.end,
                        "quote": citation.quote,
                    }
                    for citation in claim.citations.all()
                ],
            }
            for claim in claims
        ],
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
