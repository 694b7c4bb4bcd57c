"""How many candidates were counted out, by kind. Kinds and numbers only: nothing here names a source."""

from collections import Counter
from collections.abc import Collection, Mapping
from uuid import UUID

from documents.models import Chunk
from documents.standing import IN_WORDS, Standing, standing_of

NOT_INDEXED = "not_indexed"
KINDS: Mapping[str, str] = {
    **{kind.value: words for kind, words in IN_WORDS.items() if kind != Standing.READABLE},
    NOT_INDEXED: "the passage is no longer part of the index",
}


def count_out_passages(*, reader: UUID, chunk_ids: Collection[UUID]) -> dict[str, int]:
    """Why these candidates were not admitted: {kind: passages}. Costs nothing when there are none."""
    if not chunk_ids:
        return {}
    pairs = dict.fromkeys(chunk_ids)
    found = Chunk.objects.filter(id__in=chunk_ids).values_list("id", "document_id", "version_id")
    pairs |= {chunk: (document, version) for chunk, document, version in found}
    standing = standing_of(reader=reader, versions={pair for pair in pairs.values() if pair})
    return dict(Counter(_kind(standing.get(pair)) for pair in pairs.values()))


def count_out_sources(*, reader: UUID, versions: Mapping[UUID, UUID]) -> dict[str, int]:
    """The same for the sources of an answer, {document: version}, at its release: {kind: sources}."""
    standing = standing_of(reader=reader, versions=versions.items())
    return dict(Counter(kind.value for kind in standing.values() if kind != Standing.READABLE))


def _kind(standing: Standing | None) -> str:
    return NOT_INDEXED if standing in (None, Standing.READABLE) else standing.value
