"""The pages about answers, without a browser."""

import re
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from answers.models import Answer, Feedback, Outcome
from tests.signed_in import signed_in

QUESTION = "What is the annual leave allowance?"


@pytest.fixture
def person(bank):
    person = bank.person("Emma")
    bank.document("Annual leave policy", readers=[person])
    return person


def ask(client: Client, question: str, **fields) -> str:
    """The address of the answer."""
    response = client.post("/", {"question": question, **fields})
    assert response.status_code == 302, response.content
    return response.url


@pytest.mark.parametrize("path", ["/", "/history/", f"/answers/{uuid.UUID(int=7)}/"])
def test_pages_ask_strangers_to_sign_in(database, path):
    response = Client().get(path)
    assert response.status_code == 302
    assert response.url.startswith("/accounts/login/?next=")


def test_pages_are_kept_by_no_cache(bank, person):
    client = signed_in(bank, person)
    for path in ("/", "/history/", ask(client, QUESTION)):
        assert "no-store" in client.get(path)["Cache-Control"]


def test_a_posted_question_leads_to_its_answer(bank, person):
    client = signed_in(bank, person)
    page = client.get(ask(client, QUESTION)).content.decode()
    assert "Annual leave allowance is 25 days." in page
    assert "Sentences quoted from the documents" in page


def test_a_form_sent_twice_is_one_attempt(bank, person):
    client = signed_in(bank, person)
    request_id = str(uuid.uuid4())
    assert ask(client, QUESTION, request_id=request_id) == ask(
        client, QUESTION, request_id=request_id
    )
    with bank.scope():
        assert Answer.objects.count() == 1


def test_an_old_form_with_another_question_asks_that_question(bank, person):
    client = signed_in(bank, person)
    request_id = str(uuid.uuid4())
    first = ask(client, QUESTION, request_id=request_id)
    second = ask(client, "Who may take leave?", request_id=request_id)
    assert first != second


@pytest.mark.parametrize(
    ("question", "complaint"), [("  ", "Ask a question first"), ("x" * 1001, "longer than 1000")]
)
def test_a_question_that_cannot_be_asked_is_given_back_with_the_reason(
    bank, person, question, complaint
):
    response = signed_in(bank, person).post("/", {"question": question})
    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert question in response.content.decode()


def test_somebody_elses_answer_is_as_absent_as_none(bank, other_bank, person):
    own = ask(signed_in(bank, person), QUESTION)
    colleague = signed_in(bank, bank.person("Joris"))
    stranger = signed_in(other_bank, other_bank.person("Clara"))
    missing = [
        client.get(reverse("answer", args=[uuid.uuid4()])) for client in (colleague, stranger)
    ]
    theirs = [client.get(own) for client in (colleague, stranger)]
    assert {response.status_code for response in missing + theirs} == {404}
    assert len({response.content for response in missing + theirs}) == 1


def test_feedback_on_somebody_elses_answer_is_refused(bank, person):
    own = ask(signed_in(bank, person), QUESTION)
    colleague = signed_in(bank, bank.person("Joris"))
    response = colleague.post(f"{own}feedback/", {"helpful": "false"})
    assert response.status_code == 404
    with bank.scope():
        assert not Feedback.objects.exists()


def test_somebody_elses_attempt_cannot_be_cancelled(bank, person):
    started = bank.start(person, QUESTION)
    response = signed_in(bank, bank.person("Joris")).post(
        "/cancel/", {"request_id": started.answer.request_id}
    )
    assert response.status_code == 404
    with bank.scope():
        started.answer.refresh_from_db()
    assert not started.answer.cancel_requested


def test_an_attempt_under_way_is_shown_as_such(bank, person):
    started = bank.start(person, QUESTION)
    client = signed_in(bank, person)
    page = client.get(reverse("answer", args=[started.answer.id])).content.decode()
    assert "still being answered" in page
    assert "In progress" in client.get("/history/").content.decode()


def test_the_history_lists_own_questions_newest_first(bank, person):
    client = signed_in(bank, person)
    ask(client, QUESTION)
    ask(client, "Who painted the ceiling?")
    ask(signed_in(bank, bank.person("Joris")), "What did Joris ask?")
    page = client.get("/history/").content.decode()
    assert re.findall(r'dir="auto">([^<]+\?)</a>', page) == ["Who painted the ceiling?", QUESTION]
    assert page.index(Outcome.ABSTAINED.label) < page.index(Outcome.ANSWERED.label)


def test_a_long_history_has_pages(bank, person):
    for number in range(21):
        bank.start(person, f"Question {number}?")
    client = signed_in(bank, person)
    assert "Page 1 of 2" in client.get("/history/").content.decode()
    assert "Question 0?" in client.get("/history/?page=2").content.decode()
    assert client.get("/history/?page=nonsense").status_code == 200
