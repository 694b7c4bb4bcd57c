"""The role table of the administration, page by page, and what it does about strangers' ids."""

import uuid

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, signed_in

ROLES = ["tenant_admin", "department_admin", "reviewer", "auditor"]

# page → who opens the list, who opens the form to add
TABLE = {
    "documents_document": (
        {"tenant_admin", "department_admin", "auditor"},
        {"tenant_admin", "department_admin"},
    ),
    "documents_documentversion": ({"tenant_admin", "department_admin", "auditor"}, set()),
    "documents_inventoryentry": ({"tenant_admin", "department_admin", "auditor"}, set()),
    "documents_duplicatefinding": ({"tenant_admin", "department_admin", "auditor"}, set()),
    "documents_indexgeneration": ({"tenant_admin", "auditor"}, set()),
    "tenants_user": ({"tenant_admin", "department_admin"}, {"tenant_admin"}),
    "onboarding_invitation": ({"tenant_admin"}, {"tenant_admin"}),
    "tenants_group": ({"tenant_admin", "department_admin"}, {"tenant_admin"}),
    "tenants_department": ({"tenant_admin"}, {"tenant_admin"}),
    "tenants_apitoken": ({"tenant_admin"}, {"tenant_admin"}),
    "tenants_tenant": ({"tenant_admin"}, set()),
    "identity_identityprovider": ({"tenant_admin"}, {"tenant_admin"}),
    "identity_emaildomain": ({"tenant_admin"}, {"tenant_admin"}),
    "factors_factorpolicy": ({"tenant_admin"}, set()),
    "identity_signinpolicy": ({"tenant_admin"}, set()),
    "provisioning_scimtoken": ({"tenant_admin"}, {"tenant_admin"}),
    "answers_answer": ({"tenant_admin", "reviewer", "auditor"}, set()),
    "answers_reviewitem": ({"reviewer"}, set()),
    "answers_feedback": ({"reviewer"}, set()),
    "evaluation_personadiff": (
        {"tenant_admin", "reviewer", "auditor"},
        {"tenant_admin", "reviewer", "auditor"},
    ),
    "evaluation_weeklyreport": ({"tenant_admin", "auditor"}, set()),
    "evaluation_goal": ({"tenant_admin", "reviewer", "auditor"}, {"tenant_admin"}),
    "evaluation_spotcheck": ({"reviewer"}, set()),
    "audit_auditrecord": ({"tenant_admin", "auditor"}, set()),
    "evaluation_evalcase": ({"tenant_admin", "reviewer"}, {"tenant_admin", "reviewer"}),
    "evaluation_evalrun": ({"tenant_admin", "reviewer"}, {"tenant_admin", "reviewer"}),
    "answers_canary": ({"tenant_admin", "reviewer", "auditor"}, {"tenant_admin"}),
    "evaluation_gateoverride": (
        {"tenant_admin", "reviewer", "auditor"},
        {"tenant_admin", "reviewer"},
    ),
}


def holder(bank, role: str):
    held = (Role.DEPARTMENT_ADMIN, "Human Resources") if role == "department_admin" else Role(role)
    return bank.person(role.replace("_", "-"), roles=[held])


def test_the_table_names_every_page_there_is():
    registered = {model._meta.label_lower.replace(".", "_") for model in admin.site._registry}
    assert registered == set(TABLE)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_exactly_its_pages(bank, role):
    client = signed_in(bank, holder(bank, role))
    for page, (viewers, adders) in TABLE.items():
        answer = client.get(list_of(page)).status_code
        assert answer in ({200, 302} if role in viewers else {403}), page
        assert client.get(add_to(page)).status_code == (200 if role in adders else 403), page
    assert client.get(reverse("admin:index")).status_code == 200


def test_an_employee_opens_nothing_and_a_visitor_is_sent_to_the_sign_in_page(bank, client):
    employee = signed_in(bank, bank.person())
    for page in TABLE:
        assert employee.get(list_of(page)).status_code == 403
    assert employee.get(reverse("admin:index")).status_code == 403
    answer = client.get(reverse("admin:login"), {"next": "/admin/tenants/user/"})
    assert answer.url == f"{reverse('account_login')}?next=/admin/tenants/user/"


def test_a_role_taken_away_closes_the_pages_at_the_next_request(bank):
    from tenants.services import set_roles

    person = holder(bank, "auditor")
    client = signed_in(bank, person)
    assert client.get(list_of("audit_auditrecord")).status_code == 200
    with bank.scope():
        set_roles(user=person, roles=[])
    assert client.get(list_of("audit_auditrecord")).status_code == 403


def test_another_tenants_ids_look_like_none_on_every_page(bank, other_bank):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    stranger = other_bank.person("stranger")
    theirs = [
        stranger,
        other_bank.group(),
        other_bank.department("Elsewhere"),
        other_bank.document(ingest=False),
        other_bank.tenant,
    ]
    for row in theirs:
        address = page_of(row)
        missing = address.replace(str(row.pk), str(uuid.uuid4()))
        for suffix in ("change/", "delete/", "history/"):
            there = client.get(address.replace("change/", suffix))
            nowhere = client.get(missing.replace("change/", suffix))
            assert (there.status_code, there.content) == (nowhere.status_code, nowhere.content)
            assert there.status_code in {403, 404}


def test_another_tenants_rows_are_in_no_list_and_no_autocomplete(bank, other_bank):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    stranger = other_bank.person("stranger")
    assert stranger.email not in client.get(list_of("tenants_user")).content.decode()
    found = client.get(
        reverse("admin:autocomplete"),
        {"app_label": "documents", "model_name": "grant", "field_name": "user", "term": "stranger"},
    )
    assert found.json()["results"] == []


def test_autocomplete_is_closed_to_roles_that_may_not_see_people(bank):
    client = signed_in(bank, holder(bank, "auditor"))
    query = {"app_label": "documents", "model_name": "grant", "field_name": "user", "term": ""}
    assert client.get(reverse("admin:autocomplete"), query).status_code == 403


@pytest.mark.parametrize(
    ("role", "page", "lookup"),
    [
        ("tenant_admin", "tenants_user", "password__startswith"),
        ("auditor", "answers_answer", "question__contains"),
        ("auditor", "answers_answer", "claims__text__contains"),
        ("department_admin", "documents_document", "current_version__chunk__text__contains"),
        ("auditor", "documents_document", "versions__text_key__startswith"),
    ],
)
def test_a_filter_cannot_ask_about_columns_the_list_does_not_offer(bank, role, page, lookup):
    client = signed_in(bank, holder(bank, role))
    assert client.get(list_of(page), {lookup: "a"}).status_code == 400


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("documents_document", {"state": "nobody"}),
        ("documents_document", {"state": "failed", "_facets": "True"}),
        ("tenants_user", {"role": "auditor"}),
        ("tenants_apitoken", {"revoked_at__isempty": "1"}),
    ],
)
def test_the_filters_that_a_list_offers_work(bank, page, query):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    assert client.get(list_of(page), query).status_code == 200


@pytest.mark.parametrize(
    ("page", "query", "status"),
    [
        ("documents_document", {"life_cycle__exact": "\x00"}, 400),
        ("documents_documentversion", {"status__in": "a,\x00"}, 400),
        ("documents_documentversion", {"created_at__year": "9" * 20}, 400),
        ("audit_auditrecord", {"action": "\x00"}, 400),
        ("audit_auditrecord", {"q": "\x00"}, 200),
        ("answers_answer", {"language": "\x00"}, 400),
        ("tenants_user", {"role": "\x00"}, 400),
    ],
)
def test_odd_words_in_a_lists_address_break_nothing(bank, page, query, status):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    assert client.get(list_of(page), query).status_code == status


def test_odd_words_break_neither_autocomplete_nor_a_form_to_add(bank):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    field = {"app_label": "documents", "model_name": "document", "field_name": "owner"}
    found = client.get(reverse("admin:autocomplete"), field | {"term": "tenant\x00-admin"})
    assert [one["text"] for one in found.json()["results"]] == ["Tenant-Admin"]
    assert client.get(add_to("documents_document"), {"owner": "\x00"}).status_code == 200


@pytest.mark.parametrize("value", ["\x00", "zz", "9" * 40])
@pytest.mark.parametrize(
    ("page", "field"),
    [
        ("documents_document", "owner"),
        ("documents_document", "grants-0-user"),
        ("tenants_apitoken", "user"),
        ("tenants_group", "memberships-0-user"),
    ],
)
def test_a_person_who_is_none_is_an_error_of_the_form(bank, page, field, value):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    form = filled(client.get(add_to(page)))
    assert client.post(add_to(page), form | {field: value}).status_code == 200


def test_nothing_is_written_to_djangos_own_log(bank):
    client = signed_in(bank, holder(bank, "tenant_admin"))
    before = LogEntry.objects.count()
    client.post(add_to("tenants_department"), {"name": "Legal", "_save": "Save"})
    with bank.scope():
        from tenants.models import Department

        department = Department.objects.get(name="Legal")
    client.post(page_of(department).replace("change/", "delete/"), {"post": "yes"})
    assert LogEntry.objects.count() == before
    with bank.scope():
        assert not Department.objects.filter(name="Legal").exists()
