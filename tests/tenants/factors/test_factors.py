"""Second factors of local accounts: asked for at sign-in, encrypted, taken away by the right people."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from cryptography.fernet import Fernet
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import connection
from django.test import Client

from audit.models import AuditRecord
from tenants.factors import services
from tenants.identity.models import SignInPolicy
from tenants.models import Role
from tests.admin_pages import list_of, said, signed_in
from tests.bank import PASSWORD

SETUP = "/accounts/second-factor/"
SHOW = "/accounts/second-factor/show/"


def code(secret: str, ahead: int = 0) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + ahead))


def begin(user, client: Client | None = None):
    return (client or Client()).post(
        "/accounts/login/", {"login": user.email, "password": PASSWORD}
    )


def set_up(client: Client) -> tuple[str, list[str]]:
    """(secret, recovery codes) after setting up an app, as a browser does it."""
    asked = client.get(f"{SETUP}app/")
    client.post(asked.url, {"password": PASSWORD})
    secret = re.search(r"totp_secret\">(\w+)<", client.get(f"{SETUP}app/").content.decode())[1]
    done = client.post(f"{SETUP}app/", {"code": code(secret, ahead=-1)}, follow=True)
    return secret, re.findall(r"<li><code>(\w+)</code>", done.content.decode())


@pytest.fixture
def person(bank):
    return bank.person("somebody")


@pytest.fixture
def admin(bank):
    return bank.person("admin", roles=[Role.TENANT_ADMIN])


def require(bank, required: bool = True) -> None:
    with bank.scope():
        services.set_factor_policy(required=required)


def recorded(bank, prefix: str) -> list[tuple[str, dict]]:
    with bank.scope():
        rows = AuditRecord.objects.filter(action__startswith=prefix).order_by("seq")
        return [(row.action, row.facts) for row in rows]


def test_who_has_one_shows_it_at_every_sign_in(bank, person):
    secret, codes = set_up(signed_in(bank, person))
    assert len(codes) == 10
    client = Client()
    assert begin(person, client).url == SHOW
    assert client.get("/").status_code == 302  # a password alone opens nothing
    assert client.post(SHOW, {"code": "000000"}).status_code == 200
    assert client.post(SHOW, {"code": code(secret)}).url == "/"
    assert client.get("/").status_code == 200
    assert recorded(bank, "sign_in.") == [
        ("sign_in.refused", {"how": "password", "code": "second_factor"}),
        ("sign_in.succeeded", {"how": "password, totp"}),
    ]
    again = Client()
    begin(person, again)
    assert again.post(SHOW, {"code": code(secret)}).status_code == 200  # a code works once


def test_a_recovery_code_lets_in_once(bank, person):
    _, codes = set_up(signed_in(bank, person))
    first, second = Client(), Client()
    begin(person, first)
    assert first.post(SHOW, {"code": codes[0]}).status_code == 302
    begin(person, second)
    assert second.post(SHOW, {"code": codes[0]}).status_code == 200
    assert second.get("/").status_code == 302


def test_codes_cannot_be_guessed_for_long(bank, person):
    secret, _ = set_up(signed_in(bank, person))
    client = Client()
    begin(person, client)
    for _ in range(5):
        client.post(SHOW, {"code": "000000"})
    assert client.post(SHOW, {"code": code(secret)}).status_code == 200


def test_leaving_the_second_step_gives_the_sign_in_up(bank, other_bank, person):
    secret, _ = set_up(signed_in(bank, person))
    client = Client()
    begin(person, client)
    assert client.get("/accounts/login/").status_code == 200
    assert client.post(SHOW, {"code": code(secret)}).url == "/accounts/login/"
    begin(person, client)
    stranger = other_bank.person("stranger")
    assert begin(stranger, client).url == "/"  # another tenant's sign-in is not in the way of it
    assert other_bank.tenant.name in client.get("/").content.decode()


def test_where_a_tenant_asks_for_one_a_password_alone_opens_only_its_set_up(bank, admin):
    client = Client()
    require(bank)
    assert begin(admin, client).status_code == 302
    for path in ("/", "/history/", "/admin/", list_of("tenants_user")):
        assert client.get(path).url == SETUP, path
    refused = client.get("/v1/documents")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")
    set_up(client)
    assert client.get("/admin/").status_code == 200
    require(bank, False)
    other = Client()
    begin(bank.person("other"), other)
    assert other.get("/").status_code == 200


def test_a_session_from_before_the_rule_is_asked_too(bank, person):
    client = signed_in(bank, person)
    assert client.get("/").status_code == 200
    require(bank)
    assert client.get("/").url == SETUP


def test_the_emergency_account_needs_one_too(bank, admin):
    with bank.scope():
        SignInPolicy.objects.create(passwords=False, break_glass=admin)
    require(bank)
    client = Client()
    begin(admin, client)
    assert client.get("/admin/").url == SETUP
    secret, _ = set_up(client)
    again = Client()
    assert begin(admin, again).url == SHOW
    again.post(SHOW, {"code": code(secret)})
    assert recorded(bank, "sign_in.")[-1] == ("sign_in.succeeded", {"how": "break_glass, totp"})


def test_whom_a_provider_vouches_for_has_theirs_there(bank, person):
    require(bank)
    client = Client()
    with bank.scope():
        client.force_login(person, backend="tenants.authentication.ProviderBackend")
    assert client.get("/").status_code == 200
    with bank.scope():
        person.set_unusable_password()
        person.save()
        client.force_login(person, backend="tenants.authentication.ProviderBackend")
    assert client.get(f"{SETUP}app/").status_code == 403


def test_the_last_one_stays_where_one_is_needed(bank, person):
    client = signed_in(bank, person)
    set_up(client)
    require(bank)
    page = client.post(f"{SETUP}app/remove/")
    assert "cannot deactivate" in page.content.decode()
    require(bank, False)
    assert client.post(f"{SETUP}app/remove/").status_code == 302
    assert [action for action, _ in recorded(bank, "factor.")] == [
        "factor.added",
        "factor.added",  # recovery codes
        "factor.policy_set",
        "factor.policy_set",
        "factor.removed",
        "factor.removed",
    ]


def test_setting_one_up_asks_for_the_password(bank, person):
    client = signed_in(bank, person)
    for path in ("app/", "passkey/", "codes/renew/"):
        assert "/confirm/" in client.get(SETUP + path).url
    assert "/confirm/" in client.post(f"{SETUP}app/", {"code": "123456"}).url
    wrong = client.post(f"{SETUP}confirm/?next={SETUP}app/", {"password": "wrong"})
    assert wrong.status_code == 200
    assert "/confirm/" in client.get(f"{SETUP}app/").url
    assert recorded(bank, "sign_in.") == [
        ("sign_in.refused", {"how": "confirmation", "code": "password"})
    ]


def test_an_administrator_takes_them_away_but_not_their_own(bank, admin, person):
    set_up(signed_in(bank, person))
    client = signed_in(bank, admin)
    set_up(client)
    chosen = {"action": "reset_factors", "confirmed": "1"}
    row = {**chosen, "_selected_action": str(person.pk)}
    assert "taken away" in said(client.post(list_of("tenants_user"), row, follow=True))
    assert begin(person).url == "/"
    own = {**chosen, "_selected_action": str(admin.pk)}
    assert "your own" in said(client.post(list_of("tenants_user"), own, follow=True))
    with bank.scope():
        with pytest.raises(ValidationError):
            services.reset_factors(user=admin, actor=admin)
        with pytest.raises(PermissionDenied):
            services.reset_factors(user=admin, actor=person)
        with pytest.raises(PermissionDenied):
            services.set_factor_policy(required=False, actor=person)
    call_command("reset_factors", admin.email)
    assert begin(admin).url == "/"
    assert [action for action, _ in recorded(bank, "factor.reset")] == ["factor.reset"] * 2


def test_secrets_are_encrypted_and_move_to_a_new_key(bank, person, settings):
    secret, codes = set_up(signed_in(bank, person))
    with bank.scope():
        stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not any(one in stored for one in codes)
    new = Fernet.generate_key().decode()
    settings.SECRET_STORE_KEYS = [new, *settings.SECRET_STORE_KEYS]
    with bank.scope():
        assert services.reseal_factors() == 2
    settings.SECRET_STORE_KEYS = [new]
    client = Client()
    begin(person, client)
    assert client.post(SHOW, {"code": code(secret)}).status_code == 302


def test_the_database_shows_factors_of_ones_own_tenant_only(bank, other_bank, person):
    set_up(signed_in(bank, person))
    with bank.scope():
        assert Authenticator.objects.count() == 2
    with other_bank.scope():
        assert Authenticator.objects.count() == 0
        with connection.cursor() as cursor, pytest.raises(Exception, match="row-level security"):
            cursor.execute(
                "INSERT INTO mfa_authenticator (user_id, type, data, created_at)"
                " VALUES (%s, 'totp', '{}', now())",
                [person.pk],
            )
    assert Authenticator.objects.count() == 0  # no tenant, no rows


def test_an_administrator_changes_the_rule_on_a_page(bank, admin):
    client = signed_in(bank, admin)
    page = client.get(list_of("factors_factorpolicy"), follow=True)
    answer = client.post(page.redirect_chain[-1][0], {"required": "on"}, follow=True)
    assert answer.redirect_chain[-1][0] == SETUP  # from now on, this session too
    assert recorded(bank, "factor.policy_set") == [("factor.policy_set", {"required": True})]
