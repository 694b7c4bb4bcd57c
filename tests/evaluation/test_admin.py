"""Evaluation cases and runs as the administration lists them."""

import uuid

from evaluation.models import EvalCase, EvalResult, EvalRun
from tenants.models import Role
from tests.admin_pages import list_of, page_of, signed_in


def test_cases_are_listed_without_the_words_they_expect(bank):
    reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
    with bank.scope():
        case = EvalCase.objects.create(
            key="vault-1",
            question="What is the vault code?",
            kind="restricted",
            as_user=reviewer,
            bound_access_revision=1,
            expected_outcome="answered",
            required_text=["blue"],
            correct_answer="The code is blue.",
        )
    client = signed_in(bank, reviewer)
    for address in (list_of("evaluation_evalcase"), page_of(case)):
        page = client.get(address).content.decode()
        assert "vault-1" in page
        assert "blue" not in page


def test_runs_count_what_passed_and_what_was_violated(bank):
    reviewer = bank.person("reviewer", roles=[Role.REVIEWER])
    with bank.scope():
        run = EvalRun.objects.create(generator="extractive")
        for number, violations in enumerate([[], [], ["leak"]]):
            case = EvalCase.objects.create(
                key=f"case-{number}",
                question="?",
                kind="fact",
                as_user=reviewer,
                bound_access_revision=1,
                expected_outcome="answered",
            )
            EvalResult.objects.create(
                run=run,
                case=case,
                answer_id_given=uuid.uuid4(),
                outcome="answered",
                passed=not violations,
                violations=violations,
            )
    client = signed_in(bank, reviewer)
    shown = client.get(list_of("evaluation_evalrun")).context["cl"].result_list[0]
    assert (shown.right, shown.total, shown.wrong) == (2, 3, 1)
    assert "case-2" in client.get(page_of(run)).content.decode()
