"""A permit does what it was made for, once: not again, not for somebody else, not for other text."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import psycopg
import pytest
from django.db import connections

from answers import authority
from answers.models import Answer, AnswerState, ContextPermit, Outcome, PermitStep, ReleasePermit
from audit.models import AuditRecord
from benchmarks import generated_bank
from documents.models import Document
from tenants.models import User
from tests.bank import Bank

from .authority_driver import quoting


@dataclass
class Case:
    """Two people who may read the same two documents, each with a question that runs."""

    bank: Bank
    people: list[User]
    documents: list[Document]
    answers: list[Answer]

    def admit(self, answer: Answer, *, step=PermitStep.GENERATE, only: int = 2):
        chunks = [generated_bank.chunk_of(d.current_version_id) for d in self.documents[:only]]
        return authority.admit(
            answer=answer,
            step=step,
            processor="test",
            chunk_ids=chunks,
            cosines=dict.fromkeys(chunks, 0.5),
        )

    def release(self, answer: Answer, admission: authority.Admission, *, evidence=None):
        evidence = admission.evidence if evidence is None else evidence
        return authority.release(
            answer=answer,
            context=admission.permit,
            grounded=quoting(evidence),
            evidence=evidence,
            finish={"outcome": Outcome.ANSWERED},
        )


@pytest.fixture
def case(bank):
    with bank.scope():
        people = generated_bank.make_people(2)
        documents = generated_bank.make_documents(2)
        generated_bank.make_grants([(d, person) for d in documents for person in people])
        yield Case(bank, people, documents, generated_bank.make_answers(people))


def assert_nothing_released(case: Case) -> None:
    for answer in case.answers:
        answer.refresh_from_db()
        assert answer.state == AnswerState.RUNNING
        assert not answer.claims.exists()
    assert not ReleasePermit.objects.filter(answer__in=case.answers).exists()


def test_a_context_permit_of_one_person_releases_nothing_for_another(case):
    mine, yours = case.answers
    admission = case.admit(mine)
    with pytest.raises(authority.PermitRefused):
        case.release(yours, admission)
    assert_nothing_released(case)


def test_a_context_permit_of_another_question_of_the_same_person_releases_nothing(case):
    first = case.answers[0]
    second = generated_bank.make_answers([case.people[0]])[0]
    with pytest.raises(authority.PermitRefused):
        case.release(second, case.admit(first))
    assert_nothing_released(case)


def test_a_context_permit_of_an_earlier_attempt_releases_nothing(case):
    answer = case.answers[0]
    admission = case.admit(answer)
    Answer.objects.filter(pk=answer.pk).update(attempt=2)
    with pytest.raises(authority.PermitRefused):
        case.release(answer, admission)
    assert_nothing_released(case)


def test_a_permit_to_rerank_releases_nothing(case):
    with pytest.raises(authority.PermitRefused):
        case.release(case.answers[0], case.admit(case.answers[0], step=PermitStep.RERANK))
    assert_nothing_released(case)


def test_evidence_outside_the_permit_is_not_released(case):
    answer = case.answers[0]
    narrow, wide = case.admit(answer, only=1), case.admit(answer, only=2)
    with pytest.raises(authority.PermitRefused):
        case.release(answer, narrow, evidence=wide.evidence)
    assert_nothing_released(case)


def test_what_the_permit_says_in_memory_does_not_count(case):
    """Only the stored one does, and that never changes."""
    answer = case.answers[0]
    admission = case.admit(answer, only=1)
    forged = ContextPermit.objects.get(pk=admission.permit.pk)
    wide = case.admit(answer, only=2)
    forged.chunks, forged.document_versions = wide.permit.chunks, wide.permit.document_versions
    with pytest.raises(authority.PermitRefused):
        case.release(answer, replace(admission, permit=forged), evidence=wide.evidence)
    assert_nothing_released(case)


def test_a_context_permit_is_used_once(case):
    answer = case.answers[0]
    admission = case.admit(answer)
    assert case.release(answer, admission) is not None
    assert case.release(answer, admission) is None
    assert ReleasePermit.objects.filter(answer=answer).count() == 1


def test_of_eight_racing_releases_one_is_made_and_recorded(case):
    answer = case.answers[0]
    admission = case.admit(answer)
    released = _race(case.bank, 8, lambda: case.release(answer, admission))
    assert sum(one is not None for one in released) == 1
    assert ReleasePermit.objects.filter(answer=answer).count() == 1
    assert AuditRecord.objects.filter(object_ids__answer=str(answer.id)).count() == 1


def test_of_eight_racing_consumers_one_gets_the_answer(case):
    answer = case.answers[0]
    permit = case.release(answer, case.admit(answer)).permit
    got = _race(case.bank, 8, lambda: authority.consume(permit=permit, caller=answer.user_id))
    assert sorted(got) == [False] * 7 + [True]


def test_a_release_permit_is_of_no_use_to_somebody_else(case):
    answer = case.answers[0]
    permit = case.release(answer, case.admit(answer)).permit
    assert not authority.consume(permit=permit, caller=case.people[1].id)
    assert authority.consume(permit=permit, caller=answer.user_id)


@pytest.mark.parametrize(
    "change",
    [
        "document_versions = '{}'",
        "access_revisions = '{}'",
        "admitted_at = now()",
        "caller = gen_random_uuid()",
        "digest = 'x'",
        "consumed_at = NULL",
    ],
)
@pytest.mark.parametrize("consumed", [True, False])
def test_no_part_of_a_release_permit_can_be_changed_even_by_the_superuser(
    case, raw_sql, change, consumed
):
    answer = case.answers[0]
    permit = case.release(answer, case.admit(answer)).permit
    if consumed:
        authority.consume(permit=permit, caller=answer.user_id)
    also = "" if consumed or "consumed_at" in change else ", consumed_at = now()"
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        raw_sql.execute(
            f"UPDATE answers_releasepermit SET {change}{also} WHERE id = %s", [permit.id]
        )


def _race(bank: Bank, count: int, act) -> list:
    together = threading.Barrier(count)

    def once(_):
        try:
            with bank.scope():
                together.wait()
                return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=count) as threads:
        return list(threads.map(once, range(count)))
