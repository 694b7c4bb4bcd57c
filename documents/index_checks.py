"""Whether an index generation is whole and finds what is in it."""

from dataclasses import dataclass

from django.db import connection

from tenants.scope import current_tenant_id

from .generations import pinned_embedder
from .ingestion.publish import ValidationFailed
from .models import Chunk, ChunkEmbedding, ChunkTerm, IndexGeneration

SAMPLES = 20
# Half precision, and passages that say the same.
_AS_NEAR_AS_ITSELF = 0.01

BROKEN = """
SELECT count(*) FILTER (WHERE e.id IS NULL),
       count(*) FILTER (WHERE vector_dims(e.vector) <> %(dims)s)
FROM documents_chunk c
LEFT JOIN documents_chunkembedding e
       ON e.chunk_id = c.id AND e.generation_id = %(generation)s AND e.tenant_id = c.tenant_id
WHERE c.tenant_id = %(tenant)s AND c.chunking = %(chunking)s
  AND c.version_id IN (SELECT version_id FROM documents_chunkembedding
                       WHERE tenant_id = %(tenant)s AND generation_id = %(generation)s)
"""
COUNTED = """
SELECT coalesce((SELECT chunk_count FROM documents_corpusstatistics
                 WHERE tenant_id = %(tenant)s AND generation_id = %(generation)s), 0),
       (SELECT count(DISTINCT chunk_id) FROM documents_chunkterm
        WHERE tenant_id = %(tenant)s AND generation_id = %(generation)s)
"""
NEAREST = """
SELECT min(e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims})),
       min(e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims}))
           FILTER (WHERE e.chunk_id = %(chunk)s)
FROM documents_chunkembedding e
WHERE e.tenant_id = %(tenant)s AND e.generation_id = %(generation)s
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """How many passages the generation has, and how many of them were searched for."""

    passages: int
    samples: int


def check_generation(generation: IndexGeneration) -> Checked:
    """Counts agree; sample passages, embedded again, are nearest to themselves and have terms.

    Raises ValidationFailed, EmbedderUnavailable.
    """
    values = {
        "tenant": current_tenant_id(),
        "generation": generation.pk,
        "chunking": generation.chunking,
        "dims": generation.dims,
    }
    without_vector, other_dims = _one(BROKEN, values)
    if without_vector or other_dims:
        raise ValidationFailed(
            f"The generation {generation.name} has {without_vector} passages without a vector and "
            f"{other_dims} of other dimensions. Build it again under another name."
        )
    counted, there = _one(COUNTED, values)
    if counted != there:
        raise ValidationFailed(
            f"The generation {generation.name} counts {counted} passages with terms and has "
            f"{there}. Build it again under another name."
        )
    samples = _check_samples(generation, values)
    passages = ChunkEmbedding.objects.filter(generation=generation).count()
    return Checked(passages=passages, samples=samples)


def _check_samples(generation: IndexGeneration, values: dict[str, object]) -> int:
    # Ids are digests, so the first ones by id are as good as drawn.
    sample = list(Chunk.objects.filter(embeddings__generation=generation).order_by("id")[:SAMPLES])
    texts = [f"{one.context}\n{one.text}" if one.context else one.text for one in sample]
    vectors = pinned_embedder(generation).embed_passages(texts)
    for chunk, vector in zip(sample, vectors, strict=True):
        literal = "[" + ",".join(f"{value:.6f}" for value in vector) + "]"
        nearest, own = _one(
            NEAREST.format(dims=int(generation.dims)),
            values | {"vector": literal, "chunk": chunk.pk},
        )
        if not own - nearest < _AS_NEAR_AS_ITSELF or not own < _AS_NEAR_AS_ITSELF:
            raise ValidationFailed(
                f"Passage {chunk.pk} is not found by its own vector in the generation "
                f"{generation.name}. Build it again under another name."
            )
    terms = ChunkTerm.objects.filter(generation=generation, chunk__in=sample)
    if sample and not terms.exists():
        raise ValidationFailed(f"No passage of {generation.name} that was tried has a search term.")
    return len(sample)


def _one(statement: str, values: dict[str, object]) -> tuple:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()
