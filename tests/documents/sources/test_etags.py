"""A program that holds a source may ask whether it is still the same, and still to be read."""

import uuid

import pytest
from django.test import Client

from tenants import services as people

QUESTION = "How many days of annual leave do I have?"
PARTS = ["text", "file", "pages/1.png"]


@pytest.fixture
def reader(bank):
    return bank.person("reader")


@pytest.fixture
def document(bank, reader):
    return bank.document("Leave", "Annual leave allowance is 25 days.", readers=[reader])


@pytest.fixture
def client(bank, reader) -> Client:
    with bank.scope():
        _, token = people.issue_token(user=reader)
    return Client(headers={"authorization": f"Bearer {token}"})


@pytest.mark.parametrize("part", PARTS)
def test_what_one_holds_is_not_sent_again(client, document, part):
    path = f"/v1/sources/{document.id}/versions/1/{part}"
    first = client.get(path)
    etag = first["ETag"]
    assert first.status_code == 200
    for held in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.get(path, headers={"if-none-match": held})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
        assert "no-store" in again["Cache-Control"]
    for other in ('"other"', "", "nonsense"):
        assert client.get(path, headers={"if-none-match": other}).content == first.content


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("held", ["the etag", "*"])
def test_after_a_revocation_the_etag_says_nothing_any_more(
    bank, client, reader, document, part, held
):
    path = f"/v1/sources/{document.id}/versions/1/{part}"
    etag = client.get(path)["ETag"] if held != "*" else "*"
    bank.revoke(document, reader)
    theirs = client.get(path, headers={"if-none-match": etag})
    nobodys = client.get(
        path.replace(str(document.id), str(uuid.uuid4())), headers={"if-none-match": etag}
    )
    assert theirs.status_code == nobodys.status_code == 404
    assert (theirs.content, theirs.headers) == (nobodys.content, nobodys.headers)


def test_a_page_that_is_not_there_is_not_unchanged(client, document):
    for page in (0, 2):
        path = f"/v1/sources/{document.id}/versions/1/pages/{page}.png"
        assert client.get(path, headers={"if-none-match": "*"}).status_code == 404


def test_a_page_with_a_mark_is_another_picture(bank, client, reader, document):
    view = bank.ask(reader, QUESTION)
    path = f"/v1/sources/{document.id}/versions/1/pages/1.png"
    plain = client.get(path)["ETag"]
    query = {"answer": str(view.answer.pk), "citation": 1}
    marked = client.get(path, query, headers={"if-none-match": plain})
    assert marked.status_code == 200
    assert marked["ETag"] != plain
