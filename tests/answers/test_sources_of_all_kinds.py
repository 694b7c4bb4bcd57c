"""A citation of a file that is no PDF opens as text with its quote marked, and is only downloaded."""

from __future__ import annotations

import pytest

from answers.present import citation_url
from documents import services
from tests.fakes.office_files import docx_of
from tests.signed_in import signed_in

RULE = "Train journeys are booked in second class."


@pytest.fixture
def cited(bank):
    person = bank.person()
    with bank.scope():
        _, submission = services.create_document(
            actor=None,
            title="Travel",
            department=bank.department(),
            upload=services.Upload(
                data=docx_of(lambda document: document.add_paragraph(RULE)), name="travel.pdf"
            ),
            subjects=[person],
        )
    bank.ingest(submission.version)
    view = bank.ask(person, "In which class are train journeys booked?")
    return signed_in(bank, person), view, view.citations[0]


def test_its_words_are_the_page_with_the_quote_marked(cited):
    client, view, citation = cited
    page = client.get(citation_url(view, citation)).content.decode()
    assert f"<mark>{RULE}</mark>" in page
    assert "Download the file" in page
    assert "page-image" not in page


def test_it_has_no_page_images(cited):
    client, _, citation = cited
    address = f"/v1/sources/{citation.document_id}/versions/1/pages/1.png"
    assert client.get(address).status_code == 404


def test_its_file_is_downloaded_with_the_ending_of_what_it_is(cited):
    client, _, citation = cited
    response = client.get(f"/v1/sources/{citation.document_id}/versions/1/file")
    assert response["Content-Disposition"].startswith("attachment")
    assert response["Content-Disposition"].endswith('.docx"')
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]
