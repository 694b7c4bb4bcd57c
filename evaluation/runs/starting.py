"""Asking for a run, and for its end."""

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django_q.tasks import async_task

from answers.models import AnswerConfiguration
from answers.pipeline import default_generator
from audit.services import record_action
from documents.generations import serving_generation
from documents.models import IndexGeneration
from evaluation.models import CaseState, EvalCase, EvalRun, RunState, Variant
from tenants.models import Role, User
from tenants.selectors import roles_of

RUN_ROLES = frozenset({Role.TENANT_ADMIN, Role.REVIEWER})
MOST_REPEATS = 10


class RunRefused(ValidationError):
    """There is nothing to run, or it was asked for in a way that cannot be."""


def require_runner(actor: User | None) -> None:
    """Raises PermissionDenied; `actor` None is the platform's operator."""
    if actor is not None and not roles_of(actor) & RUN_ROLES:
        raise PermissionDenied("Only reviewers and tenant administrators run cases.")


@transaction.atomic
def start_run(
    *,
    actor: User | None = None,
    keys: Sequence[str] = (),
    candidate: IndexGeneration | AnswerConfiguration | None = None,
    compared: bool = False,
    repeats: int = 1,
    most_minutes: int | None = None,
    most_tokens: int | None = None,
    queued: bool = True,
    generator_name: str = "",
) -> EvalRun:
    """A run of the active cases, or of those with these keys, for the worker to carry out.

    `candidate`: with this instead of what serves; `compared`: with what serves as well. Raises
    RunRefused, PermissionDenied.
    """
    require_runner(actor)
    if not 1 <= repeats <= MOST_REPEATS:
        raise RunRefused(f"Cases are run once to {MOST_REPEATS} times.")
    if compared and candidate is None:
        raise RunRefused("A comparison needs a candidate.")
    cases = wanted_cases(keys)
    if missing := set(keys) - set(cases.values_list("key", flat=True)):
        raise RunRefused(f"There is no active case {', '.join(sorted(missing)[:5])}.")
    variants = [Variant.SERVING] * (compared or candidate is None)
    variants += [Variant.CANDIDATE] * (candidate is not None)
    generation = candidate if isinstance(candidate, IndexGeneration) else None
    configuration = candidate if isinstance(candidate, AnswerConfiguration) else None
    run = EvalRun.objects.create(
        requested_by=actor,
        variants=variants,
        generator=generator_name or default_generator(generation, configuration).name,
        generation=serving_generation(),
        candidate_generation=generation,
        candidate_configuration=configuration,
        keys=list(keys),
        repeats=repeats,
        total=cases.count() * len(variants) * repeats,
        most_minutes=most_minutes,
        most_tokens=most_tokens,
        not_run=EvalCase.objects.filter(state=CaseState.NEEDS_REVIEW).count(),
    )
    record_action(
        action="evaluation.started",
        actor=actor and actor.pk,
        object_ids={"run": run.pk},
        facts={"cases": cases.count(), "repeats": repeats},
    )
    if queued:
        transaction.on_commit(lambda: queue_run(run))
    return run


@transaction.atomic
def cancel_run(*, run: EvalRun, actor: User | None = None) -> bool:
    """It ends before its next case. True if there was something to cancel."""
    require_runner(actor)
    asked = EvalRun.objects.filter(
        pk=run.pk, state__in=[RunState.QUEUED, RunState.RUNNING], cancel_requested=False
    ).update(cancel_requested=True)
    if asked:
        record_action(
            action="evaluation.cancelled", actor=actor and actor.pk, object_ids={"run": run.pk}
        )
    return bool(asked)


def queue_run(run: EvalRun) -> None:
    async_task("evaluation.tasks.carry_out_run", str(run.tenant_id), str(run.pk))


def wanted_cases(keys: Sequence[str] = ()):
    cases = EvalCase.objects.filter(state=CaseState.ACTIVE)
    return cases.filter(key__in=keys) if keys else cases
