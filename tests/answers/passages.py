"""Evidence and drafts for tests, with everything that does not matter filled in."""

from __future__ import annotations

import uuid
from typing import Any

from answers.evidence import Evidence
from answers.generation import Draft, DraftClaim, DraftQuote

_NAMESPACE = uuid.UUID("00000000-0000-5000-8000-000000000000")


def passage(text: str, *, number: int = 1, **fields: Any) -> Evidence:
    """Evidence of its own document, starting at offset 100 of the version's text."""
    name = fields.pop("document", f"document {number}")
    start = fields.pop("start", 100)
    values: dict[str, Any] = {
        "number": number,
        "chunk_id": uuid.uuid5(_NAMESPACE, f"{name} {start} {text}"),
        "document_id": uuid.uuid5(_NAMESPACE, name),
        "version_id": uuid.uuid5(_NAMESPACE, f"{name} version"),
        "version_number": 1,
        "title": "A policy",
        "reference": "POL-2024-001",
        "text": text,
        "start": start,
        "end": start + len(text),
        "page": 1,
        "section": "",
        "language": "en",
        "effective_date": None,
        "withdrawn_date": None,
        "life_cycle": "vetted",
        "score": 0.7,
        "cosine": 0.8,
    }
    return Evidence(**{**values, **fields})


def draft(*claims: tuple[str, list[tuple[int, str]]]) -> Draft:
    """A draft of (claim text, [(source, quote), …])."""
    return Draft(
        claims=tuple(
            DraftClaim(text, tuple(DraftQuote(source, quote) for source, quote in quotes))
            for text, quotes in claims
        ),
        generator="test",
        model="test",
        prompt_version="",
        tokens_in=0,
        tokens_out=0,
    )
