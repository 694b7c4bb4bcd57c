"""A tenant whose people sign in through a provider on loopback."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditRecord
from tenants.identity import services as identity
from tenants.identity.models import EmailDomain, IdentityProvider, Protocol
from tenants.models import Role, User
from tests.bank import Bank
from tests.fakes.oidc_provider import FakeOidcProvider
from tests.fakes.saml_provider import FakeSamlProvider


@pytest.fixture
def oidc(settings):
    settings.LOOPBACK_PROVIDERS = True
    with FakeOidcProvider() as provider:
        yield provider


@pytest.fixture
def saml(settings):
    settings.LOOPBACK_PROVIDERS = True
    with FakeSamlProvider() as provider:
        yield provider


@dataclass
class Registered:
    """One tenant's registration at a provider."""

    bank: Bank
    admin: User
    provider: IdentityProvider
    domain: str

    def claims(self, sub: str = "subject-1", **claims) -> dict[str, object]:
        said = {"sub": sub, "email": f"{sub}@{self.domain}", "name": "Emma Claes"}
        return {k: v for k, v in (said | claims).items() if v is not None}

    def user(self, sub: str = "subject-1") -> User | None:
        with self.bank.scope():
            return User.objects.filter(email=f"{sub}@{self.domain}").first()

    def audit(self, action: str) -> list[dict]:
        with self.bank.scope():
            return list(AuditRecord.objects.filter(action=action).values_list("facts", flat=True))

    def groups_of(self, sub: str = "subject-1") -> set[str]:
        with self.bank.scope():
            return set(
                self.user(sub).member_of.filter(built_in=False).values_list("name", flat=True)
            )


@dataclass
class SignIn(Registered):
    """A browser that signs in through an OpenID provider."""

    oidc: FakeOidcProvider

    def claims(self, sub: str = "subject-1", **claims) -> dict[str, object]:
        return super().claims(sub, **{"email_verified": True} | claims)

    def leave(self, client: Client, address: str = "") -> str:
        """The address of ours that the provider sends the browser back to."""
        there = client.get(address or f"/sign-in/{self.provider.pk}/")
        assert there.status_code == 302, there.content.decode()
        return self.oidc.authorise(there.url)

    def sign_in(self, client: Client | None = None, **person):
        """The page after coming back."""
        self.oidc.person = self.claims(**person)
        client = client or Client()
        return client.get(self.leave(client))


@dataclass
class SamlSignIn(Registered):
    """A browser that signs in through a SAML provider."""

    saml: FakeSamlProvider

    def leave(self, client: Client, address: str = "") -> tuple[str, dict[str, str]]:
        """The address of ours that the provider's page sends the form to, and the form."""
        there = client.get(address or f"/sign-in/{self.provider.pk}/")
        assert there.status_code == 302, there.content.decode()
        return self.saml.authorise(there.url)

    def sign_in(self, client: Client | None = None, **person):
        """The page after coming back."""
        self.saml.person = self.claims(**person)
        client = client or Client()
        return client.post(*self.leave(client))


def _in_use(bank: Bank, provider: IdentityProvider, **given) -> tuple[User, IdentityProvider, str]:
    """(an administrator, the provider after its trial, its proven domain)"""
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    domain = f"{bank.tenant.slug}.example"
    with bank.scope():
        provider = identity.save_provider(provider=provider, actor=admin, **given)
        identity.note_trial(provider=provider, actor=admin)
        identity.switch_provider(provider=provider, on=True, actor=admin)
        row = identity.name_domain(domain=domain, provider=provider, actor=admin)
        EmailDomain.objects.filter(pk=row.pk).update(proven_at=timezone.now())
        provider.refresh_from_db()
    return admin, provider, domain


def register(
    bank: Bank, oidc: FakeOidcProvider, *, creates_accounts=True, client="precept"
) -> SignIn:
    """In use, with a proven domain."""
    with bank.scope():
        provider = IdentityProvider(
            name="Bank login",
            issuer=oidc.issuer,
            client_id=client,
            creates_accounts=creates_accounts,
        )
    return SignIn(bank, *_in_use(bank, provider, client_secret=oidc.client_secret), oidc)


def register_saml(bank: Bank, saml: FakeSamlProvider) -> SamlSignIn:
    """In use, with a proven domain, its metadata fetched."""
    with bank.scope():
        provider = IdentityProvider(
            name="Bank login",
            protocol=Protocol.SAML,
            creates_accounts=True,
            confirms_addresses=True,
        )
    return SamlSignIn(bank, *_in_use(bank, provider, metadata_address=saml.address), saml)


@pytest.fixture
def sign_in(bank, oidc) -> SignIn:
    return register(bank, oidc)


@pytest.fixture
def saml_sign_in(bank, saml) -> SamlSignIn:
    return register_saml(bank, saml)


def arrived(response) -> bool:
    return response.status_code == 302 and response.url == "/"


def refused(saml_sign_in, response, code: str) -> bool:
    """Nobody came in, the page says so, and the record says why."""
    assert response.status_code == 403
    assert "could not be verified" in response.content.decode()
    assert saml_sign_in.user() is None
    assert saml_sign_in.user("victim") is None
    assert saml_sign_in.audit("sign_in.refused") == [{"how": "saml", "code": code}]
    return True
