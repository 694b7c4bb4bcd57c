"""Changing how a tenant refuses: a tenant administrator, a written reason, and a record of both."""

import io
import json

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command

from audit.models import AuditRecord
from tenants.models import RefusalPolicy, Role, Tenant
from tenants.services import set_refusal_policy
from tests.admin_pages import filled, page_of, said, signed_in

REASON = "Decision 2026-14 of the compliance board"
POLICY = RefusalPolicy.CONTACT_ADMIN


def policy_of(bank) -> str:
    with bank.scope():
        return Tenant.objects.get().refusal_policy


def records(bank) -> list[AuditRecord]:
    with bank.scope():
        return list(AuditRecord.objects.filter(action="tenant.refusal_policy_set"))


def test_a_tenant_administrator_changes_it_and_the_record_says_who_what_and_why(bank):
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    with bank.scope():
        assert set_refusal_policy(policy=POLICY, reason=REASON, actor=admin)
        assert not set_refusal_policy(policy=POLICY, reason=REASON, actor=admin)
    assert policy_of(bank) == "contact_admin"
    (record,) = records(bank)
    assert record.actor == admin.id
    assert record.facts == {"from": "indistinguishable", "to": "contact_admin", "reason": REASON}


@pytest.mark.parametrize(
    "role", [(Role.DEPARTMENT_ADMIN, "Human Resources"), Role.REVIEWER, Role.AUDITOR]
)
def test_nobody_else_does(bank, role):
    person = bank.person("somebody", roles=[role])
    with bank.scope(), pytest.raises(PermissionDenied):
        set_refusal_policy(policy=POLICY, reason=REASON, actor=person)
    page = page_of(bank.tenant)
    data = {"refusal_policy": "contact_admin", "reason": REASON, "_save": "Save"}
    assert signed_in(bank, person).post(page, data).status_code == 403
    assert (policy_of(bank), records(bank)) == ("indistinguishable", [])


@pytest.mark.parametrize("reason", ["", "  \n ", "\x00"])
def test_without_a_written_reason_nothing_changes(bank, reason):
    with bank.scope(), pytest.raises(ValidationError):
        set_refusal_policy(policy=POLICY, reason=reason)
    assert (policy_of(bank), records(bank)) == ("indistinguishable", [])


def test_the_page_of_policies_asks_for_the_reason(bank):
    client = signed_in(bank, bank.person("admin", roles=[Role.TENANT_ADMIN]))
    page = page_of(bank.tenant)
    form = client.get(page)
    refused = client.post(page, filled(form, refusal_policy="contact_admin"))
    assert refused.status_code == 200
    assert "Write why" in refused.content.decode()
    assert policy_of(bank) == "indistinguishable"
    changed = client.post(
        page, filled(form, refusal_policy="contact_admin", reason=REASON), follow=True
    )
    assert "The policy is now" in said(changed)
    assert policy_of(bank) == "contact_admin"


def test_the_page_changes_nothing_but_this_policy_and_no_other_tenant(bank, other_bank):
    client = signed_in(bank, bank.person("admin", roles=[Role.TENANT_ADMIN]))
    data = filled(client.get(page_of(bank.tenant)), refusal_policy="contact_admin", reason=REASON)
    client.post(
        page_of(bank.tenant), {**data, "slug": "taken", "supersede_policy": "when_searchable"}
    )
    with bank.scope():
        tenant = Tenant.objects.get()
    assert (tenant.slug, tenant.supersede_policy) == (bank.tenant.slug, "at_acceptance")
    assert client.post(page_of(other_bank.tenant), data).status_code == 404
    assert policy_of(other_bank) == "indistinguishable"


def test_an_operator_changes_it_from_the_command_line(bank):
    arguments = ["--tenant", bank.tenant.slug, "--refusal-policy", "contact_admin", "--json"]
    with pytest.raises(CommandError, match="Write why"):
        call_command("set_policy", *arguments, "--reason", " ")
    out = io.StringIO()
    call_command("set_policy", *arguments, "--reason", REASON, stdout=out)
    assert json.loads(out.getvalue()) == {
        "tenant": bank.tenant.slug,
        "refusalPolicy": "contact_admin",
        "changed": True,
    }
    assert [(record.actor, record.facts["reason"]) for record in records(bank)] == [(None, REASON)]
