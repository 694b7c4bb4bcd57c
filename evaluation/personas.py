"""One set of questions asked as several people, side by side: who gets what.

Each question goes through the pipeline that answers people, with that person's rights of now, in
shadow. What is shown of an answer is decided for whoever looks, at the time they look.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_q.tasks import async_task

from answers import services as answering
from answers.models import Answer, Outcome, Purpose
from answers.selectors import ReviewedClaim, present_released
from answers.transport import answer_to_the_end
from audit.services import record_action
from tenants.models import Role, User
from tenants.selectors import roles_of

from .models import PersonaAnswer, PersonaDiff, PersonaDiffPerson, RunState
from .runs.giving_way import wait_for_people

PERSONA_ROLES = frozenset({Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR})
MOST_QUESTIONS, MOST_PEOPLE = 20, 8
_SILENT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one person got to one question, as the viewer may see it."""

    outcome: str
    claims: tuple[ReviewedClaim, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class SideBySide:
    """`rows`: per question, the cells in the order of `people`; None where it was not asked yet."""

    people: tuple[User, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


@transaction.atomic
def start_persona_diff(
    *, actor: User, title: str, questions: Sequence[str], people: Sequence[User]
) -> PersonaDiff:
    """Asked in the background. Raises ValidationError, PermissionDenied."""
    if not roles_of(actor) & PERSONA_ROLES:
        raise PermissionDenied("Only administrators, reviewers and auditors compare people.")
    questions = [" ".join(one.split()) for one in questions if one.strip()]
    if not 1 <= len(questions) <= MOST_QUESTIONS or not 2 <= len(people) <= MOST_PEOPLE:
        raise ValidationError(
            f"Choose 1 to {MOST_QUESTIONS} questions and 2 to {MOST_PEOPLE} people."
        )
    diff = PersonaDiff.objects.create(
        title=title.strip()[:120] or "Who gets what", questions=questions, requested_by=actor
    )
    for person in people:
        PersonaDiffPerson.objects.create(diff=diff, user=person)
    record_action(
        action="evaluation.personas_started",
        actor=actor.pk,
        object_ids={"diff": diff.pk, "people": [person.pk for person in people]},
        facts={"questions": len(questions)},
    )
    transaction.on_commit(
        lambda: async_task("evaluation.tasks.ask_personas", str(diff.tenant_id), str(diff.pk))
    )
    return diff


def ask_all(diff_id: UUID, *, gives_way: bool = False) -> PersonaDiff:
    """Ask what is left; leaves alone what somebody else is at."""
    silent = Q(alive_at=None) | Q(alive_at__lt=timezone.now() - _SILENT)
    taken = PersonaDiff.objects.filter(
        silent, pk=diff_id, state__in=[RunState.QUEUED, RunState.RUNNING]
    ).update(state=RunState.RUNNING, alive_at=timezone.now())
    diff = PersonaDiff.objects.get(pk=diff_id)
    if not taken:
        return diff
    have = set(diff.answers.values_list("question", "user_id"))
    for number, question in enumerate(diff.questions):
        for person in _people(diff):
            if (number, person.pk) not in have:
                if gives_way:
                    wait_for_people()
                _ask(diff, number, question, person)
                PersonaDiff.objects.filter(pk=diff.pk).update(alive_at=timezone.now())
    diff.state, diff.finished_at = RunState.FINISHED, timezone.now()
    diff.save(update_fields=["state", "finished_at"])
    return diff


def _ask(diff: PersonaDiff, number: int, question: str, person: User) -> None:
    started = answering.start_answer(
        user=person,
        request_id=f"personas-{diff.pk.hex}-{number}-{person.pk.hex}",
        question=question,
        purpose=Purpose.EVALUATION,
    )
    view = answer_to_the_end(user=person, started=started)
    PersonaAnswer.objects.create(
        diff=diff, question=number, user=person, answer_id_given=view.answer.pk
    )


def visible_diffs(*, viewer: User):
    if not roles_of(viewer) & PERSONA_ROLES:
        return PersonaDiff.objects.none()
    return PersonaDiff.objects.select_related("requested_by")


def side_by_side(*, viewer: User, diff: PersonaDiff) -> SideBySide:
    """What each got, without a word of what this viewer may not read."""
    people = _people(diff)
    given = {(row.question, row.user_id): row.answer_id_given for row in diff.answers.all()}
    answers = Answer.objects.in_bulk(list(given.values()))
    rows = []
    for number, question in enumerate(diff.questions):
        cells = [_cell(viewer, answers.get(given.get((number, person.pk)))) for person in people]
        rows.append((question, tuple(cells)))
    return SideBySide(tuple(people), tuple(rows))


def _cell(viewer: User, answer: Answer | None) -> Cell | None:
    if answer is None:
        return None
    shown = present_released(reviewer=viewer, answer=answer)
    return Cell(Outcome(answer.outcome).label, shown.claims, shown.is_whole)


def _people(diff: PersonaDiff) -> list[User]:
    return [row.user for row in diff.columns.select_related("user").order_by("user__email")]
