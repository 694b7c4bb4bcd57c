"""Reads about runs, for who may see them. Words of a case are not among them; see `failure_kinds`."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from tenants.models import User
from tenants.selectors import NotFound, roles_of

from .models import EvalResult, EvalRun
from .runs.starting import RUN_ROLES


def visible_runs(*, caller: User) -> QuerySet[EvalRun]:
    if not roles_of(caller) & RUN_ROLES:
        return EvalRun.objects.none()
    return EvalRun.objects.select_related(
        "requested_by", "generation", "candidate_generation", "candidate_configuration"
    )


def get_run(*, caller: User, run_id: UUID) -> EvalRun:
    """Raises NotFound, also for who may see no runs."""
    run = visible_runs(caller=caller).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is nothing here.")
    return run


@dataclass(frozen=True, slots=True)
class FailedCase:
    """What a case failed by, in kinds: the words it wants may be of a restricted document."""

    key: str
    kind: str
    outcome: str
    expected: str
    why: tuple[str, ...]
    variant: str
    repeat: int


def failed_cases(run: EvalRun) -> list[FailedCase]:
    rows = run.results.filter(passed=False).select_related("case")
    return [
        FailedCase(
            key=row.case.key,
            kind=row.kind,
            outcome=row.outcome,
            expected=row.expected_outcome,
            why=tuple(failure_kinds(row)),
            variant=row.variant,
            repeat=row.repeat,
        )
        for row in rows.order_by("case__key", "variant", "repeat")
    ]


def failure_kinds(result: EvalResult) -> list[str]:
    """Without the words: "does not say: 7391" is "does not say what is required"."""
    kinds = []
    for failure in result.failures:
        if failure.startswith("does not say"):
            kinds.append("does not say what is required")
        elif failure.startswith("says what it must not"):
            kinds.append("says what it must not")
        else:
            kinds.append(failure)  # outcomes and documents, no words
    if result.violations:
        kinds.append(f"permission violations: {len(result.violations)}")
    return list(dict.fromkeys(kinds))
