"""Administering people, groups, departments and tokens."""

import pytest
from django.urls import reverse

from audit.models import AuditRecord
from tenants.models import ApiToken, Department, Group, GroupMembership, Role, User
from tenants.selectors import usable_token
from tests.admin_pages import add_to, filled, list_of, page_of, said, signed_in


@pytest.fixture
def boss(bank):
    return bank.person("boss", roles=[Role.TENANT_ADMIN])


@pytest.fixture
def browser(bank, boss):
    return signed_in(bank, boss)


def bulk(browser, model: str, action: str, *rows, **answers):
    data = {"action": action, "_selected_action": [str(row.pk) for row in rows], **answers}
    return browser.post(list_of(model), data, follow=True)


def test_a_person_is_created_with_roles_and_groups_in_one_go(bank, browser, unique):
    group, department = bank.group("Tellers"), bank.department("Operations")
    form = filled(
        browser.get(add_to("tenants_user")),
        email=f"{unique}@Bank.example",
        name="New Person",
        new_password="correct horse battery",
        **{
            "role_assignments-0-role": "department_admin",
            "role_assignments-0-department": str(department.pk),
            "memberships-0-group": str(group.pk),
        },
    )
    answer = browser.post(add_to("tenants_user"), form, follow=True)
    assert f"The account {unique}@bank.example was created." in said(answer)
    with bank.scope():
        person = User.objects.get(email=f"{unique}@bank.example")
        assert person.check_password("correct horse battery")
        assert [(a.role, a.department) for a in person.role_assignments.all()] == [
            ("department_admin", department)
        ]
        assert set(person.member_of.all()) == {group, bank.everyone}


def test_an_address_taken_here_or_elsewhere_is_refused_in_the_same_words(bank, other_bank, browser):
    taken = [bank.person("here").email, other_bank.person("there").email]
    refusals = []
    for email in taken:
        form = filled(browser.get(add_to("tenants_user")), email=email, name="Kept")
        answer = browser.post(add_to("tenants_user"), form)
        assert answer.status_code == 200
        assert answer.context["adminform"].form["name"].value() == "Kept"
        refusals.append(said(answer).replace(email, "E-MAIL"))
    assert refusals[0] == refusals[1]
    assert "cannot be created here" in refusals[0]


def test_a_weak_password_is_an_error_of_its_field(browser, unique):
    form = filled(
        browser.get(add_to("tenants_user")), email=f"{unique}@b.example", new_password="short"
    )
    answer = browser.post(add_to("tenants_user"), form)
    assert "at least 10 characters" in str(answer.context["adminform"].form.errors["new_password"])


def test_a_department_administrator_needs_a_department(browser, unique):
    form = filled(
        browser.get(add_to("tenants_user")),
        email=f"{unique}@b.example",
        **{"role_assignments-0-role": "department_admin"},
    )
    assert "Choose the department" in said(browser.post(add_to("tenants_user"), form))


def test_saving_what_is_already_so_says_that_nothing_changed(bank, browser):
    person = bank.person()
    answer = browser.post(page_of(person), filled(browser.get(page_of(person))), follow=True)
    assert "Nothing was changed" in said(answer)


def test_roles_and_groups_change_only_where_touched(bank, browser):
    group, other = bank.group(), bank.group()
    person = bank.person(roles=[Role.AUDITOR], groups=[group])
    form = filled(
        browser.get(page_of(person)),
        **{
            "memberships-0-DELETE": "on",
            "memberships-1-group": str(other.pk),
            "role_assignments-1-role": "reviewer",
        },
    )
    answer = browser.post(page_of(person), form, follow=True)
    assert f"{person} is no longer in “{group}”." in said(answer)
    assert f"{person} is now in “{other}”." in said(answer)
    with bank.scope():
        assert {a.role for a in person.role_assignments.all()} == {"auditor", "reviewer"}
        assert set(person.member_of.all()) == {other, bank.everyone}


def test_a_group_of_another_tenant_is_no_choice(bank, other_bank, browser):
    person, foreign = bank.person(), other_bank.group()
    form = filled(browser.get(page_of(person)), **{"memberships-0-group": str(foreign.pk)})
    assert "valid choice" in said(browser.post(page_of(person), form))
    with bank.scope():
        assert not GroupMembership.objects.filter(user=person, group__built_in=False).exists()


def test_deactivating_says_who_changed_and_who_was_so_already(bank, browser):
    active, inactive = bank.person("active"), bank.person("inactive")
    bulk(browser, "tenants_user", "deactivate", inactive, confirmed="yes")
    asked = bulk(browser, "tenants_user", "deactivate", active, inactive)
    assert "signed out everywhere" in asked.content.decode()
    with bank.scope():
        assert User.objects.get(pk=active.pk).is_active
    answer = bulk(browser, "tenants_user", "deactivate", active, inactive, confirmed="yes")
    assert "Deactivated: Active." in said(answer)
    assert "Was inactive already: Inactive." in said(answer)
    with bank.scope():
        assert not User.objects.get(pk=active.pk).is_active


def test_administrators_cannot_shut_themselves_out(bank, boss, browser):
    answer = bulk(browser, "tenants_user", "deactivate", boss, confirmed="yes")
    assert "ask another administrator" in said(answer)
    assert "Nothing was changed" in said(answer)
    form = filled(browser.get(page_of(boss)), **{"role_assignments-0-DELETE": "on"})
    assert "cannot take your own" in said(browser.post(page_of(boss), form))
    with bank.scope():
        assert boss.role_assignments.filter(role=Role.TENANT_ADMIN).exists()


def test_ids_of_strangers_in_a_bulk_action_select_nothing(bank, other_bank, browser):
    stranger = other_bank.person()
    bulk(browser, "tenants_user", "deactivate", stranger, confirmed="yes")
    with other_bank.scope():
        assert User.objects.get(pk=stranger.pk).is_active
    data = {"action": "deactivate", "_selected_action": ["no-id"], "confirmed": "yes"}
    assert browser.post(list_of("tenants_user"), data, follow=True).status_code == 200


def test_members_are_added_and_taken_out_on_the_groups_page(bank, browser):
    leaver, joiner = bank.person("leaver"), bank.person("joiner")
    group = bank.group("Circle", leaver)
    revision = leaver.access_revision
    form = filled(
        browser.get(page_of(group)),
        **{"memberships-0-DELETE": "on", "memberships-1-user": str(joiner.pk)},
    )
    answer = browser.post(page_of(group), form, follow=True)
    assert "Joiner is now in “Circle”." in said(answer)
    with bank.scope():
        assert list(group.members.all()) == [joiner]
        assert User.objects.get(pk=leaver.pk).access_revision > revision


def test_the_built_in_group_can_be_looked_at_only(bank, browser):
    everyone = bank.everyone
    assert browser.get(page_of(everyone)).status_code == 200
    assert browser.post(page_of(everyone), {"name": "nobody"}).status_code == 403
    delete = page_of(everyone).replace("change/", "delete/")
    assert browser.post(delete, {"post": "yes"}).status_code == 403


def test_a_taken_group_name_is_refused_with_the_form_kept(bank, browser):
    bank.group("Tellers")
    form = filled(browser.get(add_to("tenants_group")), name="tellers")
    answer = browser.post(add_to("tenants_group"), form)
    assert "already a group" in said(answer)
    assert answer.context["adminform"].form["name"].value() == "tellers"


def test_deleting_a_group_is_recorded(bank, boss, browser):
    group = bank.group()
    browser.post(page_of(group).replace("change/", "delete/"), {"post": "yes"})
    with bank.scope():
        assert not Group.objects.filter(pk=group.pk).exists()
        assert AuditRecord.objects.filter(action="group.deleted", actor=boss.id).count() == 1


def test_a_department_with_documents_stays_and_says_why(bank, browser):
    department = bank.department("Treasury")
    bank.document(department="Treasury", ingest=False)
    answer = browser.post(
        page_of(department).replace("change/", "delete/"), {"post": "yes"}, follow=True
    )
    assert "still has documents" in said(answer)
    with bank.scope():
        assert Department.objects.filter(pk=department.pk).exists()


def test_a_token_is_shown_once_and_can_be_revoked(bank, browser):
    person = bank.person()
    form = {"user": str(person.pk), "days": "7", "_save": "Issue"}
    refused = browser.post(add_to("tenants_apitoken"), form)
    assert "token" not in refused.context  # what it is for has to be said
    answer = browser.post(add_to("tenants_apitoken"), form | {"uses": ["ask", "read"]})
    assert answer.status_code == 200
    token = answer.context["token"]
    assert token in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    with bank.scope():
        row = ApiToken.objects.get(user=person)
        assert usable_token(token) == row
        assert row.uses == ["ask", "read"]
    page = browser.get(page_of(row)).content.decode()
    assert token not in page
    assert "read documents" in page
    revoke = reverse("admin:tenants_apitoken_revoke", args=[row.pk])
    assert browser.get(revoke).status_code == 404
    assert "was revoked." in said(browser.post(revoke, follow=True))
    assert "already" in said(browser.post(revoke, follow=True))
    with bank.scope():
        assert usable_token(token) is None


def test_department_administrators_look_at_people_without_changing_them(bank):
    helper = bank.person("helper", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
    person, group = bank.person(), bank.group()
    client = signed_in(bank, helper)
    for row in (person, group):
        assert client.get(page_of(row)).status_code == 200
        assert client.post(page_of(row), {"name": "x"}).status_code == 403
    bulk(client, "tenants_user", "deactivate", person, confirmed="yes")
    with bank.scope():
        assert User.objects.get(pk=person.pk).is_active


def test_the_tenants_page_shows_its_policies(bank, browser):
    answer = browser.get(list_of("tenants_tenant"), follow=True)
    assert "Never say whether a restricted answer exists" in answer.content.decode()


def test_too_many_rows_at_once_are_refused_before_anything_happens(bank, browser, monkeypatch):
    monkeypatch.setattr("tenants.admin_bulk._ROWS_AT_MOST", 1)
    people = [bank.person(), bank.person()]
    answer = bulk(browser, "tenants_user", "deactivate", *people, confirmed="yes")
    assert "at most 1 at once" in said(answer)
    with bank.scope():
        assert User.objects.filter(pk__in=[p.pk for p in people], is_active=True).count() == 2
