"""The pilot's measures, week by week, each with its definition. Numbers only: no words of anybody.

A week begins on Monday, in the server's time zone. Answers are those that people asked for, not
evaluation's; an outcome counts when it told the person something (answered, excerpts, abstained,
access denied).
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.core.exceptions import PermissionDenied
from django.utils import timezone

from answers.models import Answer, Feedback, Outcome, Purpose
from answers.sampling import week_of
from evaluation.models import CitationVerdict, EvalResult, Goal, RunState, SpotCheck, Verdict
from evaluation.models.goal import PilotMeasure
from tenants.models import Role, User
from tenants.selectors import roles_of

DASHBOARD_ROLES = frozenset({Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR})
WEEKS = 12
TOLD = (Outcome.ANSWERED, Outcome.EXCERPTS, Outcome.ABSTAINED, Outcome.ACCESS_DENIED)
REFUSED = (Outcome.ABSTAINED, Outcome.ACCESS_DENIED)
REPEATED_WITHIN = timedelta(days=28)


@dataclass(frozen=True, slots=True)
class Point:
    """`value` is None where there was nothing to measure; `of` is how many it was measured on."""

    monday: date
    value: float | None
    of: int


@dataclass(frozen=True, slots=True)
class Definition:
    measure: PilotMeasure
    definition: str
    is_share: bool
    better: str  # "higher" or "lower"; empty: neither

    @property
    def label(self) -> str:
        return self.measure.label


DEFINITIONS: dict[PilotMeasure, Definition] = {
    one.measure: one
    for one in (
        Definition(
            PilotMeasure.ANSWER_SECONDS,
            "Median of the seconds from question to answer, over the week's answers.",
            False,
            "lower",
        ),
        Definition(
            PilotMeasure.PASS_RATE,
            "Results that passed ÷ results of evaluation runs that finished in the week.",
            True,
            "higher",
        ),
        Definition(
            PilotMeasure.VALID_CITATIONS,
            "Citations judged to support their sentence ÷ citations judged in the week.",
            True,
            "higher",
        ),
        Definition(
            PilotMeasure.REPEATED,
            "Questions whose words somebody of the tenant asked in the 28 days before ÷ questions.",
            True,
            "",
        ),
        Definition(
            PilotMeasure.ADOPTION,
            "People who asked something ÷ active accounts made before the week's end.",
            True,
            "higher",
        ),
        Definition(
            PilotMeasure.HELPFUL,
            "Feedback that says it helped ÷ feedback of the week.",
            True,
            "higher",
        ),
        Definition(
            PilotMeasure.ABSTENTION,
            "Answers that found not enough evidence, or access missing ÷ answers.",
            True,
            "",
        ),
        Definition(
            PilotMeasure.ABSTENTION_RIGHT,
            "Abstentions that a reviewer judged right ÷ abstentions judged in the week.",
            True,
            "higher",
        ),
        Definition(
            PilotMeasure.VIOLATIONS,
            "Documents without permission in any permit, over runs that finished in the week. Must be 0.",
            False,
            "lower",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Series:
    definition: Definition
    points: tuple[Point, ...]
    goal: Goal | None

    @property
    def latest(self) -> Point:
        return self.points[-1]

    @property
    def last_known(self) -> Point | None:
        return next((point for point in reversed(self.points) if point.value is not None), None)


def dashboard(*, viewer: User, weeks: int = WEEKS, until: date | None = None) -> list[Series]:
    """All measures over the last weeks, oldest first. Raises PermissionDenied."""
    if not roles_of(viewer) & DASHBOARD_ROLES:
        raise PermissionDenied("Only administrators, reviewers and auditors see the dashboard.")
    return measured(mondays(weeks=weeks, until=until))


def measured(weeks: Sequence[date]) -> list[Series]:
    goals = {goal.measure: goal for goal in Goal.objects.select_related("set_by")}
    return [
        Series(
            DEFINITIONS[measure],
            tuple(_OF[measure](monday) for monday in weeks),
            goals.get(measure),
        )
        for measure in PilotMeasure
    ]


def mondays(*, weeks: int = WEEKS, until: date | None = None) -> list[date]:
    last = week_of(until or timezone.localdate())
    return [last - timedelta(days=7 * back) for back in range(weeks - 1, -1, -1)]


def bounds(monday: date) -> tuple[datetime, datetime]:
    """The week's first moment, and that of the next."""

    def start(day: date) -> datetime:
        return timezone.make_aware(datetime.combine(day, time.min))

    return start(monday), start(monday + timedelta(days=7))


def normalised(question: str) -> str:
    """The same words in the same order are the same question, whatever stands between them."""
    return " ".join(re.findall(r"\w+", question.lower()))


def _answers(monday: date):
    first, after = bounds(monday)
    return Answer.objects.filter(
        purpose=Purpose.LIVE, outcome__in=TOLD, created_at__gte=first, created_at__lt=after
    )


def _answer_seconds(monday: date) -> Point:
    spent = sorted(
        (finished - created).total_seconds()
        for created, finished in _answers(monday).values_list("created_at", "finished_at")
    )
    middle = spent[math.ceil(len(spent) / 2) - 1] if spent else None
    return Point(monday, None if middle is None else round(middle, 2), len(spent))


def _results(monday: date):
    first, after = bounds(monday)
    return EvalResult.objects.filter(
        run__state=RunState.FINISHED, run__finished_at__gte=first, run__finished_at__lt=after
    )


def _pass_rate(monday: date) -> Point:
    return _share(monday, _results(monday).values_list("passed", flat=True))


def _violations(monday: date) -> Point:
    found = [len(one) for one in _results(monday).values_list("violations", flat=True)]
    return Point(monday, float(sum(found)) if found else None, len(found))


def _valid_citations(monday: date) -> Point:
    first, after = bounds(monday)
    verdicts = CitationVerdict.objects.filter(
        spot_check__judged_at__gte=first, spot_check__judged_at__lt=after
    ).values_list("verdict", flat=True)
    return _share(monday, [verdict == Verdict.SUPPORTS for verdict in verdicts])


def _repeated(monday: date) -> Point:
    first, after = bounds(monday)
    asked: dict[str, list[datetime]] = defaultdict(list)
    rows = Answer.objects.filter(
        purpose=Purpose.LIVE,
        outcome__in=TOLD,
        purged_at=None,
        created_at__gte=first - REPEATED_WITHIN,
        created_at__lt=after,
    ).order_by("created_at", "id")
    again = []
    for question, at in rows.values_list("question", "created_at"):
        before = asked[normalised(question)]
        if at >= first:
            again.append(any(at - REPEATED_WITHIN <= earlier for earlier in before))
        before.append(at)
    return _share(monday, again)


def _adoption(monday: date) -> Point:
    _, after = bounds(monday)
    accounts = User.objects.filter(is_active=True, created_at__lt=after).count()
    askers = _answers(monday).values("user").distinct().count()
    return Point(monday, round(askers / accounts, 4) if accounts else None, accounts)


def _helpful(monday: date) -> Point:
    first, after = bounds(monday)
    said = Feedback.objects.filter(
        answer__purpose=Purpose.LIVE, created_at__gte=first, created_at__lt=after
    )
    return _share(monday, said.values_list("helpful", flat=True))


def _abstention(monday: date) -> Point:
    outcomes = _answers(monday).values_list("outcome", flat=True)
    return _share(monday, [outcome in REFUSED for outcome in outcomes])


def _abstention_right(monday: date) -> Point:
    first, after = bounds(monday)
    judged = SpotCheck.objects.filter(
        judged_at__gte=first, judged_at__lt=after, answer__outcome__in=REFUSED
    )
    return _share(monday, judged.values_list("outcome_right", flat=True))


def _share(monday: date, values: Iterable[bool]) -> Point:
    known = list(values)
    return Point(monday, round(sum(known) / len(known), 4) if known else None, len(known))


_OF: dict[PilotMeasure, Callable[[date], Point]] = {
    PilotMeasure.ANSWER_SECONDS: _answer_seconds,
    PilotMeasure.PASS_RATE: _pass_rate,
    PilotMeasure.VALID_CITATIONS: _valid_citations,
    PilotMeasure.REPEATED: _repeated,
    PilotMeasure.ADOPTION: _adoption,
    PilotMeasure.HELPFUL: _helpful,
    PilotMeasure.ABSTENTION: _abstention,
    PilotMeasure.ABSTENTION_RIGHT: _abstention_right,
    PilotMeasure.VIOLATIONS: _violations,
}
