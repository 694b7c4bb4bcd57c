"""The life of an index generation beside the serving one: built, in shadow, promoted, rolled back,
retired. Only the switch itself is a transaction that questions could notice, and it writes two rows.
"""

from collections.abc import Callable

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from audit.services import record_action

from .building import GenerationConflict, build_now, missing
from .generations import (
    create_generation,
    lock_generations,
    lock_index_writer,
    pinned_embedder,
    serving_generation,
)
from .models import (
    ChunkEmbedding,
    ChunkTerm,
    CorpusStatistics,
    GenerationStatus,
    IndexGeneration,
    TermStatistics,
)
from .serving import take_over

# Versions that are published while the last ones are built must be built too, and so on.
_ROUNDS = 10


def build_beside(
    *, name: str, progress: Callable[[int, int], None] = lambda done, total: None
) -> IndexGeneration:
    """Build (or finish building) the generation `name` with today's settings, in this process.

    May be interrupted and called again: what is built stays. Raises EmbedderUnavailable,
    ValidationFailed, GenerationConflict.
    """
    generation = IndexGeneration.objects.filter(name=name).first() or create_generation(
        name=name, embedder_name=settings.EMBEDDER
    )
    if generation.reclaimed_at is not None:
        raise _wrong_state(generation, "A reclaimed generation cannot be built again")
    if generation.status == GenerationStatus.BUILDING or missing(generation).exists():
        build_now(generation, progress=progress)
        generation.refresh_from_db()
    return generation


@transaction.atomic
def put_in_shadow(*, generation: IndexGeneration) -> None:
    """Run live questions through it as well, from now on. Raises GenerationConflict."""
    lock_generations()
    generation.refresh_from_db()
    if generation.status != GenerationStatus.VALIDATED:
        raise _wrong_state(generation, "Only a validated generation can be put in shadow")
    other = IndexGeneration.objects.filter(status=GenerationStatus.SHADOW).first()
    if other:
        raise GenerationConflict(
            f"The generation {other.name} is in shadow already. Promote it or retire it first."
        )
    _move(generation, GenerationStatus.SHADOW)
    _record("generation.shadowed", generation)


def promote(
    *,
    generation: IndexGeneration,
    progress: Callable[[int, int], None] = lambda done, total: None,
    action: str = "generation.promoted",
) -> IndexGeneration:
    """Let it serve, in one transaction, once it has every version that is searchable.

    Raises EmbedderUnavailable, ValidationFailed, PromotionRefused, and GenerationConflict when it
    was reclaimed or never gets to have them all.
    """
    for _ in range(_ROUNDS):
        generation.refresh_from_db()
        if generation.reclaimed_at is not None:
            raise _wrong_state(generation, "A reclaimed generation cannot serve")
        pinned_embedder(generation)
        if generation.status == GenerationStatus.BUILDING or missing(generation).exists():
            build_now(generation, progress=progress)
        if _switch(generation, action):
            generation.refresh_from_db()
            return generation
    raise GenerationConflict(
        f"New versions are published faster than the generation {generation.name} takes them in. "
        "Promote it when the upload is done."
    )


def roll_back() -> IndexGeneration:
    """Let the generation serve again from which this one took over. Raises as promote does.

    Nothing stands in the way of that, and the one that was rolled back is a candidate like any other.
    """
    former = serving_generation().took_over_from
    while former is not None and former.reclaimed_at is not None:
        former = former.took_over_from
    if former is None:
        raise GenerationConflict("No former generation is kept that could serve again.")
    return promote(generation=former, action="generation.rolled_back")


@transaction.atomic
def retire(*, generation: IndexGeneration) -> int:
    """Give up a generation that does not serve: its vectors, terms and index go. Returns how many
    vectors that were. Raises GenerationConflict.

    Its passages stay: answers cite them, and other generations may share them.
    """
    lock_generations()
    lock_index_writer(generation)
    generation.refresh_from_db()
    if generation.status == GenerationStatus.SERVING:
        raise _wrong_state(generation, "The serving generation cannot be retired")
    if generation.reclaimed_at is not None:
        return 0
    _move(generation, GenerationStatus.RETIRED, reclaimed_at=timezone.now(), lease=None)
    vectors, _ = ChunkEmbedding.objects.filter(generation=generation).delete()
    for rows in (ChunkTerm, TermStatistics, CorpusStatistics):
        rows.objects.filter(generation=generation).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT documents_drop_vector_index(%s)", [generation.pk])
    _record("generation.reclaimed", generation, vectors=vectors)
    return vectors


@transaction.atomic
def _switch(generation: IndexGeneration, action: str) -> bool:
    """False when something was published meanwhile that the generation does not have."""
    lock_generations()
    former = IndexGeneration.objects.filter(status=GenerationStatus.SERVING).first()
    if former and former.pk == generation.pk:
        return True
    lock_index_writer(former or generation)
    generation.refresh_from_db()
    if generation.reclaimed_at is not None:
        raise _wrong_state(generation, "A reclaimed generation cannot serve")
    if missing(generation).exists():
        return False
    take_over(candidate=generation, former=former)
    record_action(
        action=action,
        actor=None,
        object_ids={"generation": generation.pk, "former": former and former.pk},
    )
    return True


def _move(generation: IndexGeneration, status: GenerationStatus, **fields: object) -> None:
    IndexGeneration.objects.filter(pk=generation.pk).update(status=status, **fields)


def _record(action: str, generation: IndexGeneration, **facts: object) -> None:
    record_action(action=action, actor=None, object_ids={"generation": generation.pk}, facts=facts)


def _wrong_state(generation: IndexGeneration, what: str) -> GenerationConflict:
    state = "reclaimed" if generation.reclaimed_at else generation.get_status_display().lower()
    return GenerationConflict(f"{what}, and {generation.name} is {state}.")
