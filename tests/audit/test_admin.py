"""Reading and verifying the audit record in the administration."""

import pytest
from django.urls import reverse

from audit.models import AuditRecord
from tenants.models import Role
from tests.admin_pages import list_of, page_of, said, signed_in

LIST = "audit_auditrecord"


@pytest.fixture
def browser(bank):
    return signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))


def test_records_name_the_person_and_the_objects(bank, browser):
    boss = bank.person("boss", roles=[Role.TENANT_ADMIN])
    client, leaver = signed_in(bank, boss), bank.person("leaver")
    client.post(
        list_of("tenants_user"),
        {"action": "deactivate", "_selected_action": [str(leaver.pk)], "confirmed": "yes"},
    )
    with bank.scope():
        record = AuditRecord.objects.get(action="user.deactivated")
    page = browser.get(page_of(record)).content.decode()
    assert "Boss" in page
    assert str(leaver.pk) in page
    found = browser.get(list_of(LIST), {"q": str(leaver.pk)}).context["cl"].result_list
    assert {row.action for row in found} == {"user.created", "user.deactivated"}


def test_the_chain_is_verified_on_demand(bank, browser):
    bank.person()
    answer = browser.post(reverse("admin:audit_auditrecord_verify"), follow=True)
    assert "nothing was changed, removed or reordered" in said(answer)
    assert browser.get(reverse("admin:audit_auditrecord_verify")).status_code == 404


def test_a_record_changed_behind_its_back_is_named(bank, browser, raw_sql):
    bank.person()
    raw_sql.execute("ALTER TABLE audit_auditrecord DISABLE TRIGGER audit_append_only")
    try:
        raw_sql.execute(
            "UPDATE audit_auditrecord SET action = 'nothing.happened'"
            " WHERE tenant_id = %s AND seq = 2",
            [bank.tenant.id],
        )
    finally:
        raw_sql.execute("ALTER TABLE audit_auditrecord ENABLE TRIGGER audit_append_only")
    answer = browser.post(reverse("admin:audit_auditrecord_verify"), follow=True)
    assert "Record 2: content was changed" in said(answer)


def test_nothing_can_be_changed_or_deleted(bank, browser):
    with bank.scope():
        record = AuditRecord.objects.first()
    assert browser.post(page_of(record), {"action": "x"}).status_code == 403
    assert browser.post(page_of(record).replace("change/", "delete/")).status_code == 403


def test_another_tenants_records_are_not_there(bank, other_bank, browser):
    with other_bank.scope():
        theirs = AuditRecord.objects.first()
    assert browser.get(page_of(theirs)).status_code == 404
    assert str(other_bank.tenant.id) not in browser.get(list_of(LIST)).content.decode()
