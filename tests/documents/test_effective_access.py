"""Effective access in the administration: who reads a document, what a person reads, what a change does."""

import uuid

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from audit.models import AuditRecord
from documents import services
from documents.access import may_read
from documents.effective_access import foresee_access
from documents.models import Document, DocumentVersion, Grant
from tenants.models import Role
from tests.admin_pages import filled, list_of, page_of, said, signed_in
from tests.documents.test_admin import pdf


@pytest.fixture
def manager(bank):
    return bank.person("manager", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])


@pytest.fixture
def browser(bank, manager):
    return signed_in(bank, manager)


def in_force(bank, *readers, **fields) -> Document:
    """A document whose version is in force, without the work of indexing it."""
    document = bank.document(readers=readers, ingest=False, **fields)
    with bank.scope():
        version = DocumentVersion.objects.get(document=document)
        Document.objects.filter(pk=document.pk).update(current_version=version)
    return document


def grants(bank, document) -> set[str]:
    with bank.scope():
        return {grant.subject for grant in Grant.objects.filter(document=document)}


def page_for(person) -> str:
    return reverse("admin:documents_person", args=[person.pk])


def change(browser, document, **changes):
    return browser.post(page_of(document), filled(browser.get(page_of(document)), **changes))


def test_a_change_of_readers_is_shown_before_it_is_saved_and_saved_when_confirmed(bank, browser):
    gone, stays, comes = (bank.person(name) for name in ("gone", "stays", "comes"))
    old, new = bank.group("Old", gone, stays), bank.group("New", stays, comes)
    document = in_force(bank, old)
    asked = change(
        browser, document, **{"grants-0-DELETE": "on", "grants-1-group": str(new.pk), "title": "T"}
    )
    shown = asked.context["change"]
    assert ([*shown.gains], [*shown.loses]) == ([comes], [gone])
    page = asked.content.decode()
    assert comes.email in page
    assert gone.email in page
    assert stays.email not in page
    assert grants(bank, document) == {"group:Old"}
    with bank.scope():
        assert Document.objects.get(pk=document.pk).title == "A policy"
        assert not AuditRecord.objects.filter(action="grant.given").exists()

    answer = browser.post(page_of(document), filled(asked), follow=True)
    assert "“New” may now read this document." in said(answer)
    assert grants(bank, document) == {"group:New"}
    with bank.scope():
        assert Document.objects.get(pk=document.pk).title == "T"
        assert may_read(user=comes, document_id=document.id)
        assert not may_read(user=gone, document_id=document.id)


def test_what_was_confirmed_is_what_happens_or_it_is_shown_again(bank, browser):
    group = bank.group("Tellers", bank.person("first"))
    document = in_force(bank)
    asked = change(browser, document, **{"grants-0-group": str(group.pk)})
    late = bank.person("late", groups=[group])
    again = browser.post(page_of(document), filled(asked))
    assert late in again.context["change"].gains
    assert grants(bank, document) == set()
    browser.post(page_of(document), filled(again))
    assert grants(bank, document) == {"group:Tellers"}


def test_a_confirmation_cannot_be_made_up(bank, browser):
    document = in_force(bank)
    new = {"grants-0-user": str(bank.person("comes").pk)}
    for made_up in ("yes", "on", "0" * 64):
        asked = change(browser, document, access_confirmed=made_up, **new)
        assert asked.context["change"].gains
    assert grants(bank, document) == set()


def test_a_change_of_life_cycle_is_shown_with_whom_it_concerns(bank, browser):
    reader = bank.person("reader")
    document = in_force(bank, reader)
    asked = change(browser, document, life_cycle="draft", reason="Outdated")
    assert [*asked.context["change"].loses] == [reader]
    assert "Life-cycle is now" in said(browser.post(page_of(document), filled(asked), follow=True))
    asked = change(browser, document, life_cycle="vetted")
    assert [*asked.context["change"].gains] == [reader]
    with bank.scope():
        assert Document.objects.get(pk=document.pk).life_cycle == "draft"


def test_before_a_version_is_in_force_the_page_says_who_will_read_it(bank, browser):
    person = bank.person("reader")
    document = bank.document(ingest=False)
    asked = change(browser, document, **{"grants-0-user": str(person.pk)})
    assert [*asked.context["change"].gains] == [person]
    assert "No version is in force yet" in asked.content.decode()
    with bank.scope():
        assert Document.objects.get(pk=document.pk).current_version_id is None


def test_a_change_that_concerns_nobody_needs_no_confirmation(bank, browser):
    person = bank.person("reader")
    document = in_force(bank, bank.group("Circle", person))
    answer = browser.post(
        page_of(document),
        filled(browser.get(page_of(document)), **{"grants-1-user": str(person.pk)}),
        follow=True,
    )
    assert "may now read" in said(answer)


def test_a_file_is_not_saved_together_with_a_change_of_readers(bank, browser):
    document = in_force(bank)
    new = {"grants-0-user": str(bank.person("comes").pk), "file": pdf("Leave is 26 days.")}
    assert "by itself" in said(change(browser, document, **new))
    assert grants(bank, document) == set()
    with bank.scope():
        assert DocumentVersion.objects.filter(document=document).count() == 1


def test_what_a_person_may_read_is_shown_with_through_what(bank, browser):
    person = bank.person("reader")
    circle = bank.group("Circle", person)
    through = {
        "Both": in_force(bank, circle, person, title="Both"),
        "Group": in_force(bank, circle, title="Group"),
        "Nothing": in_force(bank, bank.group("Other"), title="Nothing"),
        "Elsewhere": in_force(bank, person, title="Elsewhere", department="Finance"),
    }
    page = browser.get(page_for(person))
    assert {(row.document.title, row.through) for row in page.context["rows"]} == {
        ("Both", ("Circle", "personally")),
        ("Group", ("Circle",)),
    }
    assert "Only documents of Human Resources" in page.content.decode()
    assert "Elsewhere" not in page.content.decode()
    with bank.scope():
        services.delete_document(actor=None, document=through["Group"])
    assert len(browser.get(page_for(person)).context["rows"]) == 1


def test_a_tenant_administrator_sees_every_department_and_an_inactive_person_reads_nothing(bank):
    from tenants.services import set_user_active

    admin = signed_in(bank, bank.person("admin", roles=[Role.TENANT_ADMIN]))
    person = bank.person("reader")
    in_force(bank, person)
    in_force(bank, person, department="Finance")
    page = admin.get(page_for(person))
    assert len(page.context["rows"]) == 2
    assert "Only documents of" not in page.content.decode()
    assert page_for(person) in admin.get(page_of(person)).content.decode()
    with bank.scope():
        set_user_active(user=person, active=False)
    assert "the account is inactive" in admin.get(page_for(person)).content.decode()


@pytest.mark.parametrize("role", [None, Role.REVIEWER])
def test_other_roles_and_strangers_people_find_no_such_page(bank, other_bank, browser, role):
    person = bank.person("reader")
    outsider = signed_in(bank, bank.person("outsider", roles=[role] if role else []))
    assert outsider.get(page_for(person)).status_code in (403, 404)
    theirs = browser.get(page_for(other_bank.person("stranger")))
    nobody = browser.get(reverse("admin:documents_person", args=[uuid.uuid4()]))
    assert (theirs.status_code, theirs.content) == (404, nobody.content)
    assert browser.post(page_for(person)).status_code == 405


@pytest.mark.parametrize("action", ["grant_access", "move_to_draft", "delete_documents"])
def test_a_bulk_action_says_first_who_gains_and_who_loses(bank, browser, action):
    teller, other = bank.person("teller"), bank.person("other")
    tellers = bank.group("Tellers", teller)
    chosen = [in_force(bank, other), in_force(bank, other)]
    data = {"action": action, "_selected_action": [str(d.pk) for d in chosen], "confirmed": "yes"}
    if action == "grant_access":
        data["subject"] = f"group:{tellers.pk}"
    data["reason"] = "Under review"
    asked = browser.post(list_of("documents_document"), data)
    gains, loses = ([teller], []) if action == "grant_access" else ([], [other])
    assert [*asked.context["foreseen"].gains] == gains
    assert [*asked.context["foreseen"].loses] == loses
    assert (gains or loses)[0].email in asked.content.decode()
    with bank.scope():
        assert Document.objects.filter(life_cycle="vetted", deleted_at=None).count() == 2
        assert Grant.objects.filter(document__in=chosen).count() == 2
        assert not AuditRecord.objects.filter(action__in=["grant.given", "document.deleted"])
    data["foreseen"] = asked.context["foreseen"].digest
    assert browser.post(list_of("documents_document"), data).status_code == 302
    with bank.scope():
        assert may_read(user=teller, document_id=chosen[0].id) is (action == "grant_access")
        assert may_read(user=other, document_id=chosen[1].id) is (action == "grant_access")


def test_what_is_foreseen_for_many_documents_is_what_happens_and_nothing_happens_before(bank):
    first, second = bank.person("first"), bank.person("second")
    chosen = [in_force(bank, first), in_force(bank), bank.document(readers=[second], ingest=False)]

    def withdraw(document):
        if document == chosen[0]:
            raise ValidationError("Not this one.")
        services.grant_access(actor=None, document=document, subject=first)

    with bank.scope():
        change = foresee_access(chosen, withdraw)
        assert (change.gains, change.loses, change.in_force) == ((first,), (), False)
        assert Grant.objects.filter(document__in=chosen).count() == 2
        assert Document.objects.get(pk=chosen[2].pk).current_version_id is None
