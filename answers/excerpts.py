"""When the generator is down: the passages themselves, labelled, admitted and released like an answer."""

from collections.abc import Sequence

from documents.ingestion.sentences import sentences

from .evidence import Evidence
from .generation import Draft, DraftClaim, DraftQuote

MAX_EXCERPTS = 3
SENTENCES_EACH = 2


def excerpts(evidence: Sequence[Evidence]) -> Draft:
    """The beginnings of the best passages, as their own quotes."""
    claims = []
    for chunk in evidence[:MAX_EXCERPTS]:
        first = sentences(chunk.text)[:SENTENCES_EACH]
        quotes = tuple(DraftQuote(source=chunk.number, quote=sentence.text) for sentence in first)
        if quotes:
            text = " ".join(" ".join(sentence.text.split()) for sentence in first)
            claims.append(DraftClaim(text=text, quotes=quotes))
    return Draft(
        claims=tuple(claims),
        generator="excerpts",
        model="",
        prompt_version="",
        tokens_in=0,
        tokens_out=0,
    )
