"""Building an index generation beside the serving one: resumable, counted, and proved at the end.

Nobody waits in a transaction while a text is embedded, and what is built stays whatever happens.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from audit.services import record_action

from .embedding import EmbedderUnavailable
from .generations import (
    CHUNKING,
    KEPT_UP,
    create_generation,
    lock_index_writer,
    queue_build,
)
from .index_checks import check_generation
from .ingestion.accept import accepted_text
from .ingestion.chunkings import chunker
from .ingestion.passages import make_passages
from .ingestion.publish import ValidationFailed, write_index
from .models import (
    ChunkEmbedding,
    DocumentVersion,
    GenerationStatus,
    IndexGeneration,
    VersionStatus,
)
from .serving import PromotionConflict
from .storage import ObjectMissing

log = structlog.get_logger("precept.generations")


class GenerationConflict(PromotionConflict):
    """The generation is not in a state for this; the message says which it is and what to do."""


@dataclass(frozen=True, slots=True)
class Build:
    """The right to build one generation, renewed with each batch of passages."""

    generation: IndexGeneration
    token: uuid.UUID = field(default_factory=uuid.uuid4)

    def update(self, **fields: object) -> None:
        """Write to the generation and go on holding it; raises GenerationConflict when lost."""
        mine = IndexGeneration.objects.filter(pk=self.generation.pk, lease=self.token)
        if not mine.update(lease_until=_until(), **fields):
            raise GenerationConflict(
                f"The generation {self.generation.name} is built by another process now."
            )

    def leave(self, *, until: object = None, **fields: object) -> None:
        """Let go; with `until`, the dispatcher hands the work out again from then on."""
        mine = IndexGeneration.objects.filter(pk=self.generation.pk, lease=self.token)
        mine.update(lease=None, lease_until=until, **fields)


def start_generation(
    *, name: str, embedder: str | None = None, chunking: str = CHUNKING
) -> IndexGeneration:
    """Have a generation built in the background; one that stopped goes on where it was.

    Raises EmbedderUnavailable, UnknownChunking, GenerationConflict.
    """
    generation = IndexGeneration.objects.filter(name=name).first() or create_generation(
        name=name, embedder_name=embedder or settings.EMBEDDER, chunking=chunking
    )
    if generation.status not in KEPT_UP:
        raise GenerationConflict(
            f"The generation {name} is {generation.get_status_display().lower()}: there is nothing "
            "to build. Choose another name for a new one."
        )
    with transaction.atomic():
        IndexGeneration.objects.filter(pk=generation.pk).update(attempts=0, failure_reason="")
        queue_build(generation)
    return generation


def build_in_background(*, generation_id: uuid.UUID) -> str:
    """What the worker does for one announcement. Returns the generation's state.

    Works for half the time that the queue allows and asks for the rest to be handed out again.
    """
    generation = IndexGeneration.objects.filter(pk=generation_id, status__in=KEPT_UP).first()
    build = generation and _claim(generation)
    if not build:
        return "nothing to do"
    try:
        whole = _build_missing(build, stop_at=time.monotonic() + settings.Q_CLUSTER["timeout"] / 2)
        if whole:
            _validate(build)
    except GenerationConflict as lost:
        log.warning("build lost", generation=str(generation_id), reason=str(lost))
    except EmbedderUnavailable as failure:
        _put_off(build, failure)
    except (ValidationFailed, ObjectMissing) as failure:
        _give_up(build, str(failure))
    except BaseException:
        build.leave(until=timezone.now())
        raise
    else:
        build.leave(attempts=0)
        # Asked for after letting go: what was published while this one held it may be unseen.
        if not whole or missing(generation).exists():
            queue_build(generation)
    return IndexGeneration.objects.get(pk=generation_id).status


def build_now(
    generation: IndexGeneration, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Build what is missing in this process; then, for the first time, prove it.

    Raises EmbedderUnavailable, ValidationFailed, GenerationConflict when somebody else builds it.
    """
    build = _claim(generation)
    if build is None:
        raise GenerationConflict(
            f"The generation {generation.name} is being built by another process. Wait for it, or "
            f"try again in {settings.JOB_LEASE_SECONDS} seconds if that one died."
        )
    try:
        _build_missing(build, progress=progress)
        _validate(build)
    finally:
        build.leave()


def missing(generation: IndexGeneration) -> QuerySet[DocumentVersion]:
    """Searchable versions that the generation does not have, former ones before later ones."""
    built = ChunkEmbedding.objects.filter(generation=generation).values("version_id")
    return (
        DocumentVersion.objects.filter(status=VersionStatus.SEARCHABLE, document__deleted_at=None)
        .exclude(id__in=built)
        .order_by("document_id", "number")
    )


def _claim(generation: IndexGeneration) -> Build | None:
    build = Build(generation=generation)
    claimed = IndexGeneration.objects.filter(
        Q(lease=None) | Q(lease_until__lt=timezone.now()), pk=generation.pk, reclaimed_at=None
    ).update(lease=build.token, lease_until=_until(), attempts=F("attempts") + 1)
    return build if claimed else None


def _build_missing(
    build: Build,
    *,
    stop_at: float | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> bool:
    """True when nothing is left. What is published meanwhile is built too."""
    generation, done = build.generation, 0
    while True:
        left = list(missing(generation).values_list("pk", flat=True))
        if not left:
            return True
        total = done + len(left)
        for version in DocumentVersion.objects.filter(pk__in=left).order_by(
            "document_id", "number"
        ):
            if stop_at is not None and time.monotonic() >= stop_at:
                return False
            _build(version, build)
            done += 1
            build.update(progress_done=done, progress_total=total, attempts=1)
            progress(done, total)


def _build(version: DocumentVersion, build: Build) -> None:
    started = time.monotonic()
    generation = build.generation
    chunks = chunker(generation.chunking)(accepted_text(version))
    if not chunks:
        raise ValidationFailed(f"The text of version {version.pk} gave no passage.")
    passages = make_passages(
        version=version,
        generation=generation,
        chunks=chunks,
        language=version.language,
        done=lambda count: build.update(),
    )
    with transaction.atomic():
        lock_index_writer(generation)
        there = ChunkEmbedding.objects.filter(generation=generation, version=version).exists()
        deleted = version.document.deleted_at is not None
        if not there and not deleted:
            write_index(version=version, generation=generation, built=passages.built)
        build.update(
            passages_embedded=F("passages_embedded") + passages.embedded,
            seconds_spent=F("seconds_spent") + (time.monotonic() - started),
        )


def _validate(build: Build) -> None:
    """Prove a generation that was built for the first time. Raises ValidationFailed."""
    generation = IndexGeneration.objects.get(pk=build.generation.pk)
    if generation.status != GenerationStatus.BUILDING:
        return
    checked = check_generation(generation)
    with transaction.atomic():
        build.update(status=GenerationStatus.VALIDATED, failure_reason="")
        record_action(
            action="generation.validated",
            actor=None,
            object_ids={"generation": generation.pk},
            facts={
                "passages": checked.passages,
                "samples": checked.samples,
                "embedded": generation.passages_embedded,
                "seconds": round(generation.seconds_spent),
            },
        )


def _put_off(build: Build, failure: EmbedderUnavailable) -> None:
    attempts = IndexGeneration.objects.values_list("attempts", flat=True).get(
        pk=build.generation.pk
    )
    if attempts >= settings.JOB_MAX_ATTEMPTS:
        _give_up(build, str(failure))
    else:
        build.leave(until=timezone.now() + timedelta(seconds=min(600, 5 * 2**attempts)))


@transaction.atomic
def _give_up(build: Build, reason: str) -> None:
    """Stop, with a reason; `manage.py generations build NAME` goes on."""
    build.leave(failure_reason=reason[:500])
    record_action(
        action="generation.build_failed",
        actor=None,
        object_ids={"generation": build.generation.pk},
    )
    log.warning("build failed", generation=str(build.generation.pk), reason=reason)


def _until():
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
