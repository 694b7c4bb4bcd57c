"""Administering documents: metadata, readers, versions and life-cycle, never their text."""

import uuid

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from audit.models import AuditRecord
from documents import services
from documents.access import readable_documents
from documents.models import Document, DocumentVersion, Grant, VersionStatus
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, said, signed_in
from tests.pdf import make_pdf

ADD, LIST = "documents_document", "documents_document"


@pytest.fixture
def manager(bank):
    return bank.person("manager", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])


@pytest.fixture
def browser(bank, manager):
    return signed_in(bank, manager)


def pdf(text: str = "Leave is 25 days.", name: str = "leave.pdf") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, make_pdf(text), content_type="application/pdf")


def bulk(browser, action: str, *documents, **answers):
    data = {"action": action, "_selected_action": [str(d.pk) for d in documents], **answers}
    answer = browser.post(list_of(LIST), data, follow=True)
    if "confirmed" in answers and (answer.context or {}).get("foreseen"):
        data["foreseen"] = answer.context["foreseen"].digest  # who gains and who loses was read
        answer = browser.post(list_of(LIST), data, follow=True)
    return answer


def current(bank, document) -> Document:
    with bank.scope():
        return Document.objects.get(pk=document.pk)


def test_a_document_is_created_with_its_readers_in_one_form(bank, manager, browser):
    group, person = bank.group("Tellers"), bank.person("reader")
    form = filled(
        browser.get(add_to(ADD)),
        title="Annual leave",
        reference="HR-1",
        department=str(bank.department().pk),
        file=pdf(),
        **{
            "grants-TOTAL_FORMS": "2",
            "grants-0-group": str(group.pk),
            "grants-1-user": str(person.pk),
        },
    )
    answer = browser.post(add_to(ADD), form, follow=True)
    assert "“Annual leave” was created. Version 1 was received" in said(answer)
    with bank.scope():
        document = Document.objects.get(title="Annual leave")
        assert answer.redirect_chain[-1][0] == page_of(document)
        assert {g.subject for g in document.grants.all()} == {
            "group:Tellers",
            f"user:{person.email}",
        }
        assert {g.granted_by for g in document.grants.all()} == {manager}
        created = AuditRecord.objects.get(action="document.created")
        assert set(created.facts["granted_to"]) == {str(group.id), str(person.id)}


def test_without_readers_it_says_that_nobody_may_read_it(bank, browser):
    form = filled(
        browser.get(add_to(ADD)), title="T", department=str(bank.department().pk), file=pdf()
    )
    assert "Nobody may read it yet" in said(browser.post(add_to(ADD), form, follow=True))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n", "a picture"),
        (b"%PDF-1.7 " + b"x" * settings.MAX_UPLOAD_BYTES, "larger than"),
    ],
)
def test_a_file_that_cannot_be_taken_keeps_the_form(bank, browser, data, sentence):
    form = filled(
        browser.get(add_to(ADD)),
        title="Kept title",
        department=str(bank.department().pk),
        file=SimpleUploadedFile("x.pdf", data),
    )
    answer = browser.post(add_to(ADD), form)
    shown = answer.context["adminform"].form
    assert sentence in str(shown.errors["file"])
    assert shown["title"].value() == "Kept title"
    with bank.scope():
        assert not Document.objects.exists()


def test_a_refusal_of_the_service_keeps_the_form_and_writes_nothing(bank, browser, monkeypatch):
    def refuse(**_):
        raise services.ValidationError("The store is full; ask the operator.")

    monkeypatch.setattr(services, "_store_version", lambda *_: refuse())
    form = filled(
        browser.get(add_to(ADD)), title="Kept", department=str(bank.department().pk), file=pdf()
    )
    answer = browser.post(add_to(ADD), form)
    assert "The store is full" in said(answer)
    assert answer.context["adminform"].form["title"].value() == "Kept"
    with bank.scope():
        assert not Document.objects.exists()
        assert not AuditRecord.objects.filter(action="document.created").exists()


def test_departments_people_and_groups_of_others_are_no_choice(bank, other_bank, browser):
    foreign = {
        "department": str(other_bank.department().pk),
        "owner": str(other_bank.person().pk),
        "grants-0-group": str(other_bank.group().pk),
    }
    own = {"department": str(bank.department().pk)}
    bank.department("Finance")
    for field, value in [*foreign.items(), ("department", str(bank.department("Finance").pk))]:
        form = filled(browser.get(add_to(ADD)), title="T", file=pdf(), **{**own, field: value})
        assert "valid choice" in said(browser.post(add_to(ADD), form)), field
    with bank.scope():
        assert not Document.objects.exists()


def test_another_departments_document_looks_like_none(bank, browser):
    theirs = bank.document("Treasury limits", department="Finance", ingest=False)
    assert "Treasury limits" not in browser.get(list_of(LIST)).content.decode()
    address = page_of(theirs)
    pages = [
        ("get", address),
        ("post", address),
        ("get", address.replace("change/", "delete/")),
        ("post", address.replace("change/", "delete/")),
        ("get", address.replace("change/", "history/")),
        ("get", reverse("admin:documents_progress", args=[theirs.pk])),
        ("get", reverse("admin:documents_readers", args=[theirs.pk])),
        ("post", reverse("admin:documents_version_action", args=[theirs.pk, 1, "retry"])),
        ("get", page_of(theirs.versions.model(pk=uuid.uuid4()))),
    ]
    for method, url in pages:
        there = getattr(browser, method)(url)
        nowhere = getattr(browser, method)(url.replace(str(theirs.pk), str(uuid.uuid4())))
        assert there.status_code == nowhere.status_code == 404, url
        assert there.content == nowhere.content
    bulk(browser, "delete_documents", theirs, confirmed="yes")
    assert current(bank, theirs).deleted_at is None


def test_readers_are_added_and_taken_away_on_the_page(bank, browser):
    old, new = bank.group("Old"), bank.group("New")
    document = bank.document(readers=[old], ingest=False)
    form = filled(
        browser.get(page_of(document)),
        **{"grants-0-DELETE": "on", "grants-1-group": str(new.pk)},
    )
    answer = browser.post(page_of(document), form, follow=True)
    assert "“New” may now read this document." in said(answer)
    assert "Access of “Old” was revoked." in said(answer)
    with bank.scope():
        assert [g.group for g in Grant.objects.filter(document=document)] == [new]


def test_one_row_names_a_group_or_a_person(bank, browser):
    document = bank.document(ingest=False)
    both = {"grants-0-group": str(bank.group().pk), "grants-0-user": str(bank.person().pk)}
    answer = browser.post(page_of(document), filled(browser.get(page_of(document)), **both))
    assert "one of the two" in said(answer)


def test_bulk_revoking_takes_effect_and_says_what_it_did(bank, browser):
    reader = bank.person("reader")
    group = bank.group("Tellers", reader)
    granted = bank.document("Granted", readers=[group])
    never = bank.document("Never", ingest=False)
    before = current(bank, granted).access_revision
    form = bulk(browser, "revoke_access", granted, never)
    assert "Tellers" in form.content.decode()
    choice = {"subject": f"group:{group.pk}", "confirmed": "yes"}
    answer = bulk(browser, "revoke_access", granted, never, **choice)
    assert "Access of “Tellers” revoked from: Granted." in said(answer)
    assert "“Tellers” had no grant to: Never." in said(answer)
    assert current(bank, granted).access_revision > before
    with bank.scope():
        assert not readable_documents(user=reader).exists()
    again = bulk(browser, "revoke_access", granted, **choice)
    assert "valid choice" in again.content.decode()  # nobody is left to take it from


def test_bulk_granting_reports_those_who_could_read_already(bank, browser):
    group = bank.group("Tellers")
    document = bank.document("Leave", readers=[group], ingest=False)
    choice = {"subject": f"group:{group.pk}", "confirmed": "yes"}
    answer = bulk(browser, "grant_access", document, **choice)
    assert "“Tellers” could read already: Leave." in said(answer)
    assert "Nothing was changed" in said(answer)


@pytest.mark.parametrize(
    ("action", "life_cycle", "sentence"),
    [
        ("archive", "archived", "Archived: Leave."),
        ("move_to_draft", "draft", "Moved to draft: Leave."),
    ],
)
def test_bulk_moves_record_their_reason(bank, browser, action, life_cycle, sentence):
    document = bank.document("Leave", ingest=False)
    assert bulk(browser, action, document).context["rows"] == [document]
    assert current(bank, document).life_cycle == "vetted"
    answer = bulk(browser, action, document, confirmed="yes", reason="Replaced")
    assert sentence in said(answer)
    assert current(bank, document).life_cycle == life_cycle
    with bank.scope():
        record = AuditRecord.objects.get(action="document.life_cycle_set")
        assert record.facts["reason"] == "Replaced"


@pytest.mark.parametrize("way", ["page", "bulk"])
def test_deleting_leaves_a_tombstone(bank, browser, way):
    reader = bank.person()
    document = bank.document(readers=[reader])
    if way == "page":
        address = page_of(document).replace("change/", "delete/")
        assert "Nobody can read" in browser.get(address).content.decode()
        browser.post(address, {"post": "yes"})
    else:
        bulk(browser, "delete_documents", document, confirmed="yes")
    with bank.scope():
        assert Document.objects.get(pk=document.pk).deleted_at is not None
        assert DocumentVersion.objects.filter(document=document).exists()
        assert not readable_documents(user=reader).exists()
        assert AuditRecord.objects.filter(action="document.deleted").count() == 1
    assert browser.get(page_of(document)).status_code == 404


def test_only_touched_fields_are_written(bank, manager, browser):
    document = bank.document("Leave", ingest=False)
    form = filled(browser.get(page_of(document)), title="Annual leave")
    with bank.scope():
        services.set_life_cycle(
            actor=manager, document=document, life_cycle="draft", reason="Outdated"
        )
    answer = browser.post(page_of(document), form, follow=True)
    assert "Changed: title." in said(answer)
    after = current(bank, document)
    assert (after.title, after.life_cycle) == ("Annual leave", "draft")


def test_a_new_version_is_uploaded_on_the_page_and_the_same_bytes_make_none(bank, browser):
    document = bank.document(text="Leave is 25 days.", ingest=False)
    form = filled(browser.get(page_of(document)))
    answer = browser.post(
        page_of(document), {**form, "file": pdf("Leave is 26 days.")}, follow=True
    )
    assert "Version 2 was received" in said(answer)
    answer = browser.post(
        page_of(document), {**form, "file": pdf("Leave is 26 days.")}, follow=True
    )
    assert "the same as version 2" in said(answer)
    progress = browser.get(reverse("admin:documents_progress", args=[document.pk])).json()
    assert [v["number"] for v in progress["versions"]] == [2, 1]
    assert progress["working"] is True


def test_a_failed_version_says_what_to_do_and_is_tried_again(bank, browser):
    document = bank.document(ingest=False)
    with bank.scope():
        DocumentVersion.objects.filter(document=document).update(
            status=VersionStatus.FAILED, failure_code="gave_up", failure_reason="It stopped."
        )
    page = browser.get(page_of(document)).content.decode()
    assert "It stopped." in page
    assert "upload a new export" in page
    retry = reverse("admin:documents_version_action", args=[document.pk, 1, "retry"])
    assert browser.get(retry).status_code == 404
    assert "tried again" in said(browser.post(retry, follow=True))
    assert "Only a failed version" in said(browser.post(retry, follow=True))


def test_what_was_mended_in_a_text_is_said_with_its_version(bank, browser):
    document = bank.document(ingest=False)
    mangled = "Die Überweisung an Müller ist für Kunden frei.".encode().decode("cp1252")
    with bank.scope():
        version = services.submit_version(
            actor=None,
            document=document,
            upload=services.Upload(data=mangled.encode(), name="transfer.txt"),
        ).version
    assert bank.ingest(version).repairs == ["encoding"]
    assert "characters were put right" in browser.get(page_of(document)).content.decode()


def test_a_former_version_is_put_in_force_again(bank, browser):
    document = bank.document(text="Leave is 25 days.")
    first = document.current_version_id
    bank.new_version(document, "Leave is 26 days.")
    reinstate = reverse("admin:documents_version_action", args=[document.pk, 1, "reinstate"])
    assert "Put version 1 in force" in browser.get(page_of(document)).content.decode()
    assert "in force again" in said(browser.post(reinstate, follow=True))
    assert current(bank, document).current_version_id == first


def test_the_pages_never_show_the_text_and_link_to_it_for_readers_only(bank, manager, browser):
    document = bank.document(text="The vault code is blue.")
    assert "vault code" not in browser.get(page_of(document)).content.decode()
    assert "Open as a reader" not in browser.get(page_of(document)).content.decode()
    bank.grant(document, manager)
    assert "Open as a reader" in browser.get(page_of(document)).content.decode()


def test_who_may_read_it_now_comes_from_the_rule_itself(bank, browser):
    reader, leaver = bank.person("reader"), bank.person("leaver")
    document = bank.document(readers=[bank.group("Circle", reader), leaver])
    address = reverse("admin:documents_readers", args=[document.pk])
    rows = browser.get(address).context["rows"]
    assert {(row.person.email, *row.through) for row in rows} == {
        (reader.email, "Circle"),
        (leaver.email, "personally"),
    }
    with bank.scope():
        services.set_life_cycle(actor=None, document=document, life_cycle="draft")
    assert "only vetted and archived" in browser.get(address).content.decode()


def test_auditors_see_metadata_and_change_nothing(bank):
    client = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    document = bank.document("Leave", department="Finance", ingest=False)
    page = client.get(page_of(document))
    assert page.status_code == 200
    assert "_save" not in page.content.decode()
    assert client.post(page_of(document), {"title": "x"}).status_code == 403
    retry = reverse("admin:documents_version_action", args=[document.pk, 1, "retry"])
    assert client.post(retry).status_code == 404
    bulk(client, "delete_documents", document, confirmed="yes")
    assert current(bank, document).deleted_at is None
