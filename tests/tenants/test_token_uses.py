"""A token is for what it was issued for, for as long as it was, and is told apart from none."""

import json
import uuid
from datetime import timedelta
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from audit.models import AuditRecord
from tenants import services
from tenants.models import ApiToken, Role, TokenUse
from tests.pdf import make_pdf

NOBODYS = uuid.uuid4()


def program(bank, user, *uses) -> Client:
    with bank.scope():
        _, token = services.issue_token(user=user, uses=uses or None)
    return Client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture
def document(bank):
    return bank.document("Leave", readers=[bank.everyone])


@pytest.fixture
def admin(bank):
    return bank.person("admin", roles=[Role.TENANT_ADMIN])


CALLS = [
    ("ask", "post", "/v1/answers"),
    ("ask", "get", "/v1/answers/{nobodys}"),
    ("ask", "post", "/v1/answers/{nobodys}/cancel"),
    ("ask", "post", "/v1/answers/{nobodys}/feedback"),
    ("read", "get", "/v1/documents"),
    ("read", "get", "/v1/sources/{document}/versions/1"),
    ("read", "get", "/v1/sources/{document}/versions/1/text"),
    ("read", "get", "/v1/sources/{document}/versions/1/file"),
    ("read", "get", "/v1/sources/{document}/versions/1/pages/1.png"),
    ("documents", "post", "/v1/documents"),
    ("documents", "post", "/v1/documents/{document}/versions"),
    ("documents", "get", "/v1/documents/{document}/grants"),
    ("documents", "post", "/v1/documents/{document}/grants"),
    ("documents", "delete", "/v1/documents/{document}/grants"),
    ("documents", "delete", "/v1/documents/{nobodys}"),
]


@pytest.mark.parametrize(("use", "method", "path"), CALLS)
def test_each_call_needs_exactly_its_use(bank, document, admin, use, method, path):
    url = path.format(document=document.id, nobodys=NOBODYS)
    for given in TokenUse.values:
        response = getattr(program(bank, admin, given), method)(url)
        if given == use:
            assert response.status_code not in (401, 403)
            continue
        assert response.status_code == 403
        assert response["Content-Type"] == "application/problem+json"
        assert response.json()["code"] == "insufficient_scope"
        assert f'error="insufficient_scope", scope="{use}"' in response["WWW-Authenticate"]


def test_a_use_that_is_missing_says_the_same_of_what_is_there_and_what_is_not(
    bank, document, admin
):
    client = program(bank, admin, "ask")
    there = client.get(f"/v1/sources/{document.id}/versions/1/text")
    nowhere = client.get(f"/v1/sources/{NOBODYS}/versions/1/text")
    assert (there.status_code, there.content) == (nowhere.status_code, nowhere.content)
    assert there.status_code == 403


def test_no_use_gives_more_than_the_person_has(bank, document):
    client = program(bank, bank.person("employee"), "documents")
    assert client.get(f"/v1/documents/{document.id}/grants").status_code == 404
    upload = {"title": "x", "department": "Human Resources", "file": make_pdf("x")}
    assert client.post("/v1/documents", upload).status_code == 400


def test_without_a_choice_a_token_is_for_everything_and_a_session_always_is(bank, document, admin):
    path = f"/v1/documents/{document.id}/grants"
    client = program(bank, admin)
    assert client.get("/v1/documents").status_code == client.get(path).status_code == 200
    browser = Client()
    with bank.scope():
        browser.force_login(admin)
    assert browser.get("/v1/documents").status_code == browser.get(path).status_code == 200


def test_uses_are_kept_with_the_token_and_in_the_record(bank, admin):
    with bank.scope():
        row, token = services.issue_token(user=admin, uses=["read", "ask", "read"])
        assert ApiToken.objects.get(pk=row.pk).uses == ["ask", "read"]
        record = AuditRecord.objects.filter(action="token.issued").latest("seq")
        assert record.facts == {"uses": ["ask", "read"]}
        assert token not in json.dumps([record.facts, record.object_ids])
        assert token not in row.digest


@pytest.mark.parametrize("uses", [[], ["everything"], ["ask", "admin"]])
def test_a_use_that_there_is_not_is_refused(bank, admin, uses):
    with bank.scope():
        with pytest.raises(ValidationError, match="what the token is for"):
            services.issue_token(user=admin, uses=uses)
        row, _ = services.issue_token(user=admin)
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiToken.objects.filter(pk=row.pk).update(uses=uses)


def test_an_expired_and_a_revoked_token_are_refused_and_their_records_stay(bank, admin):
    with bank.scope():
        expired, first = services.issue_token(user=admin)
        revoked, second = services.issue_token(user=admin)
        ApiToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
        services.revoke_token(token=revoked)
        with pytest.raises(ValidationError, match="expired already"):
            services.issue_token(user=admin, lifetime=timedelta(0))
    for token in (first, second, "precept_nobodys"):
        response = Client(headers={"authorization": f"Bearer {token}"}).get("/v1/documents")
        assert response.status_code == 401
        assert response.json()["detail"] == "The token is not valid; ask for a new one."
    with bank.scope():
        assert ApiToken.objects.filter(pk__in=[expired.pk, revoked.pk]).count() == 2


def test_the_last_use_is_noted(bank, admin):
    with bank.scope():
        row, token = services.issue_token(user=admin)
        assert row.last_used_at is None
    Client(headers={"authorization": f"Bearer {token}"}).get("/v1/documents")
    with bank.scope():
        row.refresh_from_db()
        assert row.last_used_at is not None


def test_the_command_issues_for_the_uses_it_is_given(bank, admin):
    out = StringIO()
    call_command(
        "issue_token", admin.email, "--use", "ask", "--use", "documents", "--json", stdout=out
    )
    issued = json.loads(out.getvalue())
    assert issued["uses"] == ["ask", "documents"]
    client = Client(headers={"authorization": f"Bearer {issued['token']}"})
    assert client.get("/v1/documents").status_code == 403
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("issue_token", admin.email, "--use", "admin")
