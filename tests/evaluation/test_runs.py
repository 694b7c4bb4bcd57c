"""Cases run through the same pipeline, with the real rights of the person they are asked as."""

import pytest

from answers.models import Answer
from answers.selectors import own_answers
from audit.models import AuditRecord
from documents.building import start_generation
from documents.generations import serving_generation
from documents.tasks import build_generation
from evaluation.cases import create_case
from evaluation.judging import Given, holds, judge
from evaluation.models import CaseState, EvalResult
from evaluation.runs import run_evaluation

QUESTION = "How many days of annual leave do I have?"


@pytest.fixture
def case(bank):
    """Makes active cases about the leave policy, asked as a reader of it."""
    reader = bank.person("reader")
    document = bank.document("Annual leave", readers=[reader])

    def make(as_user=reader, **fields):
        defaults = {
            "key": f"case-{len(made)}",
            "question": QUESTION,
            "as_user": as_user,
            "expected_outcome": "answered",
            "kind": "number",
            "required_text": ["25 days"],
            "required_documents": [document.id],
            "state": CaseState.ACTIVE,
        }
        with bank.scope():
            made.append(create_case(**(defaults | fields)))
        return made[-1]

    made = []
    return make


def test_a_run_reports_what_passed_by_kind_and_finds_no_violation(bank, case):
    case()
    case(as_user=bank.person("stranger"), expected_outcome="abstained", kind="restricted")
    case(required_text=["30 days"], kind="table")
    with bank.scope():
        run = run_evaluation()
        why = EvalResult.objects.get(run=run, passed=False).failures
    assert (run.measures["passed"], run.measures["failed"]) == (2, 1)
    assert run.measures["violations"] == run.measures["quotesNotVerbatim"] == 0
    assert run.measures["passedByKind"] == {"number": 1.0, "restricted": 1.0, "table": 0.0}
    assert why == ["does not say: 30 days"]


def test_an_evaluation_answer_is_in_nobodys_history_and_audited_as_such(bank, case):
    asked = case()
    with bank.scope():
        run_evaluation()
        assert Answer.objects.count() == 1
        assert not own_answers(user=asked.as_user).exists()
        assert AuditRecord.objects.filter(action="answer.evaluated").exists()
        assert not AuditRecord.objects.filter(action="answer.attempted").exists()


def test_a_case_that_is_not_active_is_not_run(bank, case):
    case(state=CaseState.DRAFT)
    with bank.scope():
        assert run_evaluation().measures["cases"] == 0


def test_cases_run_through_a_candidate_while_another_generation_serves(bank, case):
    case()
    with bank.scope():
        candidate = start_generation(name="second", embedder="use-multilingual")
        build_generation(str(bank.tenant.id), str(candidate.pk))
        run = run_evaluation(generation=candidate)
        [answer] = Answer.objects.all()
        assert serving_generation().pk != candidate.pk
    assert run.measures["passed"] == 1
    assert answer.generation_id_used == candidate.pk
    assert answer.model == "extractive-3"  # not that which compares by the serving embedder


def test_a_document_without_right_is_a_violation_whatever_the_answer(case, bank):
    asked = case()
    given = Given(outcome="answered", words="25 days", documents=frozenset())
    judgement = judge(case=asked, given=given, unreadable=[bank.tenant.id])
    assert judgement.violations
    assert not judgement.passed


@pytest.mark.parametrize(
    ("text", "words", "there"),
    [
        ("within 24 hours", "4 hours", False),
        ("within 4\nhours.", "4 hours", True),
        ("limit 1,000.50", "1,000", False),
        ("EUR 1,000.", "1,000", True),
        ("Überweisung", "überweisung", True),
    ],
)
def test_words_count_only_when_they_stand_whole(text, words, there):
    assert holds(text, words) is there
