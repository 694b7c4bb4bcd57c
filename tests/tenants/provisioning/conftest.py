"""A tenant whose directory speaks SCIM, without a sign-in at the provider."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import AuditRecord
from tenants.identity import services as identity
from tenants.identity.models import EmailDomain, GroupRule, IdentityProvider
from tenants.models import Group, Role, User
from tenants.provisioning import services as provisioning
from tenants.provisioning.models import ScimToken
from tests.bank import Bank

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@dataclass
class Directory:
    """One tenant's directory, with the token that it was given."""

    bank: Bank
    admin: User
    provider: IdentityProvider
    domain: str
    row: ScimToken
    token: str

    def call(self, method: str, path: str, body: object = None):
        return Client().generic(
            method,
            f"/scim/v2/{path}",
            "" if body is None else json.dumps(body),
            content_type="application/scim+json",
            headers={"authorization": f"Bearer {self.token}"},
        )

    def get(self, path: str, **query: str):
        return Client().get(
            f"/scim/v2/{path}", query, headers={"authorization": f"Bearer {self.token}"}
        )

    def found(self, path: str, wanted: str) -> list[str]:
        answer = self.get(path, filter=wanted)
        assert answer.status_code == 200, answer.content
        return [one["id"] for one in answer.json().get("Resources", [])]

    def person(self, name: str = "emma", **said) -> dict:
        body = {"schemas": [USER], "userName": f"{name}@{self.domain}", "displayName": "Emma Claes"}
        return {key: value for key, value in (body | said).items() if value is not None}

    def add(self, name: str = "emma", **said) -> str:
        answer = self.call("POST", "Users", self.person(name, **said))
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    def add_group(self, name: str, *members: str, **said) -> str:
        body = {"schemas": [GROUP], "displayName": name, **said}
        answer = self.call("POST", "Groups", body | {"members": [{"value": m} for m in members]})
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    def patch(self, path: str, *operations: dict):
        answer = self.call("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})
        assert answer.status_code in (200, 204), answer.content
        return answer

    def map(self, value: str, group: Group | None = None, **given) -> None:
        with self.bank.scope():
            identity.set_rules(
                provider=self.provider,
                add=[GroupRule(value=value, group=group, **given)],
                remove=[],
                actor=self.admin,
            )

    def user(self, key: str) -> User:
        with self.bank.scope():
            return User.objects.get(pk=key)

    def groups_of(self, key: str) -> set[str]:
        with self.bank.scope():
            rows = self.user(key).member_of.filter(built_in=False)
            return set(rows.values_list("name", flat=True))

    def audit(self) -> list[str]:
        with self.bank.scope():
            return list(AuditRecord.objects.order_by("seq").values_list("action", flat=True))


def connect(bank: Bank, provider: IdentityProvider | None = None) -> Directory:
    admin = bank.person("admin", roles=[Role.TENANT_ADMIN])
    domain = f"{bank.tenant.slug}.example"
    with bank.scope():
        if provider is None:
            provider = identity.save_provider(
                provider=IdentityProvider(
                    name="Login", issuer="https://login.example", client_id=uuid.uuid4().hex
                ),
                actor=admin,
            )
            named = identity.name_domain(domain=domain, provider=provider, actor=admin)
            EmailDomain.objects.filter(pk=named.pk).update(proven_at=timezone.now())
        row, token = provisioning.issue_scim_token(
            provider=provider, lifetime=timedelta(days=1), actor=admin
        )
    return Directory(bank, admin, provider, domain, row, token)


@pytest.fixture
def directory(bank) -> Directory:
    return connect(bank)


@pytest.fixture
def other_directory(other_bank) -> Directory:
    return connect(other_bank)
