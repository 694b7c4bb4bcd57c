"""A small storm: every release was permitted when it was made, judged from the record afterwards."""

import random

import pytest

from answers.models import Answer, Outcome
from audit.models import AuditRecord
from benchmarks.release_history import judge, released
from benchmarks.revocation_storm import Scene, storm
from tenants.models import Group

TOPICS = ["annual", "parental", "study", "sick", "unpaid", "moving"]


@pytest.fixture
def scene(bank) -> Scene:
    groups = [bank.group() for _ in range(4)]
    people = [bank.person(groups=random.sample(groups, 2)) for _ in range(8)]
    documents = [
        bank.document(
            f"{topic} leave",
            f"The {topic} leave allowance is {number + 5} days in a year.",
            readers=random.sample(groups, 2),
        )
        for number, topic in enumerate(TOPICS)
    ]
    for document, topic in zip(documents[:2], TOPICS, strict=False):
        bank.new_version(document, f"The {topic} leave allowance is 30 days in a year.")
    questions = [f"How many days is the {topic} leave allowance?" for topic in TOPICS]
    return Scene(bank.tenant.id, people, groups, documents, questions)


def test_every_release_in_a_storm_of_revocations_was_permitted_when_it_was_made(scene):
    result = storm(scene, questions=40)
    assert result.verdict.violations == []
    assert result.verdict.releases == sum(
        count for outcome, count in result.outcomes.items() if outcome == Outcome.ANSWERED
    )
    assert result.verdict.releases > 3
    assert sum(result.changes.values()) > 10
    assert sum(result.outcomes.values()) == 40
    assert not any("internal" in outcome for outcome in result.outcomes)


def test_the_judge_finds_a_release_that_was_not_permitted(bank):
    """The same history without a grant, with a revocation before the release, and without a record."""
    user = bank.person()
    document = bank.document("Leave", "The annual leave allowance is 25 days.", readers=[])
    bank.grant(document, user)
    view = bank.ask(user, "How many days is the annual leave allowance?")
    assert view.outcome == Outcome.ANSWERED
    with bank.scope():
        everyone = str(Group.objects.get(built_in=True).id)
        permits = released()
        records = list(
            AuditRecord.objects.order_by("seq").values_list("action", "object_ids", "facts")
        )
        assert Answer.objects.get(pk=view.answer.pk).release_permit is not None
    given = next(record for record in records if record[0] == "grant.given")
    asked = next(record for record in records if record[0] == "answer.attempted")
    at = records.index(asked)
    revoked = ("grant.revoked", *given[1:])

    def found(history) -> int:
        return len(judge(history, permits, everyone=everyone).violations)

    assert found(records) == 0
    assert found([*records, revoked]) == 0
    assert found([record for record in records if record is not given]) == 1
    assert found([*records[:at], revoked, *records[at:]]) == 1
    assert found([record for record in records if record is not asked]) == 1
    assert found([*records, asked]) == 1
