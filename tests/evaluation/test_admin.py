"""Evaluation cases and runs as the administration lists them."""

from evaluation.models import EvalCase
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
