"""Every question of the active cases, asked as one person of each role: did anything reach them?"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from answers import services as answering
from answers.models import Purpose
from answers.transport import answer_to_the_end
from audit.services import record_action
from evaluation.runs.one_case import unreadable_documents
from evaluation.runs.starting import wanted_cases
from tenants.models import Role, User

ACTION = "pilot.leakage"


@dataclass(frozen=True, slots=True)
class Leakage:
    """`violations`: documents in a permit that the person may not read; must be 0 for each role."""

    questions: int
    violations: dict[str, int]

    @property
    def is_clean(self) -> bool:
        return not any(self.violations.values())


def one_of_each_role() -> dict[str, User]:
    """The active account with the fewest roles besides, so that a role is seen by itself."""
    found: dict[str, User] = {}
    active = User.objects.filter(is_active=True).prefetch_related("role_assignments")
    for user in sorted(active, key=lambda one: (one.role_assignments.count(), one.email)):
        held = {row.role for row in user.role_assignments.all()} or {Role.EMPLOYEE.value}
        for role in held:
            found.setdefault(role, user)
    return found


def leakage_run(*, progress: Callable[[int, int], None] = lambda done, total: None) -> Leakage:
    """Recorded with its counts, for the final report."""
    questions = sorted(set(wanted_cases().values_list("question", flat=True)))
    people = one_of_each_role()
    violations, done = dict.fromkeys(sorted(people), 0), 0
    for role, person in sorted(people.items()):
        for question in questions:
            started = answering.start_answer(
                user=person,
                request_id=f"leakage-{uuid.uuid4().hex}",
                question=question,
                purpose=Purpose.EVALUATION,
            )
            view = answer_to_the_end(user=person, started=started)
            violations[role] += len(unreadable_documents(view.answer))
            done += 1
            progress(done, len(questions) * len(people))
    record_action(
        action=ACTION,
        actor=None,
        facts={"questions": len(questions), "violations": violations},
    )
    return Leakage(len(questions), violations)
