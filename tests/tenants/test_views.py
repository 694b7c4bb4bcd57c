"""Signing in, out and changing one's own password."""

import pytest
from django.test import Client

from audit.models import AuditRecord
from tests.bank import PASSWORD
from tests.signed_in import signed_in


@pytest.mark.parametrize(
    "path",
    ["signup/", "email/", "inactive/", "confirm-email/", "reauthenticate/", ""],
)
def test_other_account_pages_are_not_there(database, path):
    assert Client().get(f"/accounts/{path}").status_code == 404


def test_signing_in_leads_where_one_was_going(bank):
    person = bank.person("Emma")
    client = Client()
    response = client.post(
        "/accounts/login/", {"login": person.email, "password": PASSWORD, "next": "/documents/"}
    )
    assert response.url == "/documents/"
    assert client.get("/documents/").status_code == 200


def test_signing_in_leads_to_no_other_site(bank):
    person = bank.person("Emma")
    response = Client().post(
        "/accounts/login/",
        {"login": person.email, "password": PASSWORD, "next": "https://evil.example/"},
    )
    assert response.url == "/"


def test_signing_out_takes_a_form_and_ends_the_session(bank):
    client = signed_in(bank, bank.person("Emma"))
    assert client.get("/accounts/logout/").status_code == 200
    assert client.get("/").status_code == 200
    assert client.post("/accounts/logout/").url == "/accounts/login/"
    assert client.get("/").status_code == 302


def test_a_changed_password_is_the_one_that_works(bank):
    person = bank.person("Emma")
    client = signed_in(bank, person)
    fields = {"password1": "another horse entirely", "password2": "another horse entirely"}
    refused = client.post("/accounts/password/", {"oldpassword": "wrong", **fields})
    assert refused.status_code == 200
    assert (
        client.post("/accounts/password/", {"oldpassword": PASSWORD, **fields}).status_code == 302
    )
    assert client.get("/").status_code == 200
    login = {"login": person.email, "password": "another horse entirely"}
    assert Client().post("/accounts/login/", login).status_code == 302
    with bank.scope():
        record = AuditRecord.objects.get(action="user.password_set")
    assert record.actor == person.id
    assert record.object_ids == {"user": str(person.id)}


def test_without_a_password_there_is_none_to_change(bank):
    person = bank.person("Emma")
    with bank.scope():
        person.set_unusable_password()
        person.save(update_fields=["password"])
    client = signed_in(bank, person)
    assert client.get("/accounts/password/").status_code == 404
    assert "Change your password" not in client.get("/").content.decode()


def test_a_page_that_is_not_there_says_the_same_to_everybody(bank):
    person = signed_in(bank, bank.person("Emma"))
    assert person.get("/no/such/").content == Client().get("/nor/this/").content


def test_a_deactivated_person_is_signed_out(bank):
    from tenants.services import set_user_active

    person = bank.person("Emma")
    client = signed_in(bank, person)
    with bank.scope():
        set_user_active(user=person, active=False)
    assert client.get("/").status_code == 302
