"""Tokens of directories in the administration, and what a person's first sign-in finds."""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone

from tenants import services as people
from tenants.identity.services import allow_link
from tenants.models import Role
from tenants.provisioning import services as provisioning
from tenants.provisioning.models import ScimToken
from tests.admin_pages import add_to, filled, list_of, page_of, signed_in
from tests.tenants.identity.conftest import oidc, register  # noqa: F401
from tests.tenants.provisioning.conftest import connect


def test_a_token_is_shown_once_stored_hashed_and_works(directory):
    client = signed_in(directory.bank, directory.admin)
    form = filled(client.get(add_to("provisioning_scimtoken")), provider=directory.provider.pk)
    page = client.post(add_to("provisioning_scimtoken"), form | {"days": "90"})
    token = page.context["token"]
    assert token in page.content.decode()
    assert page.context["address"].endswith("/scim/v2")
    assert "no-store" in page["Cache-Control"]
    with directory.bank.scope():
        row = ScimToken.objects.first()
        assert token not in str(ScimToken.objects.filter(pk=row.pk).values().get())
    for address in (page_of(row), list_of("provisioning_scimtoken")):
        seen = client.get(address).content.decode()
        assert token not in seen
        assert row.digest not in seen
    directory.token = token
    assert directory.get("Users").status_code == 200
    with directory.bank.scope():
        row.refresh_from_db()
    assert row.last_used_at is not None


def test_a_revoked_or_expired_token_is_refused_from_the_next_request_on(directory):
    assert directory.get("Users").status_code == 200
    client = signed_in(directory.bank, directory.admin)
    client.post(page_of(directory.row).replace("change/", "revoke/"))
    assert directory.get("Users").status_code == 401
    again = connect(directory.bank, directory.provider)
    assert again.get("Users").status_code == 200
    with directory.bank.scope():
        ScimToken.objects.filter(pk=again.row.pk).update(expires_at=timezone.now())
    assert again.get("Users").status_code == 401


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.REVIEWER])
def test_only_a_tenant_administrator_issues_and_revokes(directory, role):
    somebody = directory.bank.person("somebody", roles=[role])
    with directory.bank.scope():
        with pytest.raises(PermissionDenied):
            provisioning.issue_scim_token(
                provider=directory.provider, lifetime=timedelta(days=1), actor=somebody
            )
        with pytest.raises(PermissionDenied):
            provisioning.revoke_scim_token(token=directory.row, actor=somebody)


def test_a_session_of_another_tenant_beside_the_token_opens_neither(directory, other_bank):
    client = signed_in(other_bank, other_bank.person())
    answer = client.get("/scim/v2/Users", headers={"authorization": f"Bearer {directory.token}"})
    assert answer.status_code == 401


# --- The first sign-in of somebody whom the directory told of --------------------------------------


@pytest.fixture
def sign_in(bank, oidc):  # noqa: F811
    return register(bank, oidc, creates_accounts=False)


@pytest.fixture
def told(bank, sign_in):
    return connect(bank, sign_in.provider)


def signed_in_as(sign_in, client: Client) -> str | None:
    return client.session.get("_auth_user_id")


def test_who_signs_in_as_the_subject_that_was_told_of_gets_that_account(sign_in, told):
    key, client = told.add(externalId="subject-1"), Client()
    sign_in.sign_in(client, email="whatever@elsewhere.example")
    assert signed_in_as(sign_in, client) == key


def test_who_signs_in_with_the_confirmed_address_that_was_told_of_gets_that_account(sign_in, told):
    key, client = told.add("subject-1", externalId="object-id"), Client()
    sign_in.sign_in(client, email_verified=False)
    assert signed_in_as(sign_in, client) is None
    sign_in.sign_in(client)
    assert signed_in_as(sign_in, client) == key


def test_a_second_subject_does_not_get_the_account_by_its_address(sign_in, told):
    told.add("subject-1", externalId="subject-1")
    sign_in.sign_in()
    client = Client()
    sign_in.sign_in(client, sub="subject-2", email=f"subject-1@{sign_in.domain}")
    assert signed_in_as(sign_in, client) is None


def test_an_account_that_the_directory_does_not_look_after_is_still_not_linked(sign_in, told):
    with sign_in.bank.scope():
        people.create_user(email=f"subject-1@{sign_in.domain}", password=None)
    client = Client()
    sign_in.sign_in(client)
    assert signed_in_as(sign_in, client) is None
    with sign_in.bank.scope():
        allow_link(user=sign_in.user(), provider=sign_in.provider, actor=sign_in.admin)
    sign_in.sign_in(client)
    assert signed_in_as(sign_in, client) is not None


def test_groups_that_are_pushed_count_instead_of_a_claim(sign_in, told):
    told.map("grp-tellers", sign_in.bank.group("Tellers"))
    told.map("grp-risk", sign_in.bank.group("Risk"))
    key = told.add(externalId="subject-1")
    sign_in.sign_in(groups=["grp-risk"])
    assert told.groups_of(key) == {"Risk"}  # nothing is pushed yet
    told.add_group("grp-tellers", key)
    assert told.groups_of(key) == {"Tellers"}
    sign_in.sign_in(groups=["grp-risk"])
    assert told.groups_of(key) == {"Tellers"}


def test_somebody_whom_the_directory_ended_does_not_sign_in(sign_in, told):
    key, client = told.add(externalId="subject-1"), Client()
    sign_in.sign_in()
    told.call("DELETE", f"Users/{key}")
    sign_in.sign_in(client)
    assert signed_in_as(sign_in, client) is None
