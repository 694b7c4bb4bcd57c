"""Building another index generation beside the serving one, and promoting it."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from audit.services import record_action

from .embedding import get_embedder
from .generations import create_generation, lock_index_writer, serving_generation
from .ingestion.accept import accepted_text
from .ingestion.chunk import split
from .ingestion.embed import embed_chunks
from .ingestion.job import languages_of
from .ingestion.publish import passages, write_index
from .models import (
    ChunkEmbedding,
    DocumentVersion,
    GenerationStatus,
    IndexGeneration,
    VersionStatus,
)


def reindex(
    *, name: str, progress: Callable[[int, int], None] = lambda done, total: None
) -> IndexGeneration:
    """Build (or finish building) the generation `name` with today's settings, then let it serve.

    May be interrupted and called again: what is built stays. Raises EmbedderUnavailable.
    """
    generation = IndexGeneration.objects.filter(name=name).first() or create_generation(
        name=name, embedder_name=settings.EMBEDDER
    )
    total = _missing(generation).count()
    for done, version in enumerate(_missing(generation), start=1):
        _build(version, generation)
        progress(done, total)
    _promote(generation)
    generation.refresh_from_db()
    return generation


def _missing(generation: IndexGeneration) -> QuerySet[DocumentVersion]:
    built = ChunkEmbedding.objects.filter(generation=generation).values("version_id")
    return DocumentVersion.objects.filter(
        status=VersionStatus.SEARCHABLE, document__deleted_at=None
    ).exclude(id__in=built)


def _build(version: DocumentVersion, generation: IndexGeneration) -> None:
    chunks = split(accepted_text(version))
    vectors = embed_chunks(
        chunks, embedder=get_embedder(generation.embedder), done=lambda count: None
    )
    built = passages(
        version=version,
        generation=generation,
        chunks=chunks,
        languages=languages_of(chunks, default=version.language),
        vectors=vectors,
    )
    with transaction.atomic():
        lock_index_writer(generation)
        if not ChunkEmbedding.objects.filter(generation=generation, version=version).exists():
            write_index(version=version, generation=generation, built=built)


@transaction.atomic
def _promote(generation: IndexGeneration) -> None:
    """Switch in one transaction; what was published meanwhile is built first."""
    former = serving_generation()
    lock_index_writer(former)
    for version in _missing(generation):
        _build(version, generation)
    if former.pk == generation.pk:
        return
    IndexGeneration.objects.filter(pk=former.pk).update(status=GenerationStatus.RETIRED)
    IndexGeneration.objects.filter(pk=generation.pk).update(status=GenerationStatus.SERVING)
    record_action(
        action="generation.promoted",
        actor=None,
        object_ids={"generation": generation.id, "former": former.id},
    )
