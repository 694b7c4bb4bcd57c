"""What stands between a candidate and serving, and the override by two people.

The rule itself is the database's (evaluation_blockers in migration 0003_gates): a trigger asks it
whenever something begins to serve, whoever makes it. Here it is read, explained and overridden.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.utils import timezone

from answers.configurations import promote_configuration, propose
from answers.models import AnswerConfiguration, ConfigurationStatus
from audit.services import record_action
from documents.models import GenerationStatus, IndexGeneration
from documents.reindexing import build_beside, promote
from tenants.models import Role, User
from tenants.scope import current_tenant_id
from tenants.selectors import NotFound, roles_of

from .models import GateOverride, GatePolicy
from .models.gate import LEAST_REASON
from .runs import run_evaluation

OVERRIDERS = (Role.TENANT_ADMIN, Role.REVIEWER)


class Code(StrEnum):
    NOT_BUILT = "not_built"
    NO_CASES = "no_cases"
    CASES_NEED_REVIEW = "cases_need_review"
    NO_RUN = "no_run"
    CASES_CHANGED = "cases_changed"
    VIOLATIONS = "violations"
    QUOTES = "quotes"
    TOO_FEW_PASSED = "too_few_passed"
    WORSE_THAN_SERVING = "worse_than_serving"
    TAKEN_BACK = "taken_back"


_RUN = 'Run the cases through it: manage.py run_evaluation --{kind} "{name}".'
_LOOK = "Look at the run's failed cases; mend the cause and run again, or have two people override."
# What it is, and what to do next.
WORDS: dict[Code, tuple[str, str]] = {
    Code.NOT_BUILT: (
        "It is not built yet.",
        "Wait for the worker, or look at why it stopped: manage.py generations list.",
    ),
    Code.NO_CASES: (
        "There is no active evaluation case, so nothing to hold it to.",
        "Review some cases and make them active.",
    ),
    Code.CASES_NEED_REVIEW: (
        "{count} of {total} cases wait for review: rights or documents they rely on have changed.",
        "Confirm each case or take it out, then run the cases again.",
    ),
    Code.NO_RUN: ("No finished run of all active cases ({total}) went through it.", _RUN),
    Code.CASES_CHANGED: ("{count} cases were changed since its last run.", _RUN),
    Code.VIOLATIONS: (
        "In {count} cases something reached the answer that the person may not read.",
        "Nobody can override this. Find the cause, mend it, and run the cases again.",
    ),
    Code.QUOTES: (
        "{count} sentences or quotes were not borne out by their source's own words.",
        "Nobody can override this. Find the cause, mend it, and run the cases again.",
    ),
    Code.TOO_FEW_PASSED: (
        "{count} of {total} cases passed. {least:.0%} must, or no fewer than with what serves.",
        'Compare it with what serves: manage.py run_evaluation --{kind} "{name}" --compare. If it '
        "does no worse, that is enough. Else look at its failed cases.",
    ),
    Code.WORSE_THAN_SERVING: (
        "It passed {count} cases, and what serves passed {total} of the same.",
        _LOOK,
    ),
    Code.TAKEN_BACK: (
        "When it was last tried on a share of the questions, it was taken back.",
        "Look at how that ended (Canaries); mend the cause, or have two people override.",
    ),
}
SHORT: dict[Code, str] = {
    Code.NOT_BUILT: "It was not built yet.",
    Code.NO_CASES: "There was no active case.",
    Code.CASES_NEED_REVIEW: "Cases waited for review.",
    Code.NO_RUN: "No finished run of all active cases went through it.",
    Code.CASES_CHANGED: "Cases were changed since its last run.",
    Code.VIOLATIONS: "Something reached an answer that the person may not read.",
    Code.QUOTES: "Quotes were not the source's own words.",
    Code.TOO_FEW_PASSED: "Too few cases passed.",
    Code.WORSE_THAN_SERVING: "It passed less than what served.",
    Code.TAKEN_BACK: "It was tried on people and taken back.",
}
NEVER_WAIVED = frozenset({Code.VIOLATIONS, Code.QUOTES})


Candidate = IndexGeneration | AnswerConfiguration


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands against a candidate, and what to do about it."""

    code: Code
    what: str
    next_step: str


@dataclass(frozen=True, slots=True)
class LastRun:
    """The latest finished run of all active cases through a candidate; a verdict of few is worth little."""

    run_id: UUID
    started_at: datetime
    passed: int
    total: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate and everything that stands against it."""

    candidate: Candidate
    kind: str  # as commands call it
    blockers: tuple[Blocker, ...]
    override: GateOverride | None  # approved, and covers all of it
    last_run: LastRun | None
    may_return: bool  # what serves took over from it: going back asks nobody

    @property
    def may_serve(self) -> bool:
        return self.may_return or not self.blockers or self.override is not None


def standing_of(candidate: Candidate) -> Standing:
    kind = _field(candidate)
    least = least_pass_rate()
    return Standing(
        candidate=candidate,
        kind=kind,
        blockers=tuple(
            Blocker(
                code=Code(code),
                what=WORDS[Code(code)][0].format(count=count, total=total, least=least),
                next_step=WORDS[Code(code)][1].format(name=candidate.name, kind=kind),
            )
            for code, count, total in _rows(candidate)
        ),
        override=GateOverride.objects.filter(pk=_waiver(candidate)).first(),
        last_run=_last_run(candidate),
        may_return=_may_return(candidate),
    )


def words_of(code: str) -> str:
    """What a code means, without the numbers of a particular candidate."""
    return SHORT[Code(code)]


def candidates() -> list[Candidate]:
    """What could serve next: beside what serves, or taken back and still there. Newest first."""
    kept = IndexGeneration.objects.filter(reclaimed_at=None).defer("probe")
    found = [
        *kept.exclude(status=GenerationStatus.SERVING),
        *AnswerConfiguration.objects.exclude(status=ConfigurationStatus.SERVING),
    ]
    return sorted(found, key=lambda one: one.created_at, reverse=True)


def candidate_named(name: str) -> Candidate:
    """Raises NotFound."""
    for model in (IndexGeneration, AnswerConfiguration):
        if found := model.objects.filter(name=name).first():
            return found
    raise NotFound(f"There is no generation and no configuration named {name}. See: gates.")


def least_pass_rate() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT evaluation_least_pass_rate(%s)", [current_tenant_id()])
        return cursor.fetchone()[0]


def reindex(
    *, name: str, progress: Callable[[int, int], None] = lambda done, total: None
) -> IndexGeneration:
    """Build the generation `name` with today's settings, run the active cases through it and what serves,
    and let it serve.

    May be interrupted and called again: what is built stays, and so does a run that still holds.
    Raises PromotionRefused, and what building and promoting raise.
    """
    generation = build_beside(name=name, progress=progress)
    if _wants_run(generation):
        run_evaluation(generation=generation, compared=True, progress=progress)
    return promote(generation=generation)


def adopt(
    *, progress: Callable[[int, int], None] = lambda done, total: None
) -> AnswerConfiguration:
    """Run the active cases with what the settings and this release say and with what serves, and let it
    answer.

    Raises PromotionRefused, PromotionConflict.
    """
    configuration = propose()
    if _wants_run(configuration):
        run_evaluation(configuration=configuration, compared=True, progress=progress)
    promote_configuration(configuration=configuration)
    return configuration


def _wants_run(candidate: Candidate) -> bool:
    is_serving = candidate.status == "serving"
    may_serve = is_serving or standing_of(candidate).may_serve
    return not may_serve and bool(_codes(candidate) & {Code.NO_RUN, Code.CASES_CHANGED})


@transaction.atomic
def ask_override(*, actor: User, candidate: Candidate, reason: str) -> GateOverride:
    """Write down why a candidate should serve although something stands against it.

    Covers what stands against it now. Worth nothing until somebody else approves it.
    """
    _check_role(actor)
    reason = reason.replace("\x00", "").strip()
    if len(reason) < LEAST_REASON:
        raise ValidationError(
            {"reason": f"Write the reason out: at least {LEAST_REASON} characters."}
        )
    codes = _codes(candidate)
    if not codes:
        raise ValidationError("Nothing stands against it: it needs no override.")
    if codes & NEVER_WAIVED:
        raise ValidationError(WORDS[Code.VIOLATIONS][1])
    override = GateOverride.objects.create(
        waives=sorted(codes), reason=reason, asked_by=actor, **{_field(candidate): candidate}
    )
    _record("gate.override_asked", actor, override)
    return override


@transaction.atomic
def approve_override(*, actor: User, override: GateOverride) -> None:
    """The second person's yes. Raises ValidationError for the first one's own."""
    _check_role(actor)
    current = GateOverride.objects.select_for_update().get(pk=override.pk)
    if current.approved_at is not None:
        raise ValidationError("Somebody else has approved this already.")
    if current.asked_by_id == actor.pk:
        raise ValidationError("You wrote this yourself: somebody else has to approve it.")
    GateOverride.objects.filter(pk=current.pk).update(approved_by=actor, approved_at=timezone.now())
    override.refresh_from_db()
    _record("gate.override_approved", actor, override)


@transaction.atomic
def set_least_pass_rate(*, rate: float, reason: str) -> None:
    """For operators; audited with the former one. Raises ValidationError."""
    if not 0.5 <= rate <= 1:
        raise ValidationError("The share of cases that must pass is from 0.5 to 1.")
    reason = " ".join(reason.replace("\x00", "").split())
    if not reason:
        raise ValidationError({"reason": "Write why; the reason is kept in the audit record."})
    former = least_pass_rate()
    GatePolicy.objects.update_or_create(defaults={"least_pass_rate": rate})
    record_action(
        action="gate.policy_changed",
        actor=None,
        facts={"least_pass_rate": rate, "former": former, "reason": reason[:300]},
    )


def may_override(user: User) -> bool:
    return not roles_of(user).isdisjoint(OVERRIDERS)


def _check_role(actor: User) -> None:
    if not may_override(actor):
        raise PermissionDenied("Only tenant administrators and reviewers override the gate.")


def _codes(candidate: Candidate) -> set[str]:
    return {code for code, _, _ in _rows(candidate)}


def _rows(candidate: Candidate) -> Sequence[tuple[str, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT code, count, total FROM evaluation_blockers(%s, %s)",
            [current_tenant_id(), candidate.pk],
        )
        return cursor.fetchall()


def _waiver(candidate: Candidate) -> UUID | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT evaluation_waiver(%s, %s)", [current_tenant_id(), candidate.pk])
        return cursor.fetchone()[0]


def _last_run(candidate: Candidate) -> LastRun | None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.id, r.started_at, count(*) FILTER (WHERE e.passed), count(*)"
            " FROM evaluation_full_run(%s, %s, '-infinity') r"
            " JOIN evaluation_evalresult e ON e.run_id = r.id AND e.variant = r.variant"
            " GROUP BY r.id, r.started_at",
            [current_tenant_id(), candidate.pk],
        )
        row = cursor.fetchone()
    return LastRun(*row) if row else None


def _may_return(candidate: Candidate) -> bool:
    table = candidate._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(precept_served_before(%(table)s, %(key)s,"
            " precept_served_last(%(table)s, %(owner)s, %(key)s)), false)",
            {"table": table, "key": candidate.pk, "owner": current_tenant_id()},
        )
        return cursor.fetchone()[0]


def _record(action: str, actor: User, override: GateOverride) -> None:
    record_action(
        action=action,
        actor=actor.pk,
        object_ids={"override": override.pk, _field(override.candidate): override.candidate.pk},
        facts={"waives": list(override.waives)},
    )


def _field(candidate: Candidate) -> str:
    return "generation" if isinstance(candidate, IndexGeneration) else "configuration"
