"""Signing in through a SAML provider: who is let in, and everything that is not believed."""

from __future__ import annotations

import pytest
import xmlsec
from django.test import Client
from lxml import etree

from tenants.identity import services as identity
from tenants.identity.models import ExternalIdentity, GroupRule, UsedAssertion
from tests.fakes.saml_provider import NAMES, at, tag

from .conftest import arrived, refused, register_saml

# --- Who comes in -------------------------------------------------------------------------------


def test_a_first_sign_in_makes_an_account_and_the_next_one_finds_it(saml_sign_in):
    client = Client()
    assert arrived(saml_sign_in.sign_in(client))
    assert saml_sign_in.bank.tenant.name in client.get("/").content.decode()
    assert arrived(saml_sign_in.sign_in())
    with saml_sign_in.bank.scope():
        assert ExternalIdentity.objects.get().user.name == "Emma Claes"
    assert saml_sign_in.audit("sign_in.succeeded") == [{"how": "saml"}, {"how": "saml"}]


def test_a_person_is_found_by_subject_whatever_address_the_provider_says(saml_sign_in):
    saml_sign_in.sign_in()
    other = saml_sign_in.bank.person("victim")
    assert arrived(saml_sign_in.sign_in(email=other.email))
    with saml_sign_in.bank.scope():
        assert ExternalIdentity.objects.get().user.email == f"subject-1@{saml_sign_in.domain}"


@pytest.mark.parametrize(
    ("person", "code"),
    [
        ({"email": None}, "no_email"),
        ({"email": ["one@a.example", "two@a.example"]}, "no_email"),
        ({"email": "emma@elsewhere.example"}, "domain"),
    ],
)
def test_a_first_sign_in_needs_an_address_of_a_proven_domain(saml_sign_in, person, code):
    assert saml_sign_in.sign_in(**person).status_code == 403
    assert saml_sign_in.audit("sign_in.refused") == [{"how": "saml", "code": code}]
    assert saml_sign_in.user() is None


def test_addresses_count_as_confirmed_only_where_the_administrator_has_said_so(saml_sign_in):
    with saml_sign_in.bank.scope():
        saml_sign_in.provider.confirms_addresses = False
        saml_sign_in.provider.save()
    assert saml_sign_in.sign_in().status_code == 403
    assert saml_sign_in.audit("sign_in.refused") == [{"how": "saml", "code": "email_unverified"}]


def test_after_signing_in_one_is_where_one_wanted_to_be(saml_sign_in):
    client = Client()
    saml_sign_in.saml.person = saml_sign_in.claims()
    form = saml_sign_in.leave(client, f"/sign-in/{saml_sign_in.provider.pk}/?next=/documents/")
    assert client.post(*form).url == "/documents/"


def test_a_form_from_the_providers_page_comes_without_our_cookies_and_is_sent_once_more(
    saml_sign_in,
):
    client = Client()
    saml_sign_in.saml.person = saml_sign_in.claims()
    address, form = saml_sign_in.leave(client)
    page = Client().post(address, form)
    assert page.status_code == 200
    assert form["SAMLResponse"] in page.content.decode()
    assert not page.cookies, "A new session would take the place of the one that left."
    assert arrived(client.post(address, form | {"again": "1"}))


@pytest.fixture
def mapped(saml_sign_in):
    """Tellers there are Tellers here."""
    tellers = saml_sign_in.bank.group("Tellers")
    with saml_sign_in.bank.scope():
        rule = GroupRule(value="grp-tellers", group=tellers)
        identity.set_rules(
            provider=saml_sign_in.provider, add=[rule], remove=[], actor=saml_sign_in.admin
        )
    return saml_sign_in


def test_groups_are_mapped_at_every_sign_in_and_an_absent_attribute_changes_nothing(mapped):
    mapped.sign_in(groups=["grp-tellers", "grp-unknown"])
    assert mapped.groups_of() == {"Tellers"}
    mapped.sign_in(groups=None)
    assert mapped.groups_of() == {"Tellers"}
    mapped.sign_in(groups=[])  # the attribute without a value
    assert mapped.groups_of() == set()
    mapped.sign_in(groups="grp-tellers")
    assert mapped.groups_of() == {"Tellers"}
    mapped.sign_in(groups=["GRP-TELLERS"])
    assert mapped.groups_of() == set()


def test_groups_that_are_not_plain_words_are_unknown(mapped):
    mapped.sign_in(groups=["grp-tellers"])

    def nest(response):
        value = response.find(".//saml:Attribute[@Name='groups']/saml:AttributeValue", NAMES)
        etree.SubElement(value, tag("saml:NameID")).text = "grp-tellers"

    mapped.saml.before_signing = nest
    assert arrived(mapped.sign_in(groups=[""]))
    assert mapped.groups_of() == {"Tellers"}


# --- What is not believed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"audience": "https://somebody.example/"}, "assertion_audience"),
        ({"audience": None}, "assertion_audience"),
        ({"issuer": "urn:example:another"}, "assertion_issuer"),
        ({"recipient": "https://somebody.example/"}, "assertion_recipient"),
        ({"recipient": None}, "assertion_recipient"),
        ({"request": "_of-an-earlier-sign-in"}, "assertion_request"),
        ({"request": None}, "assertion_request"),
        ({"not_before": at(hours=1)}, "assertion_not_yet"),
        ({"not_on_or_after": at(minutes=-2)}, "assertion_expired"),
        ({"confirmed_until": at(minutes=-2)}, "assertion_expired"),
        ({"confirmed_until": None}, "assertion_expired"),
        ({"confirmed_until": "tomorrow"}, "assertion_time"),
        ({"method": "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"}, "assertion_subject"),
        (
            {"format": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"},
            "assertion_subject_transient",
        ),
    ],
)
def test_an_assertion_that_is_not_ours_now_is_refused_and_recorded(saml_sign_in, changes, code):
    saml_sign_in.saml.assertion_changes = changes
    assert refused(saml_sign_in, saml_sign_in.sign_in(), code)


def test_an_assertion_about_nobody_is_refused(saml_sign_in):
    assert refused(saml_sign_in, saml_sign_in.sign_in(sub=""), "assertion_subject")


def test_a_clock_that_is_some_seconds_off_is_forgiven(saml_sign_in):
    saml_sign_in.saml.assertion_changes = {
        "not_before": at(seconds=40),
        "not_on_or_after": at(seconds=-20),
        "confirmed_until": at(seconds=-20),
    }
    assert arrived(saml_sign_in.sign_in())


def test_an_assertion_that_another_key_signed_is_refused(saml_sign_in):
    saml_sign_in.saml.wrong_key = True
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "signature")


@pytest.mark.parametrize("signs", ["", "response"])
def test_an_assertion_without_a_signature_of_its_own_is_refused(saml_sign_in, signs):
    saml_sign_in.saml.signs = signs
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "unsigned")


def test_words_changed_after_signing_are_noticed(saml_sign_in):
    def change(response):
        response.find(".//saml:NameID", NAMES).text = "victim"

    saml_sign_in.saml.after_signing = change
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "signature")


@pytest.mark.parametrize(
    "weak",
    [
        {"signature_method": xmlsec.Transform.RSA_SHA1},
        {"digest_method": xmlsec.Transform.SHA1},
    ],
)
def test_sha_1_is_refused(saml_sign_in, weak):
    for name, value in weak.items():
        setattr(saml_sign_in.saml, name, value)
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "signature_algorithm")


def test_an_assertion_is_believed_once_even_with_the_session_that_asked_for_it(saml_sign_in):
    client = Client()
    saml_sign_in.saml.person = saml_sign_in.claims()
    form = saml_sign_in.leave(client)
    asked = dict(client.session["precept_sign_in"])
    assert arrived(client.post(*form))
    copied = Client()
    session = copied.session
    session["precept_sign_in"] = asked
    session.save()
    assert copied.post(*form).status_code == 403
    assert saml_sign_in.audit("sign_in.refused") == [{"how": "saml", "code": "assertion_replayed"}]


def test_used_assertions_are_forgotten_when_they_would_be_refused_anyway(saml_sign_in):
    saml_sign_in.sign_in()
    with saml_sign_in.bank.scope():
        UsedAssertion.objects.update(expires_at=at(minutes=-1))
        saml_sign_in.sign_in()
        assert UsedAssertion.objects.count() == 1


def test_an_answer_that_this_browser_did_not_ask_for_is_refused_and_recorded(saml_sign_in):
    saml_sign_in.saml.person = saml_sign_in.claims()
    address, form = saml_sign_in.leave(Client())  # somebody else left
    answer = Client().post(address, form | {"again": "1"})
    assert answer.status_code == 400
    assert "was not begun here" in answer.content.decode()
    assert saml_sign_in.audit("sign_in.refused") == [{"how": "saml", "code": "unasked"}]
    assert saml_sign_in.user() is None


def test_an_answer_to_another_request_of_the_same_browser_is_refused(saml_sign_in):
    client = Client()
    saml_sign_in.saml.person = saml_sign_in.claims()
    address, first = saml_sign_in.leave(client)
    _, second = saml_sign_in.leave(client)
    mixed = {"SAMLResponse": first["SAMLResponse"], "RelayState": second["RelayState"]}
    assert refused(saml_sign_in, client.post(address, mixed), "assertion_request")


def test_another_tenants_provider_vouches_for_nobody_here(saml_sign_in, other_bank, saml):
    """The same provider serves both; what it says to the one is not for the other."""
    elsewhere = register_saml(other_bank, saml)
    client = Client()
    saml.person = elsewhere.claims()
    _, foreign = elsewhere.leave(client)
    address, ours = saml_sign_in.leave(client)
    # Their answer at our address, with their request and with ours.
    assert client.post(address, foreign).status_code == 400
    assert elsewhere.audit("sign_in.refused") == [{"how": "saml", "code": "unasked"}]
    mixed = {"SAMLResponse": foreign["SAMLResponse"], "RelayState": ours["RelayState"]}
    assert refused(saml_sign_in, client.post(address, mixed), "assertion_audience")


def test_a_subject_of_another_tenant_at_the_same_provider_is_another_person(
    saml_sign_in, other_bank, saml
):
    elsewhere = register_saml(other_bank, saml)
    saml_sign_in.sign_in(sub="one")
    answer = elsewhere.sign_in(sub="one", email=f"one@{saml_sign_in.domain}")
    assert answer.status_code == 403
    assert elsewhere.audit("sign_in.refused") == [{"how": "saml", "code": "domain"}]


def test_a_declined_sign_in_says_so(saml_sign_in):
    saml_sign_in.saml.status = "urn:oasis:names:tc:SAML:2.0:status:Responder"
    answer = saml_sign_in.sign_in()
    assert answer.status_code == 403
    assert "was not completed" in answer.content.decode()


def test_a_provider_switched_off_meanwhile_lets_nobody_in(saml_sign_in):
    client = Client()
    saml_sign_in.saml.person = saml_sign_in.claims()
    form = saml_sign_in.leave(client)
    with saml_sign_in.bank.scope():
        identity.switch_provider(provider=saml_sign_in.provider, on=False, actor=saml_sign_in.admin)
    assert client.post(*form).status_code == 403


def test_an_encrypted_assertion_is_refused_by_name(saml_sign_in):
    def hide(response):
        assertion = response.find(tag("saml:Assertion"))
        response.replace(assertion, etree.Element(tag("saml:EncryptedAssertion")))

    saml_sign_in.saml.after_signing = hide
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "encrypted")


def test_a_condition_that_we_do_not_know_is_not_met(saml_sign_in):
    def add(response):
        etree.SubElement(response.find(".//saml:Conditions", NAMES), tag("saml:Condition"))

    saml_sign_in.saml.before_signing = add
    assert refused(saml_sign_in, saml_sign_in.sign_in(), "assertion_conditions")
