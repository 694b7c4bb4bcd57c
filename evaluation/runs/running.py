"""Carrying out a run: case by case, from where it was, until it is done, cancelled or spent.

Each result is committed by itself. A run whose process died is taken up again by a sweep, and
what it has already is not asked again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, Q, Sum
from django.utils import timezone

from answers.generation import Generator
from answers.models import AnswerConfiguration
from audit.services import record_action
from documents.models import IndexGeneration
from evaluation.measures import summary
from evaluation.models import EvalCase, EvalResult, EvalRun, RunState, Variant
from tenants.scope import tenant_scope

from .giving_way import wait_for_people
from .one_case import Through, run_case
from .starting import queue_run, start_run, wanted_cases

Progress = Callable[[int, int], None]
# A turn of the worker; a long run goes on in another, so that it is no job that hangs.
TURN_SECONDS = 600.0


def run_evaluation(
    *,
    generator: Generator | None = None,
    generation: IndexGeneration | None = None,
    configuration: AnswerConfiguration | None = None,
    keys: Sequence[str] | None = None,
    progress: Progress = lambda done, total: None,
    **options,
) -> EvalRun:
    """Run the active cases here and now. Answers are marked as evaluation and shown to nobody.

    `generation`, `configuration`: through these, which need not serve. `options`: those of start_run.
    """
    name = {"generator_name": generator.name} if generator else {}
    run = start_run(
        keys=keys or (), candidate=generation or configuration, queued=False, **name, **options
    )
    return work_on(run.pk, generator=generator, progress=progress, turn_seconds=None)


def work_on(
    run_id: UUID,
    *,
    generator: Generator | None = None,
    progress: Progress = lambda done, total: None,
    turn_seconds: float | None = TURN_SECONDS,
    gives_way: bool = False,
) -> EvalRun:
    """Carry out a run, or its next turn. Leaves alone one that is being worked on elsewhere."""
    run = EvalRun.objects.get(pk=run_id)
    if not _take(run):
        return run
    turn_ends = time.monotonic() + turn_seconds if turn_seconds else None
    for case, variant, repeat in _what_is_left_of(run):
        if ending := _ending(run):
            return _end(run, ending)
        if turn_ends and time.monotonic() > turn_ends:
            EvalRun.objects.filter(pk=run.pk).update(alive_at=None)  # whoever comes may take it
            queue_run(run)
            return run
        if gives_way:
            wait_for_people()
        run_case(run=run, case=case, through=_through(run, variant, generator), repeat=repeat)
        EvalRun.objects.filter(pk=run.pk).update(done=F("done") + 1, alive_at=timezone.now())
        run.done += 1
        progress(run.done, run.total)
    return _end(run, RunState.FINISHED)


def _take(run: EvalRun) -> bool:
    """Whether it is ours now: nobody has it, or nobody has given a sign of life."""
    silent = Q(alive_at=None) | Q(alive_at__lt=timezone.now() - _silence())
    taken = EvalRun.objects.filter(
        Q(state=RunState.QUEUED) | (Q(state=RunState.RUNNING) & silent), pk=run.pk
    ).update(state=RunState.RUNNING, alive_at=timezone.now())
    if taken and run.started_at is None:
        EvalRun.objects.filter(pk=run.pk, started_at=None).update(started_at=timezone.now())
    if taken:
        done = EvalResult.objects.filter(run=run).count()
        EvalRun.objects.filter(pk=run.pk).update(done=done)
    run.refresh_from_db()
    return bool(taken)


def _silence() -> timedelta:
    """Longer than one case may take."""
    return timedelta(seconds=3 * settings.GENERATOR_TIMEOUT_SECONDS + settings.JOB_LEASE_SECONDS)


def _what_is_left_of(run: EvalRun) -> Iterator[tuple[EvalCase, str, int]]:
    have = set(run.results.values_list("case_id", "variant", "repeat"))
    for case in list(wanted_cases(run.keys).select_related("as_user")):
        for repeat in range(1, run.repeats + 1):
            for variant in run.variants:
                if (case.pk, variant, repeat) not in have:
                    yield case, variant, repeat


def _through(run: EvalRun, variant: str, generator: Generator | None) -> Through:
    if variant == Variant.SERVING:
        return Through(variant=Variant.SERVING, generator=generator)
    return Through(
        variant=Variant.CANDIDATE,
        generator=generator,
        generation=run.candidate_generation,
        configuration=run.candidate_configuration,
    )


def _ending(run: EvalRun) -> RunState | None:
    """Why to stop before the next case, if there is a reason."""
    if EvalRun.objects.filter(pk=run.pk, cancel_requested=True).exists():
        return RunState.CANCELLED
    if run.most_minutes and timezone.now() - run.started_at > timedelta(minutes=run.most_minutes):
        return RunState.STOPPED
    spent = run.results.aggregate(tokens=Sum("tokens"))["tokens"] if run.most_tokens else 0
    return RunState.STOPPED if spent and spent >= run.most_tokens else None


def _end(run: EvalRun, state: RunState) -> EvalRun:
    run.measures = measured(run)
    run.state, run.finished_at = state, timezone.now()
    run.save(update_fields=["measures", "state", "finished_at"])
    facts = {key: run.measures[key] for key in ("cases", "passed", "failed", "violations")}
    record_action(
        action="evaluation.run",
        actor=run.requested_by_id,
        object_ids={"run": run.id},
        facts={**facts, "state": state.value},
    )
    return run


def measured(run: EvalRun) -> dict[str, object]:
    """Of the candidate where there is one: it is what is being decided about."""
    variant = run.variants[-1] if run.variants else Variant.SERVING
    return {**summary(list(run.results.filter(variant=variant))), "notRun": run.not_run}


def resume_runs_everywhere() -> None:
    """For the dispatcher: runs whose process died, or that nobody took from the queue, go on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT evaluation_tenants_with_silent_runs(%s)", [timezone.now() - _silence()]
        )
        tenant_ids = [row[0] for row in cursor.fetchall()]
    for tenant_id in tenant_ids:
        with tenant_scope(tenant_id):
            for run in EvalRun.objects.filter(
                state=RunState.RUNNING, alive_at__lt=timezone.now() - _silence()
            ):
                queue_run(run)
