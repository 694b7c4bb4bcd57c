"""Comparing the two arms of a canary, and taking the candidate back by itself.

Each question falls to one arm, so the arms are independent samples. Shares are compared by the interval
of Newcombe (Interval estimation for the difference between independent proportions, Statistics in
Medicine 17, 1998, method 10), times by that of Welch. At 99 %, since the arms are looked at again and
again: at 95 % a good candidate would be taken back too often.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean, variance
from uuid import UUID

import structlog
from django.db.models import Exists, OuterRef
from django.utils import timezone

from answers.canaries import can_be_tried, end_canary, running_canary
from answers.models import (
    Answer,
    AnswerState,
    Arm,
    Canary,
    CanaryEnding,
    Citation,
    ContextPermit,
    Outcome,
    ReviewItem,
    ReviewKind,
)
from documents.models import Document
from documents.selectors import version_text
from documents.storage import ObjectMissing
from tenants.models import User
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids

from .second_opinion import not_permitted

log = structlog.get_logger("precept.evaluation")

Z = 2.576  # 99 %, both sides
LOOK_EVERY = timedelta(seconds=5)
LEAST_ANSWERS = 30  # in each arm, before anything but a violation takes a candidate back
SLOWER = 0.2  # of the serving arm's mean time: what people notice

_OVER = (Outcome.CANCELLED, Outcome.INTERRUPTED)  # the asker's doing, not the arm's


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer, as far as it is measured."""

    arm: str
    outcome: str
    milliseconds: float
    was_blocked: bool
    helpful: bool | None


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus serving, with its 99 % interval; None where an arm has nothing to say."""

    name: str
    label: str
    serving: float | None
    candidate: float | None
    low: float | None
    high: float | None
    is_worse: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    serving: int
    candidate: int
    violations: int
    differences: tuple[Difference, ...]

    @property
    def worse(self) -> tuple[Difference, ...]:
        """What is certain enough to act on."""
        if min(self.serving, self.candidate) < LEAST_ANSWERS:
            return ()
        return tuple(one for one in self.differences if one.is_worse)

    def to_json(self) -> dict[str, object]:
        rows = {
            one.name: [one.serving, one.candidate, one.low, one.high] for one in self.differences
        }
        counts = {"serving": self.serving, "candidate": self.candidate}
        return {"answers": counts, "violations": self.violations, **rows}


# What is measured: name, label, whether more of it is better, and of which answers (None: not of this).
SHARES: tuple[tuple[str, str, bool, Callable[[Shown], bool | None]], ...] = (
    ("answered", "Answered", True, lambda one: one.outcome == Outcome.ANSWERED),
    ("blocked", "Drafts that failed a check", False, lambda one: one.was_blocked),
    (
        "unavailable",
        "Unavailable, or excerpts",
        False,
        lambda one: one.outcome in (Outcome.UNAVAILABLE, Outcome.EXCERPTS),
    ),
    ("helpful", "Helpful, of those who said", True, lambda one: one.helpful),
)


def compare(canary: Canary) -> Comparison:
    """Everything asked since it began; violations since it was last looked at, or when it ended."""
    violated = canary.found.get("violations", 0)
    if canary.ended_at is None:
        violated = len(violations(canary, since=_since(canary)))
    return _compare(canary, violated)


def _compare(canary: Canary, violated: int) -> Comparison:
    shown = _answers_of(canary)
    arms = [[one for one in shown if one.arm == arm] for arm in (Arm.SERVING, Arm.CANDIDATE)]
    serving, candidate = arms
    return Comparison(
        serving=len(serving),
        candidate=len(candidate),
        violations=violated,
        differences=(
            *(_share(*measure, serving, candidate) for measure in SHARES),
            _time(serving, candidate),
        ),
    )


def watch(canary: Canary) -> bool:
    """Take the candidate back if it must be. True when that, or its own end, ended the canary."""
    began = timezone.now()
    canary = Canary.objects.select_related("generation", "configuration").get(pk=canary.pk)
    if canary.ended_at is not None:
        return False
    if not can_be_tried(canary.candidate):
        return end_canary(canary=canary, ending=CanaryEnding.MOVED)
    violated = len(violations(canary, since=_since(canary)))
    comparison = _compare(canary, violated)
    if not violated and not comparison.worse:
        Canary.objects.filter(pk=canary.pk, ended_at=None).update(looked_at=began)
        return False
    ending = CanaryEnding.VIOLATION if violated else CanaryEnding.WORSE
    log.warning("canary taken back", canary=str(canary.pk), ending=ending.value)
    return end_canary(canary=canary, ending=ending, found=comparison.to_json())


def watch_canaries_everywhere() -> None:
    """For the dispatcher, which may call this many times a second."""
    for tenant_id in all_tenant_ids():
        with tenant_scope(tenant_id):
            canary = running_canary()
            if canary is not None and not _was_just_looked_at(canary):
                watch(canary)


def _was_just_looked_at(canary: Canary) -> bool:
    return canary.looked_at is not None and timezone.now() - canary.looked_at < LOOK_EVERY


def violations(canary: Canary, *, since: datetime | None = None) -> set[UUID]:
    """Answers of the candidate that used what the asker may not read, or quote what no source says."""
    answers = Answer.objects.filter(
        canary_id_asked=canary.pk, arm=Arm.CANDIDATE, state=AnswerState.FINISHED
    )
    if since:
        answers = answers.filter(finished_at__gte=since)
    return _used_without_right(answers) | _quoted_wrongly(answers)


def _used_without_right(answers) -> set[UUID]:
    """By a second reading of grants; only where no access that it relied on has changed since."""
    found = set()
    for permit in ContextPermit.objects.filter(answer__in=answers).select_related("answer__user"):
        user: User = permit.answer.user
        documents = [UUID(key) for key in permit.document_versions]
        now = dict(Document.objects.filter(pk__in=documents).values_list("pk", "access_revision"))
        now[user.pk] = user.access_revision
        seen = {UUID(key): revision for key, revision in permit.access_revisions.items()}
        same = {key for key in documents if now.get(key) == seen.get(key)}
        if now[user.pk] == seen.get(user.pk) and not_permitted(user=user, documents=same):
            found.add(permit.answer_id)
    return found


def _quoted_wrongly(answers) -> set[UUID]:
    cited = Citation.objects.filter(claim__answer__in=answers, claim__answer__purged_at=None)
    return {
        one.claim.answer_id
        for one in cited.select_related("version", "claim")
        if _is_misquoted(one)
    }


def _is_misquoted(cited: Citation) -> bool:
    try:
        text = version_text(cited.version)
    except ObjectMissing as missing:  # purged, or damaged: no fault of the candidate
        log.warning("not judged", answer=str(cited.claim.answer_id), reason=str(missing))
        return False
    return cited.quote != text[cited.start : cited.end]


def _since(canary: Canary) -> datetime | None:
    """A little before it was last looked at: an answer ends a moment before others can see it."""
    return canary.looked_at and canary.looked_at - timedelta(minutes=1)


def _answers_of(canary: Canary) -> list[Shown]:
    blocked = ReviewItem.objects.filter(answer=OuterRef("pk"), kind=ReviewKind.BLOCKED_DRAFT)
    rows = (
        Answer.objects.filter(canary_id_asked=canary.pk, state=AnswerState.FINISHED)
        .exclude(outcome__in=_OVER)
        .annotate(was_blocked=Exists(blocked))
        .values_list(
            "arm", "outcome", "created_at", "finished_at", "was_blocked", "feedback__helpful"
        )
    )
    return [
        Shown(arm, outcome, (ended - began) / timedelta(milliseconds=1), was_blocked, helpful)
        for arm, outcome, began, ended, was_blocked, helpful in rows
    ]


def _share(
    name: str,
    label: str,
    more_is_better: bool,
    of: Callable[[Shown], bool | None],
    serving: Sequence[Shown],
    candidate: Sequence[Shown],
) -> Difference:
    first, second = (
        [value for value in map(of, arm) if value is not None] for arm in (serving, candidate)
    )
    if not first or not second:
        return Difference(name, label, _mean(first), _mean(second), None, None, False)
    low, high = newcombe(sum(second), len(second), sum(first), len(first))
    is_worse = high < 0 if more_is_better else low > 0
    return Difference(name, label, _mean(first), _mean(second), low, high, is_worse)


def _time(serving: Sequence[Shown], candidate: Sequence[Shown]) -> Difference:
    first, second = ([one.milliseconds for one in arm] for arm in (serving, candidate))
    name, label = "milliseconds", "Milliseconds to the end, on average"
    if min(len(first), len(second)) < 2:
        return Difference(name, label, _mean(first), _mean(second), None, None, False)
    middle = fmean(second) - fmean(first)
    off = Z * math.sqrt(variance(first) / len(first) + variance(second) / len(second))
    is_worse = middle - off > SLOWER * fmean(first)
    return Difference(
        name, label, _mean(first), _mean(second), middle - off, middle + off, is_worse
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def newcombe(a: int, m: int, b: int, n: int, *, z: float = Z) -> tuple[float, float]:
    """The interval of a/m − b/n: Wilson's score limits of each, combined by the square-and-add rule."""
    first, second = a / m, b / n
    low1, high1 = _wilson(first, m, z)
    low2, high2 = _wilson(second, n, z)
    return (
        first - second - math.hypot(first - low1, high2 - second),
        first - second + math.hypot(high1 - first, second - low2),
    )


def _wilson(share: float, n: int, z: float) -> tuple[float, float]:
    middle = share + z * z / (2 * n)
    off = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - off) / (1 + z * z / n), (middle + off) / (1 + z * z / n)
