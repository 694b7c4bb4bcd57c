"""Signing in through an OpenID provider: who is let in, and everything that is not believed."""

import time

import pytest
from django.test import Client

from tenants import services as people
from tenants.identity import oidc as protocol
from tenants.identity import services as identity
from tenants.identity.models import ExternalIdentity

from .conftest import register


def arrived(response) -> bool:
    return response.status_code == 302 and response.url == "/"


def test_a_first_sign_in_makes_an_account_and_the_next_one_finds_it(sign_in):
    client = Client()
    assert arrived(sign_in.sign_in(client))
    assert sign_in.bank.tenant.name in client.get("/").content.decode()
    assert arrived(sign_in.sign_in())
    with sign_in.bank.scope():
        assert ExternalIdentity.objects.count() == 1
    assert sign_in.audit("sign_in.succeeded") == [{"how": "oidc"}, {"how": "oidc"}]


def test_an_address_of_a_proven_domain_leads_to_its_provider_and_any_other_nowhere(sign_in):
    client = Client()
    page = client.post("/sign-in/", {"email": f"Emma@{sign_in.domain.upper()}"})
    assert f"/sign-in/{sign_in.provider.pk}/" in page.content.decode()
    page = client.post("/sign-in/", {"email": "emma@elsewhere.example"})
    assert "No organisation" in page.content.decode()


def test_a_domain_that_is_only_claimed_leads_nowhere(sign_in, other_bank):
    with other_bank.scope():
        identity.name_domain(domain="claimed.example")
    page = Client().post("/sign-in/", {"email": "emma@claimed.example"})
    assert "No organisation" in page.content.decode()


def test_a_person_is_found_by_subject_whatever_address_the_provider_says(sign_in):
    sign_in.sign_in(sub="subject-1")
    other = sign_in.bank.person("victim")
    assert arrived(sign_in.sign_in(sub="subject-1", email=other.email))
    with sign_in.bank.scope():
        assert ExternalIdentity.objects.get().user.email == f"subject-1@{sign_in.domain}"


def test_a_new_subject_with_somebodys_address_does_not_get_their_account(sign_in):
    sign_in.sign_in(sub="subject-1")
    answer = sign_in.sign_in(sub="subject-2", email=f"subject-1@{sign_in.domain}")
    assert answer.status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": "address_taken"}]


def test_an_address_of_another_tenants_user_is_refused_like_one_that_has_no_account(
    sign_in, other_bank
):
    with other_bank.scope():
        people.create_user(email=f"taken@{sign_in.domain}", password=None)
    taken = sign_in.sign_in(sub="taken")
    with sign_in.bank.scope():
        sign_in.provider.creates_accounts = False
        sign_in.provider.save()
    unknown = sign_in.sign_in(sub="unknown")
    assert taken.status_code == unknown.status_code == 403
    strip = "Reference for your administrator"
    assert taken.content.split(strip.encode())[0] == unknown.content.split(strip.encode())[0]


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"email_verified": False}, "email_unverified"),
        ({"email_verified": None}, "email_unverified"),
        ({"email": None}, "no_email"),
        ({"email": "emma@elsewhere.example"}, "domain"),
    ],
)
def test_a_first_sign_in_needs_a_confirmed_address_of_a_proven_domain(sign_in, claims, code):
    assert sign_in.sign_in(**claims).status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": code}]
    assert sign_in.user() is None


def test_an_account_is_taken_over_only_where_an_administrator_has_allowed_it_once(sign_in):
    with sign_in.bank.scope():
        user = people.create_user(email=f"subject-1@{sign_in.domain}", password=None)
    assert sign_in.sign_in().status_code == 403
    with sign_in.bank.scope():
        identity.allow_link(user=user, provider=sign_in.provider, actor=sign_in.admin)
    assert arrived(sign_in.sign_in())
    assert sign_in.sign_in(sub="subject-2", email=user.email).status_code == 403


def test_a_deactivated_person_is_not_let_in_and_their_open_session_ends(sign_in):
    client = Client()
    sign_in.sign_in(client)
    with sign_in.bank.scope():
        people.set_user_active(user=sign_in.user(), active=False)
    assert client.get("/").status_code == 302
    assert sign_in.sign_in().status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": "inactive"}]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"aud": "somebody-else"}, "token_aud"),
        ({"aud": ["precept", "somebody-else"]}, "token_party"),
        ({"azp": "somebody-else"}, "token_party"),
        ({"iss": "https://elsewhere.example"}, "token_iss"),
        ({"nonce": "of an earlier sign-in"}, "token_nonce"),
        ({"nonce": None}, "token_nonce"),
        ({"exp": int(time.time()) - 3600, "iat": int(time.time()) - 7200}, "token_exp"),
        ({"exp": None}, "token_exp"),
        ({"iat": int(time.time()) + 3600}, "token_iat"),
        ({"nbf": int(time.time()) + 3600}, "token_nbf"),
        ({"sub": None}, "token_sub"),
        ({"sub": ""}, "token_sub"),
        ({"sub": 7}, "token_sub"),
    ],
)
def test_a_token_that_is_not_ours_now_is_refused_and_recorded(sign_in, changes, code):
    sign_in.oidc.token_changes = changes
    answer = sign_in.sign_in()
    assert answer.status_code == 403
    assert "could not be verified" in answer.content.decode()
    [record] = sign_in.audit("sign_in.refused")
    assert record["code"] == code
    assert sign_in.user() is None


def test_a_clock_that_is_some_seconds_off_is_forgiven(sign_in):
    now = int(time.time())
    sign_in.oidc.token_changes = {"iat": now + 40, "nbf": now + 40, "exp": now - 40 + 60}
    assert arrived(sign_in.sign_in())


def test_a_token_that_another_key_signed_is_refused(sign_in):
    sign_in.oidc.wrong_key = True
    assert sign_in.sign_in().status_code == 403


@pytest.mark.parametrize(
    "token",
    [
        "",
        "no.token.at-all",
        # {"alg":"none"}.{"sub":"subject-1"} and no signature
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzdWJqZWN0LTEifQ.",
    ],
)
def test_a_token_without_a_signature_is_refused(sign_in, token):
    sign_in.oidc.raw_token = token or "x"
    assert sign_in.sign_in().status_code == 403
    assert sign_in.user() is None


def test_coming_back_twice_or_without_having_left_signs_nobody_in(sign_in):
    client = Client()
    sign_in.oidc.person = sign_in.claims()
    back = sign_in.leave(client)
    assert arrived(client.get(back))
    client.post("/accounts/logout/")
    assert client.get(back).status_code == 400
    assert Client().get(sign_in.leave(Client())).status_code == 400  # somebody else's state


def test_an_answer_that_names_another_issuer_is_refused(sign_in):
    client = Client()
    sign_in.oidc.person = sign_in.claims()
    back = sign_in.leave(client)
    answer = client.get(back.replace("iss=http", "iss=https"))
    assert answer.status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": "issuer"}]


def test_user_info_of_another_subject_is_refused(sign_in):
    sign_in.oidc.leave_out = {"email"}
    sign_in.oidc.userinfo_changes = {"sub": "somebody-else"}
    assert sign_in.sign_in().status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": "userinfo_subject"}]


def test_what_the_token_leaves_out_is_taken_from_user_info(sign_in):
    sign_in.oidc.leave_out = {"email", "email_verified"}
    assert arrived(sign_in.sign_in())


def test_two_tenants_at_one_issuer_keep_their_people_apart(sign_in, other_bank, oidc):
    elsewhere = register(other_bank, oidc, client="precept-of-the-other")
    sign_in.sign_in(sub="one")
    answer = elsewhere.sign_in(sub="one", email=f"one@{sign_in.domain}")
    assert answer.status_code == 403  # a subject of the same issuer, but not of this tenant
    assert elsewhere.audit("sign_in.refused") == [{"how": "oidc", "code": "domain"}]
    client = Client()
    assert arrived(elsewhere.sign_in(client, sub="one"))
    page = client.get("/").content.decode()
    with other_bank.scope():
        assert ExternalIdentity.objects.get().user.email == f"one@{elsewhere.domain}"
    assert page


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "javascript:1"])
def test_after_signing_in_nobody_is_sent_elsewhere(sign_in, wanted):
    client = Client()
    sign_in.oidc.person = sign_in.claims()
    back = sign_in.leave(client, f"/sign-in/{sign_in.provider.pk}/?next={wanted}")
    assert client.get(back).url == "/"


def test_after_signing_in_one_is_where_one_wanted_to_be(sign_in):
    client = Client()
    sign_in.oidc.person = sign_in.claims()
    back = sign_in.leave(client, f"/sign-in/{sign_in.provider.pk}/?next=/documents/")
    assert client.get(back).url == "/documents/"


def test_a_provider_that_is_off_does_not_exist_and_one_switched_off_meanwhile_lets_nobody_in(
    sign_in,
):
    client = Client()
    sign_in.oidc.person = sign_in.claims()
    back = sign_in.leave(client)
    with sign_in.bank.scope():
        identity.switch_provider(provider=sign_in.provider, on=False, actor=sign_in.admin)
    assert client.get(back).status_code == 403
    assert Client().get(f"/sign-in/{sign_in.provider.pk}/").status_code == 404


def test_a_provider_that_calls_itself_something_else_is_not_asked(sign_in):
    sign_in.oidc.metadata_changes = {"issuer": "https://elsewhere.example"}
    answer = Client().get(f"/sign-in/{sign_in.provider.pk}/")
    assert answer.status_code == 403
    assert sign_in.audit("sign_in.refused") == [{"how": "oidc", "code": "issuer"}]


def test_a_declined_sign_in_says_so(sign_in):
    client = Client()
    back = sign_in.leave(client).replace("code=", "error=access_denied&was=")
    answer = client.get(back)
    assert answer.status_code == 403
    assert "was not completed" in answer.content.decode()


@pytest.mark.parametrize(
    "url",
    ["http://idp.example/", "https://127.0.0.1/", "https://localhost/", "https://169.254.169.254/"],
)
def test_addresses_of_this_machine_and_its_link_are_not_called(settings, url):
    settings.LOOPBACK_PROVIDERS = False
    with pytest.raises(protocol.ProviderFailed) as failure:
        protocol.discover(url)
    assert failure.value.code == "address"
