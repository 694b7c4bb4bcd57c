"""The source viewer, without a browser."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from answers.present import citation_url
from documents.models import LifeCycle
from tests.signed_in import signed_in

PAGES = ["Annual leave allowance is 25 days.", "Train journeys are booked in second class."]
QUESTION = "In which class are train journeys booked?"


@pytest.fixture
def person(bank):
    return bank.person("Emma")


@pytest.fixture
def document(bank, person):
    return bank.document("Two pages", PAGES, readers=[person])


def viewer(document, number=1) -> str:
    return reverse("source", args=[document.id, number])


def test_a_citation_leads_to_its_page_and_shows_its_quote(bank, person, document):
    view = bank.ask(person, QUESTION)
    client = signed_in(bank, person)
    for address in (
        citation_url(view, view.citations[0]),
        f"{viewer(document)}?answer={view.answer.id}&citation=1",
    ):
        page = client.get(address).content.decode()
        assert "Page 2 of 2" in page
        assert f"<mark>{PAGES[1]}</mark>" in page


def test_a_colleagues_citation_marks_nothing(bank, person, document):
    view = bank.ask(person, QUESTION)
    colleague = bank.person("Joris")
    bank.grant(document, colleague)
    page = signed_in(bank, colleague).get(citation_url(view, view.citations[0])).content.decode()
    assert "Page 2 of 2" in page
    assert "<mark>" not in page
    assert str(view.answer.id) not in page


@pytest.mark.parametrize("page", ["0", "3", "-1", "two", "", "1.0", "²", "9" * 30])
def test_a_page_the_document_does_not_have_is_not_there(bank, person, document, page):
    response = signed_in(bank, person).get(viewer(document), {"page": page})
    assert response.status_code == 404


@pytest.mark.parametrize(
    "query", ["answer=nonsense&citation=1", "citation=1", "answer=%00&citation=%00", "answer="]
)
def test_a_citation_that_is_none_shows_the_first_page(bank, person, document, query):
    page = signed_in(bank, person).get(f"{viewer(document)}?{query}").content.decode()
    assert "Page 1 of 2" in page
    assert "The words the answer quotes" not in page


def test_not_there_and_not_yours_look_the_same(bank, other_bank, person, document):
    secret = bank.document("Board minutes", readers=[])
    draft = bank.document("Draft", readers=[person], life_cycle=LifeCycle.DRAFT)
    foreign = other_bank.document("Foreign", readers=[other_bank.everyone])
    client = signed_in(bank, person)
    addresses = [viewer(secret), viewer(draft), viewer(foreign), viewer(document, 2)]
    addresses += [viewer(document) + "?page=9", f"/sources/{uuid.uuid4()}/versions/1/", "/no/such/"]
    responses = [client.get(address) for address in addresses]
    assert {response.status_code for response in responses} == {404}
    assert len({response.content for response in responses}) == 1


def test_a_superseded_version_is_gone(bank, person, document):
    bank.new_version(document, "Train journeys are booked in first class.")
    client = signed_in(bank, person)
    assert client.get(viewer(document, 1)).status_code == 404
    assert client.get(viewer(document, 2)).status_code == 200


def test_strangers_are_asked_to_sign_in(database, document):
    assert Client().get(viewer(document)).url.startswith("/accounts/login/")
