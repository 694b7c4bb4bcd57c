"""What a new version changed, section by section, for those who keep the document."""

import pytest
from django.urls import reverse

from tenants.models import Role
from tests.admin_pages import signed_in

FIRST = (
    "1. Allowance\nAnnual leave allowance is 25 days. It is taken in the year.\n"
    "2. Carrying over\nFive days are carried over.\n"
    "3. Sickness\nReport sickness before 9.00."
)
SECOND = (
    "1. Allowance\nAnnual leave allowance is 26 days. It is taken in the year.\n"
    "3. Sickness\nReport sickness before 9.00.\n"
    "4. Parents\nParents have twenty days more."
)


@pytest.fixture
def page(bank):
    """The page of version 2, as a manager sees who may or may not read the document."""

    def get(*, reads: bool, number: int = 2) -> str:
        manager = bank.person("manager", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
        document = bank.document("Leave", FIRST, readers=[manager] if reads else [])
        bank.new_version(document, SECOND)
        address = reverse("admin:documents_version_changes", args=[document.pk, number])
        return signed_in(bank, manager).get(address).content.decode()

    return get


def test_a_reader_sees_the_sentences_that_went_and_came(page):
    shown = page(reads=True)
    assert "1. Allowance: changed" in shown
    assert "<del>Annual leave allowance is 25 days.</del>" in shown
    assert "<ins>Annual leave allowance is 26 days.</ins>" in shown
    assert "2. Carrying over: removed" in shown
    assert "4. Parents: added" in shown
    assert "3 sections changed and 1 did not" in shown
    assert "3. Sickness" not in shown
    assert "It is taken in the year" not in shown


def test_who_may_not_read_the_document_sees_how_many_sections_changed_and_no_word(page):
    shown = page(reads=False)
    assert "3 sections changed and 1 did not" in shown
    assert "Allowance" not in shown
    assert "days" not in shown


def test_a_first_version_has_nothing_to_compare_with(page):
    assert "no former version" in page(reads=True, number=1)
