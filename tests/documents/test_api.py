"""The contract of /v1/documents, over HTTP."""

import json
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from documents import services
from documents.models import Document
from tenants import services as people
from tenants.models import Role
from tests.pdf import make_pdf


@pytest.fixture
def admin(bank):
    """A client of the administrator of Human Resources."""
    return client_of(bank, bank.person("admin", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")]))


def client_of(bank, user) -> Client:
    with bank.scope():
        _, token = people.issue_token(user=user)
    return Client(headers={"authorization": f"Bearer {token}"})


def upload(data: bytes = b"", name: str = "leave.pdf") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data or make_pdf("Annual leave is 25 days."), "application/pdf")


def fields(**more):
    return {"title": "Leave", "department": "Human Resources", "lifeCycle": "vetted", **more}


def test_an_administrator_uploads_a_document_with_its_grants(bank, admin):
    response = admin.post("/v1/documents", fields(file=upload(), grants=["group:everyone"]))
    assert response.status_code == 201
    assert response.json()["state"] == "received"
    with bank.scope():
        document = Document.objects.get(pk=response.json()["documentId"])
        bank.ingest(document.versions.get())
    listed = client_of(bank, bank.person("reader")).get("/v1/documents").json()["documents"]
    assert [one["title"] for one in listed] == ["Leave"]


def test_without_a_grant_nobody_reads_it_not_even_its_uploader(bank, admin):
    document_id = admin.post("/v1/documents", fields(file=upload())).json()["documentId"]
    with bank.scope():
        bank.ingest(Document.objects.get(pk=document_id).versions.get())
    assert admin.get("/v1/documents").json()["documents"] == []
    assert admin.get(f"/v1/sources/{document_id}/versions/1/text").status_code == 404


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n", "a picture"),
        (b"%PDF-" + b"x" * (20 * 2**20), "larger than 20 MB"),
    ],
)
def test_a_file_that_cannot_be_taken_is_refused_with_what_to_do(bank, admin, data, words):
    response = admin.post("/v1/documents", fields(file=upload(data)))
    assert response.status_code == 400
    assert words in response.json()["detail"]
    with bank.scope():
        assert not Document.objects.exists()


def test_of_a_file_that_is_too_large_no_more_is_read_than_shows_it(
    bank, admin, settings, monkeypatch
):
    document = bank.document(ingest=False)
    settings.MAX_UPLOAD_BYTES = 1000
    sizes, check = [], services.check_upload

    def note_size(file):
        sizes.append(len(file.data))
        check(file)

    monkeypatch.setattr(services, "check_upload", note_size)
    large = b"%PDF-" + b"x" * 9000
    for path, body in (
        ("/v1/documents", fields(file=upload(large))),
        (f"/v1/documents/{document.id}/versions", {"file": upload(large)}),
    ):
        assert admin.post(path, body).status_code == 400
    assert sizes == [1001, 1001]


def test_another_department_cannot_be_uploaded_to(bank, admin):
    bank.department("Finance")
    response = admin.post("/v1/documents", fields(department="Finance", file=upload()))
    unknown = admin.post("/v1/documents", fields(department="Nowhere", file=upload()))
    assert response.status_code == unknown.status_code == 400
    assert response.json()["detail"] == unknown.json()["detail"].replace("Nowhere", "Finance")


def test_an_employee_manages_nothing(bank):
    document = bank.document(readers=[bank.everyone])
    employee = client_of(bank, bank.person("employee"))
    missing = uuid.uuid4()
    for method, path in (
        ("delete", ""),
        ("get", "/grants"),
        ("post", "/grants"),
        ("delete", "/grants"),
        ("post", "/versions"),
    ):
        call = getattr(employee, method)
        theirs, nobodys = (
            call(f"/v1/documents/{document.id}{path}"),
            call(f"/v1/documents/{missing}{path}"),
        )
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.content == nobodys.content


def test_a_new_version_and_the_same_bytes_again(bank, admin):
    document = bank.document()
    path = f"/v1/documents/{document.id}/versions"
    first = admin.post(path, {"file": upload(make_pdf("Annual leave is 27 days."))})
    again = admin.post(path, {"file": upload(make_pdf("Annual leave is 27 days."))})
    assert (first.status_code, first.json()["version"]) == (201, 2)
    assert (again.status_code, again.json()["state"]) == (200, "duplicate")


def test_grants_are_given_listed_and_taken_back(bank, admin):
    document = bank.document()
    path = f"/v1/documents/{document.id}/grants"

    def send(method, to):
        return getattr(admin, method)(path, json.dumps({"to": to}), content_type="application/json")

    assert send("post", "group:everyone").status_code == 201
    assert send("post", "group:everyone").status_code == 200
    assert admin.get(path).json() == [{"to": "group:everyone"}]
    assert send("delete", "group:everyone").status_code == 204
    assert admin.get(path).json() == []
    assert send("post", "group:nobodies").status_code == 400
    assert send("post", "everyone").status_code == 400


def test_a_deleted_document_is_gone_from_every_list_at_once(bank, admin):
    reader = bank.person("reader")
    document = bank.document(readers=[reader])
    client = client_of(bank, reader)
    assert len(client.get("/v1/documents").json()["documents"]) == 1
    assert admin.delete(f"/v1/documents/{document.id}").status_code == 204
    assert client.get("/v1/documents").json()["documents"] == []
    assert client.get(f"/v1/sources/{document.id}/versions/1/file").status_code == 404


def test_drafts_duplicates_and_unknowns_are_in_no_readers_list(bank):
    reader = bank.person("reader")
    for life_cycle in ("draft", "duplicate", "unknown_provenance"):
        bank.document(life_cycle, f"Rule of {life_cycle}.", readers=[reader], life_cycle=life_cycle)
    assert client_of(bank, reader).get("/v1/documents").json()["documents"] == []
