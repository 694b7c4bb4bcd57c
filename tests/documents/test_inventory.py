"""The inventory says of every document which version holds and whether it can be relied on."""

import csv
import datetime as dt
import io
import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from documents import services
from documents.inventory import (
    Unfit,
    inventory_documents,
    inventory_rows,
    inventory_totals,
    older_than,
)
from documents.models import DocumentVersion, LifeCycle, TextProfile
from tenants.models import Role
from tests.admin_pages import list_of, page_of, said, signed_in
from tests.pdf import make_pdf

PAGE = "documents_inventoryentry"


def rows_for(bank, user=None) -> dict:
    with bank.scope():
        rows = inventory_rows(inventory_documents(user=user), user=user)
    return {row.title: row for row in rows}


def fail(bank, document, code: str = "gave_up", reason: str = "It stopped.") -> None:
    with bank.scope():
        newest = document.versions.order_by("-number").first()
        DocumentVersion.objects.filter(pk=newest.pk).update(
            status="failed", failure_code=code, failure_reason=reason
        )


def submit(bank, document, text: str, **fields) -> DocumentVersion:
    with bank.scope():
        return services.submit_version(
            actor=None,
            document=document,
            upload=services.Upload(data=make_pdf(text)),
            **fields,
        ).version


@pytest.fixture
def troubled(bank):
    """One document for each trouble, and one without any."""
    owner = bank.person("owner")
    well = bank.document("Well", "Alpha beta gamma.", owner=owner, readers=[bank.everyone])
    bank.document("Draft", "Draft words here.", life_cycle=LifeCycle.DRAFT)
    bank.document("Old", "Old words here.", life_cycle=LifeCycle.ARCHIVED)
    bank.document("Unread", "Nobody has read this.", ingest=False)
    fail(bank, bank.document("Scan", "Looks like a scan.", ingest=False), "no_text", "No text.")
    replaced = bank.document("Replaced", "First words of it.")
    bank.new_version(replaced, "Second words of it.", ingest=False)
    fail(bank, replaced)
    bank.document("Original", "Twice the very same file.")
    bank.document("Copy", "Twice the very same file.")
    bank.document("Code one", "The first with it.", reference="FIN-1")
    bank.document("Code two", "The second with that.", reference="fin- 1")
    day = dt.date(2024, 1, 1)
    twice = bank.document("Twice a day", "Morning edition of it.", effective_date=day)
    bank.ingest(submit(bank, twice, "Evening edition of it.", effective_date=day))
    return well


def test_each_trouble_is_named_and_only_the_sound_document_is_fit(bank, troubled):
    rows = rows_for(bank)
    assert {title: row.unfit for title, row in rows.items()} == {
        "Well": (),
        "Draft": (Unfit.NOT_VETTED,),
        "Old": (Unfit.WITHDRAWN,),
        "Unread": (Unfit.NOTHING_IN_FORCE,),
        "Scan": (Unfit.NOTHING_IN_FORCE, Unfit.NEWEST_FAILED),
        "Replaced": (Unfit.NEWEST_FAILED,),
        "Original": (Unfit.MAYBE_DUPLICATE,),
        "Copy": (Unfit.MAYBE_DUPLICATE,),
        "Code one": (Unfit.SAME_REFERENCE,),
        "Code two": (Unfit.SAME_REFERENCE,),
        "Twice a day": (Unfit.SAME_DAY,),
    }
    assert [twin.title for twin in rows["Copy"].twins] == ["Original"]
    assert [rival.title for rival in rows["Code two"].rivals] == ["Code one"]
    assert rows["Twice a day"].same_day == ((dt.date(2024, 1, 1), (1, 2)),)
    assert (rows["Replaced"].in_force.number, rows["Replaced"].newest.number) == (1, 2)
    assert rows["Replaced"].newest.failure_reason == "It stopped."
    assert rows["Twice a day"].in_force.since == dt.date(2024, 1, 1)
    assert rows["Scan"].is_scan


def test_counts_filters_and_rows_agree(bank, troubled):
    rows = rows_for(bank)
    with bank.scope():
        documents = inventory_documents(user=None)
        totals = inventory_totals(documents)
        fit = set(documents.filter(fit=True).values_list("title", flat=True))
    assert fit == {title for title, row in rows.items() if row.fit}
    assert (totals.documents, totals.unfit) == (11, 10)
    assert totals.unfit_percent == 91
    assert (totals.failed, totals.duplicates, totals.conflicts, totals.scans) == (2, 2, 3, 1)
    assert (totals.without_owner, totals.without_readers, totals.working) == (10, 10, 1)


def test_the_number_of_statements_does_not_grow_with_the_documents(bank):
    def statements() -> int:
        with bank.scope(), CaptureQueriesContext(connection) as captured:
            user = admin
            documents = inventory_documents(user=user)
            inventory_totals(documents)
            inventory_rows(documents, user=user)
        return len(captured)

    admin = bank.person("admin", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
    bank.document("One", "Same words.", reference="A-1")
    before = statements()
    for number in range(6):
        bank.document(f"More {number}", "Same words.", reference="A-1", ingest=False)
    assert (
        statements() <= before + 1
    )  # dates of clashing versions are asked for when there are some


def test_a_department_administrator_sees_and_counts_their_own_documents_only(bank):
    admin = bank.person("admin", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
    auditor = bank.person("auditor", roles=[Role.AUDITOR])
    bank.document("Ours", "The very same file.", reference="R-1")
    bank.document("Theirs", "The very same file.", reference="R-1", department="Finance")
    rows = rows_for(bank, admin)
    assert set(rows) == {"Ours"}
    assert rows["Ours"].fit, "neither a conflict nor a duplicate tells of a document of Finance"
    assert (rows["Ours"].twins, rows["Ours"].rivals) == ((), ())
    assert rows_for(bank, bank.person("employee")) == {}
    assert set(rows_for(bank, auditor)) == {"Ours", "Theirs"}
    client = signed_in(bank, admin)
    for address in (list_of(PAGE), reverse("admin:documents_inventory_export")):
        assert "Theirs" not in client.get(address).content.decode("utf-8-sig")


def test_a_version_that_waits_for_its_day_is_told_from_the_one_in_force(bank):
    document = bank.document("Leave", "Leave is 25 days.")
    bank.ingest(submit(bank, document, "Leave is 27 days.", effective_date=dt.date(2999, 1, 1)))
    row = rows_for(bank)["Leave"]
    assert (row.in_force.number, row.newest.number, row.newest.waits) == (1, 2, True)
    assert row.newest.since == dt.date(2999, 1, 1)
    assert row.fit


def test_age_counts_from_the_day_the_version_in_force_holds(bank):
    today = timezone.localdate()
    bank.document("Aged", "Words.", effective_date=today - dt.timedelta(days=800))
    bank.document("Fresh", "Other words.")
    rows = rows_for(bank)
    assert (rows["Aged"].age_days, rows["Fresh"].age_days) == (800, 0)
    with bank.scope():
        documents = inventory_documents(user=None)
        assert [one.title for one in older_than(documents, years=2)] == ["Aged"]
        assert not older_than(documents, years=3).exists()


def test_pages_that_are_empty_or_were_recognised_are_told(bank):
    document = bank.document("Partly", ["First page.", "", "Third page."])
    with bank.scope():
        TextProfile.objects.filter(version=document.current_version).update(recognised_pages=2)
        assert inventory_totals(inventory_documents(user=None)).with_recognised_text == 1
    row = rows_for(bank)["Partly"]
    assert (row.empty_pages, row.recognised_pages) == (1, 2)


def test_the_command_keeps_its_counts_and_adds_rows_and_totals(bank, troubled):
    out = io.StringIO()
    call_command("inventory", "--tenant", bank.tenant.slug, "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["documents"] == 11
    assert told["byLifeCycle"] == {"vetted": 9, "draft": 1, "archived": 1}
    assert told["byDepartment"] == {"Human Resources": 11}
    assert told["latestVersion"] == {"searchable": 8, "received": 1, "failed": 2}
    assert told["totals"]["unfitPercent"] == 91
    row = next(row for row in told["rows"] if row["title"] == "Copy")
    assert (row["fit"], row["unfit"]) == (False, ["maybe_duplicate"])
    assert row["twins"][0]["kind"] == "bytes"
    assert row["inForce"]["number"] == 1


# --- On the page ----------------------------------------------------------------------------------


@pytest.fixture
def client(bank):
    return signed_in(bank, bank.person("admin", roles=[Role.TENANT_ADMIN]))


def test_the_page_shows_it_all_and_each_row_leads_to_what_is_to_be_done(bank, troubled, client):
    page = client.get(list_of(PAGE)).content.decode()
    for words in (
        "91 %",
        "10 of 11",
        "The newest upload failed",
        "Upload a corrected file",
        "Try the upload again",
        "Decide: the same file as “Original”",
        "“Code one” has it too",
        "Versions 1 and 2 hold from 01/01/2024",
        "Set an owner",
        "Say who may read it",
    ):
        assert words in page, words


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ({"problem": "failed"}, {"Scan", "Replaced"}),
        ({"problem": "duplicate"}, {"Original", "Copy"}),
        ({"problem": "reference"}, {"Code one", "Code two"}),
        ({"problem": "day"}, {"Twice a day"}),
        ({"problem": "scan"}, {"Scan"}),
        ({"life_cycle__exact": "draft"}, {"Draft"}),
        ({"q": "fin-1"}, {"Code one"}),
        ({"problem": "duplicate", "q": "copy"}, {"Copy"}),
        ({"age": "2"}, {"Twice a day"}),
        ({"problem": "nonsense"}, None),
    ],
)
def test_the_page_and_its_export_are_filtered_alike(bank, troubled, client, query, titles):
    listed = client.get(list_of(PAGE), query)
    assert listed.status_code == 200
    shown = {document.title for document in listed.context["cl"].result_list}
    export = client.get(reverse("admin:documents_inventory_export"), query)
    exported = csv.DictReader(io.StringIO(export.content.decode("utf-8-sig")))
    assert {row["Title"] for row in exported} == shown
    if titles is not None:
        assert shown == titles


@pytest.mark.parametrize("cell", ["=HYPERLINK(1)", "+1", "-1+2", "@SUM(A1)", "\t=1", " =1", "＝1"])
def test_an_export_holds_no_formula(bank, client, cell):
    document = bank.document("Leave", "Words.", ingest=False)
    with bank.scope():  # as a synchronised source may name it
        type(document).objects.filter(pk=document.pk).update(title=cell, reference=cell[:60])
    export = client.get(reverse("admin:documents_inventory_export"))
    (row,) = csv.DictReader(io.StringIO(export.content.decode("utf-8-sig")))
    assert row["Title"] == row["Reference"] == f"'{cell}"
    assert export["Content-Disposition"] == 'attachment; filename="inventory.csv"'


def test_a_row_leads_to_the_documents_own_page(bank, client):
    document = bank.document("Leave", "Words.", ingest=False)
    with bank.scope():
        address = page_of(document, PAGE)
    assert client.get(address).url == page_of(document)


def bulk(client, action: str, *documents, **answers):
    data = {"action": action, "_selected_action": [str(d.pk) for d in documents], **answers}
    answer = client.post(list_of(PAGE), data, follow=True)
    if "confirmed" in answers and (answer.context or {}).get("foreseen"):
        data["foreseen"] = answer.context["foreseen"].digest
        answer = client.post(list_of(PAGE), data, follow=True)
    return said(answer)


def test_an_owner_is_set_for_many_and_nothing_is_said_to_be_nothing(bank, client):
    owner = bank.person("owner")
    one, two = bank.document("One", "A.", ingest=False), bank.document("Two", "B.", ingest=False)
    assert "The owner was set: One, Two." in bulk(
        client, "set_owner", one, two, owner=owner.email, confirmed="yes"
    )
    again = bulk(client, "set_owner", one, two, owner=owner.email, confirmed="yes")
    assert "Had this owner already: One, Two." in again
    assert "Nothing was changed." in again
    assert rows_for(bank)["One"].owner == "Owner"


def test_an_owner_who_is_nobody_here_is_refused(bank, other_bank, client):
    one = bank.document("One", "A.", ingest=False)
    stranger = other_bank.person("stranger")
    data = {"action": "set_owner", "_selected_action": [str(one.pk)], "confirmed": "yes"}
    answer = client.post(list_of(PAGE), {**data, "owner": stranger.email})
    assert "There is no account" in answer.content.decode()
    assert rows_for(bank)["One"].owner == ""


def test_many_are_moved_with_one_reason(bank, client):
    one = bank.document("One", "First words.")
    two = bank.document("Two", "Second words.", life_cycle="draft")
    asked = {"life_cycle": "draft", "confirmed": "yes"}
    bulk(client, "set_life_cycle", one, two, **asked)
    assert rows_for(bank)["One"].life_cycle == LifeCycle.VETTED, "not without a reason"
    told = bulk(client, "set_life_cycle", one, two, reason="Under review", **asked)
    assert "Moved to “Draft”: One." in told
    assert "Was “Draft” already: Two." in told


def test_failed_uploads_are_tried_again_and_others_are_left(bank, client):
    one, two = bank.document("One", "A.", ingest=False), bank.document("Two", "Words.")
    fail(bank, one)
    told = bulk(client, "retry_failed", one, two)
    assert "The newest upload is tried again: One." in told
    assert "The newest upload has not failed: Two." in told
    assert "Nothing was changed." in bulk(client, "retry_failed", two)


def test_auditors_look_and_do_nothing(bank):
    client = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    document = bank.document("Leave", "Words.", department="Finance", ingest=False)
    page = client.get(list_of(PAGE))
    assert [one.title for one in page.context["cl"].result_list] == ["Leave"]
    bulk(client, "delete_documents", document, confirmed="yes")
    assert "Leave" in rows_for(bank)
