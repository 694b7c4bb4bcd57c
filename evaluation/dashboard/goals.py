"""Baselines and targets: entered by an administrator, or measured over the first weeks there are."""

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from audit.services import record_action
from evaluation.models import Goal
from evaluation.models.goal import PilotMeasure
from tenants.models import Role, User
from tenants.selectors import roles_of

from .weekly import DEFINITIONS, measured, mondays

BASELINE_WEEKS = 4


@transaction.atomic
def set_goal(
    *,
    measure: PilotMeasure,
    baseline: float | None,
    target: float | None,
    measure_baseline: bool = False,
    note: str = "",
    actor: User | None = None,
) -> Goal:
    """Shares are between 0 and 1. Raises ValidationError, PermissionDenied.

    `measure_baseline`: the mean of the first four weeks that have a value, of the last 52.
    """
    if actor is not None and Role.TENANT_ADMIN not in roles_of(actor):
        raise PermissionDenied("Only a tenant administrator sets goals.")
    measure = PilotMeasure(measure)
    if measure_baseline:
        baseline = _measured(measure)
    for name, value in (("baseline", baseline), ("target", target)):
        most = 1 if DEFINITIONS[measure].is_share else float("inf")
        if value is not None and not 0 <= value <= most:
            raise ValidationError({name: "Shares are numbers from 0 to 1, such as 0.85."})
    goal, _ = Goal.objects.update_or_create(
        measure=measure,
        defaults={
            "baseline": baseline,
            "is_measured": measure_baseline,
            "target": target,
            "note": note.replace("\x00", "")[:300],
            "set_by": actor,
        },
    )
    record_action(
        action="dashboard.goal_set",
        actor=actor and actor.pk,
        object_ids={"goal": goal.pk},
        facts={"measure": measure.value, "baseline": baseline, "target": target},
    )
    return goal


def _measured(measure: PilotMeasure) -> float:
    series = next(one for one in measured(mondays(weeks=52)) if one.definition.measure == measure)
    values = [point.value for point in series.points if point.value is not None][:BASELINE_WEEKS]
    if not values:
        raise ValidationError({"baseline": "There is nothing measured yet to take it from."})
    return round(sum(values) / len(values), 4)
