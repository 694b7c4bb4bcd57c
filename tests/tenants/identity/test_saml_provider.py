"""Setting a SAML provider up: by its metadata, which is read with suspicion, and tried before use."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.test import Client
from lxml import etree

from tenants.identity import services as identity
from tenants.identity.models import IdentityProvider, Protocol
from tenants.models import Role

FORM = {
    "name": "Bank login",
    "protocol": "saml",
    "groups_claim": "groups",
    "issuer": "",
    "client_id": "",
    "scopes": "openid",
    "email_attribute": "email",
    "name_attribute": "name",
    "saml_metadata": "",
    "metadata_address": "",
}


@pytest.fixture
def admin(bank, saml):
    client, person = Client(), bank.person("admin", roles=[Role.TENANT_ADMIN])
    with bank.scope():
        client.force_login(person)
    return client


def only_provider(bank) -> IdentityProvider:
    with bank.scope():
        return IdentityProvider.objects.get()


@pytest.mark.parametrize("by", ["text", "address"])
def test_an_administrator_adds_tries_and_switches_on_by_pages_alone(bank, admin, saml, by):
    given = (
        {"saml_metadata": saml.metadata()} if by == "text" else {"metadata_address": saml.address}
    )
    admin.post("/admin/identity/identityprovider/add/", FORM | given)
    provider = only_provider(bank)
    assert (provider.issuer, provider.state) == (saml.entity_id, "draft")
    there = f"/admin/identity/identityprovider/{provider.pk}"
    page = admin.get(f"{there}/change/").content.decode()
    assert f"/sign-in/{provider.pk}/metadata/" in page
    assert f"/sign-in/{provider.pk}/answer/" in page
    assert "Client secret" not in page

    saml.person = {"sub": "subject-1", "email": "emma@bank.example", "groups": ["Risk"]}
    address, form = saml.authorise(admin.get(f"/sign-in/{provider.pk}/try/").url)
    tried = admin.post(address, form)
    assert tried.status_code == 200
    words = tried.content.decode()
    assert "subject-1" in words
    assert "emma@bank.example" in words
    assert "Risk" in words
    assert "not confirmed" in words

    admin.post(f"{there}/switch-on/")
    assert only_provider(bank).state == "on"


def test_a_trial_that_is_not_believed_says_so_and_allows_nothing(bank, admin, saml):
    admin.post("/admin/identity/identityprovider/add/", FORM | {"metadata_address": saml.address})
    provider = only_provider(bank)
    saml.person, saml.wrong_key = {"sub": "subject-1"}, True
    address, form = saml.authorise(admin.get(f"/sign-in/{provider.pk}/try/").url)
    assert "The trial did not succeed" in admin.post(address, form).content.decode()
    assert only_provider(bank).tried_at is None


def _add(bank, saml, **given) -> IdentityProvider:
    with bank.scope():
        provider = IdentityProvider(name="Bank login", protocol=Protocol.SAML)
        return identity.save_provider(
            provider=provider, **({"metadata_address": saml.address} | given)
        )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda said: "words", "not plain XML"),
        (
            lambda said: '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>',
            "not plain",
        ),
        (lambda said: said.replace("IDPSSODescriptor", "SPSSODescriptor"), "0 SAML 2.0 providers"),
        (lambda said: said.replace("HTTP-Redirect", "SOAP"), "HTTP-Redirect binding"),
        (lambda said: said.replace('use="signing"', 'use="encryption"'), "no signing certificate"),
        (lambda said: said.replace("<X509Certificate>", "<X509Certificate>AAAA"), "cannot be read"),
        (lambda said: said.replace("entityID", "another"), "no entityID"),
        (
            lambda said: said.replace("/sign-on", '/x" other="').replace("http:", "data:"),
            "HTTP-Red",
        ),
    ],
)
def test_metadata_that_does_not_describe_one_provider_is_refused_with_what_is_missing(
    bank, saml, change, says
):
    saml.raw_metadata = change(saml.metadata())
    with pytest.raises(ValidationError, match=says):
        _add(bank, saml)


def test_metadata_is_fetched_only_from_where_providers_may_be(bank, saml, settings):
    settings.LOOPBACK_PROVIDERS = False
    for address in (saml.address, saml.address.replace("http:", "https:")):
        with pytest.raises(ValidationError):
            _add(bank, saml, metadata_address=address)
    assert saml.calls == []


def test_the_protocol_stays_once_people_sign_in_also_in_sql(saml_sign_in, raw_sql):
    saml_sign_in.sign_in()
    with pytest.raises(Exception, match="stays"):
        raw_sql.execute(
            "UPDATE identity_identityprovider SET protocol = 'oidc', client_id = 'x',"
            " saml_metadata = '' WHERE id = %s",
            [saml_sign_in.provider.pk],
        )


def test_a_provider_has_what_its_protocol_needs_also_in_sql(saml_sign_in):
    with saml_sign_in.bank.scope(), pytest.raises(IntegrityError):
        IdentityProvider.objects.filter(pk=saml_sign_in.provider.pk).update(saml_metadata="")


def test_our_metadata_names_where_answers_go_and_does_not_tell_which_providers_there_are(
    saml_sign_in,
):
    key = str(saml_sign_in.provider.pk)
    ours = Client().get(f"/sign-in/{key}/metadata/")
    assert ours["Content-Type"] == "application/samlmetadata+xml"
    root = etree.fromstring(ours.content)
    assert root.get("entityID") == f"http://testserver/sign-in/{key}/metadata/"
    assert root.find("{*}SPSSODescriptor").get("WantAssertionsSigned") == "true"
    service = root.find("{*}SPSSODescriptor/{*}AssertionConsumerService")
    assert service.get("Location") == f"http://testserver/sign-in/{key}/answer/"
    nobodys = key[:-4] + ("0000" if not key.endswith("0000") else "1111")
    other = Client().get(f"/sign-in/{nobodys}/metadata/")
    assert other.content == ours.content.replace(key.encode(), nobodys.encode())
