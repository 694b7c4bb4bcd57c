"""Signing in: the right password, nothing learned from a wrong one, and not too many tries."""

import pytest
from django.test import Client

from tenants import services as people
from tests.bank import PASSWORD


@pytest.fixture
def user(bank):
    return bank.person("somebody")


def sign_in(email: str, password: str, client: Client | None = None):
    return (client or Client()).post("/accounts/login/", {"login": email, "password": password})


def test_the_right_password_opens_the_ask_page_in_ones_own_tenant(bank, user):
    client = Client()
    assert sign_in(user.email.upper(), PASSWORD, client).status_code == 302
    page = client.get("/")
    assert page.status_code == 200
    assert bank.tenant.name in page.content.decode()


def test_a_wrong_password_an_unknown_address_and_a_deactivated_account_look_the_same(bank, user):
    leaver = bank.person("leaver")
    with bank.scope():
        people.set_user_active(user=leaver, active=False)
    pages = {
        sign_in(email, password)
        .content.decode()
        .replace(email, "E-MAIL")
        .split("<form")[1]
        .split("csrfmiddlewaretoken")[0]
        for email, password in (
            (user.email, "wrong password"),
            ("nobody@bank.example", "wrong password"),
            (leaver.email, PASSWORD),
        )
    }
    assert len(pages) == 1


def test_after_some_wrong_passwords_even_the_right_one_has_to_wait(user):
    for _ in range(5):
        sign_in(user.email, "wrong password")
    assert sign_in(user.email, PASSWORD).status_code != 302


def test_a_person_deactivated_in_the_middle_of_a_session_is_out_at_the_next_request(bank, user):
    client = Client()
    sign_in(user.email, PASSWORD, client)
    assert client.get("/").status_code == 200
    with bank.scope():
        people.set_user_active(user=user, active=False)
    assert client.get("/").status_code == 302
    assert client.get("/v1/documents").status_code == 401


def test_nobody_can_make_an_account_from_outside():
    assert Client().get("/accounts/signup/").status_code == 404


def test_a_taken_address_is_refused_in_another_tenant_in_the_same_words(bank, other_bank, user):
    from django.core.exceptions import ValidationError

    messages = []
    for one in (bank, other_bank):
        with one.scope(), pytest.raises(ValidationError) as refused:
            people.create_user(email=user.email, password=PASSWORD)
        messages.append(refused.value.messages)
    assert messages[0] == messages[1]
