"""A directory makes, changes and ends accounts; what it ends is ended at once."""

import json
import uuid

import pytest
from django.test import Client

from tenants import services as people
from tenants.identity.models import ExternalIdentity
from tenants.identity.services import allow_link
from tests.signed_in import signed_in


def test_a_new_user_gets_an_account_without_a_password(directory):
    answer = directory.call("POST", "Users", directory.person(externalId="okta-1", active=True))
    assert answer.status_code == 201, answer.content
    assert answer["Content-Type"] == "application/scim+json"
    said = answer.json()
    assert answer["Location"] == said["meta"]["location"]
    assert said["meta"]["location"].endswith(f"/scim/v2/Users/{said['id']}")
    user = directory.user(said["id"])
    assert (user.email, user.name, user.is_active) == (said["userName"], "Emma Claes", True)
    assert not user.has_usable_password()
    assert directory.get(f"Users/{said['id']}").json()["externalId"] == "okta-1"
    assert {"user.created", "provisioning.account_added"} <= set(directory.audit())


def test_the_primary_address_is_the_account_s(directory):
    key = directory.add(
        userName="eclaes",
        emails=[
            {"value": f"other@{directory.domain}"},
            {"value": f"Emma@{directory.domain}", "primary": True},
        ],
    )
    assert directory.user(key).email == f"emma@{directory.domain}"


@pytest.mark.parametrize("address", ["emma@elsewhere.example", "emma"])
def test_an_address_of_no_proven_domain_gets_no_account(directory, address):
    answer = directory.call("POST", "Users", directory.person(userName=address))
    assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidValue")


def test_an_account_that_is_there_is_not_taken_over_by_its_address(directory):
    with directory.bank.scope():
        user = people.create_user(email=f"emma@{directory.domain}", password=None)
    answer = directory.call("POST", "Users", directory.person(externalId="okta-1"))
    assert (answer.status_code, answer.json()["scimType"]) == (409, "uniqueness")
    assert directory.get(f"Users/{user.pk}").status_code == 404
    assert directory.found("Users", f'userName eq "emma@{directory.domain}"') == []


def test_an_administrator_s_permission_to_link_is_used_once(directory):
    with directory.bank.scope():
        user = people.create_user(email=f"emma@{directory.domain}", password=None)
        allow_link(user=user, provider=directory.provider, actor=directory.admin)
    assert directory.add() == str(user.pk)


def test_the_account_of_the_provider_s_subject_is_found_whatever_its_address(directory):
    with directory.bank.scope():
        user = people.create_user(email="emma@old.example." + directory.domain, password=None)
        ExternalIdentity.objects.create(provider=directory.provider, subject="okta-1", user=user)
    assert directory.add(externalId="okta-1") == str(user.pk)
    assert directory.user(str(user.pk)).email == f"emma@{directory.domain}"


def test_the_same_person_twice_is_a_conflict(directory):
    directory.add(externalId="okta-1")
    for again in ({"externalId": "okta-2"}, {"userName": f"e2@{directory.domain}"}):
        body = directory.person(externalId="okta-1") | again
        assert directory.call("POST", "Users", body).status_code == 409


def test_a_replacement_changes_name_and_address(directory):
    key = directory.add()
    body = directory.person("emma.maes", displayName="Emma Maes", id=key)
    assert directory.call("PUT", f"Users/{key}", body).status_code == 200
    user = directory.user(key)
    assert (user.email, user.name) == (f"emma.maes@{directory.domain}", "Emma Maes")


@pytest.mark.parametrize("how", ["active", "delete", "replace"])
def test_the_open_session_and_the_tokens_of_somebody_who_left_are_dead_at_the_next_request(
    directory, how
):
    key = directory.add()
    user = directory.user(key)
    browser = signed_in(directory.bank, user)
    with directory.bank.scope():
        _, token = people.issue_token(user=user)
    program = Client(headers={"authorization": f"Bearer {token}"})
    assert browser.get("/").status_code == 200
    assert program.get("/v1/documents").status_code == 200
    if how == "delete":
        assert directory.call("DELETE", f"Users/{key}").status_code == 204
    elif how == "replace":
        directory.call("PUT", f"Users/{key}", directory.person(active=False))
    else:
        directory.patch(f"Users/{key}", {"op": "replace", "path": "active", "value": False})
    assert browser.get("/").status_code == 302
    assert program.get("/v1/documents").status_code == 401
    # And they stay dead when the person comes back.
    if how == "delete":
        assert directory.add() == key
    else:
        directory.patch(f"Users/{key}", {"op": "replace", "path": "active", "value": True})
    assert directory.user(key).is_active
    assert browser.get("/").status_code == 302
    assert program.get("/v1/documents").status_code == 401


def test_a_deleted_user_is_gone_for_the_directory_and_kept_here(directory):
    key = directory.add(externalId="okta-1")
    assert directory.call("DELETE", f"Users/{key}").status_code == 204
    assert directory.get(f"Users/{key}").status_code == 404
    assert directory.call("DELETE", f"Users/{key}").status_code == 404
    assert not directory.user(key).is_active
    assert directory.add(externalId="okta-1") == key
    assert directory.user(key).is_active


def test_a_successor_does_not_inherit_the_account_of_a_removed_user_of_the_same_name(directory):
    key = directory.add(externalId="okta-1")
    directory.call("DELETE", f"Users/{key}")
    answer = directory.call("POST", "Users", directory.person(externalId="okta-2"))
    assert answer.status_code == 409
    assert not directory.user(key).is_active


def test_a_directory_does_not_open_what_an_administrator_closed(directory):
    key = directory.add()
    with directory.bank.scope():
        people.set_user_active(user=directory.user(key), active=False, actor=directory.admin)
    directory.call("PUT", f"Users/{key}", directory.person(active=True, displayName="Emma M"))
    assert not directory.user(key).is_active
    directory.call("DELETE", f"Users/{key}")
    directory.add()
    assert not directory.user(key).is_active


def test_a_directory_ends_what_an_administrator_opened_again(directory):
    key = directory.add()
    directory.patch(f"Users/{key}", {"op": "replace", "path": "active", "value": False})
    with directory.bank.scope():
        people.set_user_active(user=directory.user(key), active=True, actor=directory.admin)
    directory.call("DELETE", f"Users/{key}")
    assert not directory.user(key).is_active


@pytest.mark.parametrize("authorization", ["", "Bearer ", "Bearer wrong", "Basic x"])
def test_without_a_token_that_works_there_is_nothing(directory, authorization):
    key = directory.add()
    for path in (f"Users/{key}", "Users", "ServiceProviderConfig", ""):
        answer = Client().get(f"/scim/v2/{path}", headers={"authorization": authorization})
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert answer.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
        assert key not in answer.content.decode()


def test_a_session_and_an_api_token_open_nothing(directory):
    with directory.bank.scope():
        _, token = people.issue_token(user=directory.admin)
    assert signed_in(directory.bank, directory.admin).get("/scim/v2/Users").status_code == 401
    program = Client(headers={"authorization": f"Bearer {token}"})
    assert program.get("/scim/v2/Users").status_code == 401


def test_nothing_of_one_tenant_is_seen_or_changed_with_the_token_of_another(
    directory, other_directory
):
    key, theirs = directory.add(externalId="okta-1"), other_directory
    group = directory.add_group("Tellers", key)
    assert theirs.get("Users").json()["totalResults"] == 0
    assert theirs.found("Users", f'userName eq "emma@{directory.domain}"') == []
    assert theirs.found("Users", 'externalId eq "okta-1"') == []
    operation = {"op": "replace", "path": "displayName", "value": "x"}
    patch = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": [operation],
    }
    for kind, one, body in (
        ("Users", key, theirs.person()),
        ("Groups", group, {"displayName": "x"}),
    ):
        for method, sent in (("GET", None), ("PUT", body), ("PATCH", patch), ("DELETE", None)):
            nobody = str(uuid.uuid4())
            foreign = theirs.call(method, f"{kind}/{one}", sent)
            missing = theirs.call(method, f"{kind}/{nobody}", sent)
            assert foreign.status_code == missing.status_code == 404
            assert foreign.content.decode().replace(one, nobody) == missing.content.decode()
    member = {"displayName": "x", "members": [{"value": key}]}
    assert theirs.call("POST", "Groups", member).status_code == 400
    assert directory.user(key).name == "Emma Claes"
    assert directory.get(f"Groups/{group}").json()["displayName"] == "Tellers"


def test_an_address_of_another_tenant_is_refused_in_the_words_of_one_of_this_tenant(
    directory, other_directory
):
    here, there = f"emma@{directory.domain}", f"frank@{directory.domain}"
    with directory.bank.scope():
        people.create_user(email=here, password=None)
    with other_directory.bank.scope():
        people.create_user(email=there, password=None)
    answers = [
        directory.call("POST", "Users", directory.person(userName=one)) for one in (here, there)
    ]
    assert [one.status_code for one in answers] == [409, 409]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400),
        ("[]", 400),
        ("{", 400),
        ('{"schemas": []}', 400),
        ('{"userName": "a\\u0000b"}', 400),
        (json.dumps({"userName": "x" * 300 + "@bank.example"}), 400),
    ],
)
def test_what_cannot_be_read_is_a_scim_error(directory, body, status):
    key = directory.add("frank")
    for method, path in (("POST", "Users"), ("PUT", f"Users/{key}"), ("PATCH", f"Users/{key}")):
        answer = Client().generic(
            method,
            f"/scim/v2/{path}",
            body,
            content_type="application/scim+json",
            headers={"authorization": f"Bearer {directory.token}"},
        )
        assert answer.status_code == status, (method, answer.content)
        assert answer.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
