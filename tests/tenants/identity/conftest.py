"""A tenant whose people sign in through a provider on loopback."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditRecord
from tenants.identity import services as identity
from tenants.identity.models import EmailDomain, IdentityProvider
from tenants.models import Role, User
from tests.bank import Bank
from tests.fakes.oidc_provider import FakeOidcProvider


@pytest.fixture
def oidc(settings):
    settings.LOOPBACK_PROVIDERS = True
    with FakeOidcProvider() as provider:
        yield provider


@dataclass
class SignIn:
    """One tenant's registration at the provider, and a browser that signs in through it."""

    bank: Bank
    oidc: FakeOidcProvider
    admin: User
    provider: IdentityProvider
    domain: str

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

    def claims(self, sub: str = "subject-1", **claims) -> dict[str, object]:
        said = {
            "sub": sub,
            "email": f"{sub}@{self.domain}",
            "email_verified": True,
            "name": "Emma Claes",
        }
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


def register(
    bank: Bank, oidc: FakeOidcProvider, *, creates_accounts=True, client="precept"
) -> SignIn:
    """In use, with a proven domain."""
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    domain = f"{bank.tenant.slug}.example"
    with bank.scope():
        provider = identity.save_provider(
            provider=IdentityProvider(
                name="Bank login",
                issuer=oidc.issuer,
                client_id=client,
                creates_accounts=creates_accounts,
            ),
            client_secret=oidc.client_secret,
            actor=admin,
        )
        identity.note_trial(provider=provider, actor=admin)
        identity.switch_provider(provider=provider, on=True, actor=admin)
        row = identity.name_domain(domain=domain, provider=provider, actor=admin)
        EmailDomain.objects.filter(pk=row.pk).update(proven_at=timezone.now())
        provider.refresh_from_db()
    return SignIn(bank, oidc, admin, provider, domain)


@pytest.fixture
def sign_in(bank, oidc) -> SignIn:
    return register(bank, oidc)
