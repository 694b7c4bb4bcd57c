"""What Okta and Entra send, in the shapes they send it."""

import pytest

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


def active(directory, key: str) -> bool:
    return directory.user(key).is_active


def members(directory, group: str) -> set[str]:
    said = directory.get(f"Groups/{group}").json()
    return {member["value"] for member in said.get("members", [])}


# --- Okta ----------------------------------------------------------------------------------------


def test_okta_replaces_with_a_value_and_no_path(directory):
    key = directory.add()
    answer = directory.patch(f"Users/{key}", {"op": "replace", "value": {"active": False}})
    assert answer.status_code == 200
    assert answer.json()["active"] is False
    assert not active(directory, key)
    directory.patch(f"Users/{key}", {"op": "replace", "value": {"active": True}})
    assert active(directory, key)


def test_okta_renames_a_group_with_its_id_in_the_value(directory):
    group = directory.add_group("Tellers")
    value = {"id": group, "displayName": "Cashiers"}
    directory.patch(f"Groups/{group}", {"op": "replace", "value": value})
    assert directory.get(f"Groups/{group}").json()["displayName"] == "Cashiers"


def test_okta_adds_and_removes_members_in_one_request(directory):
    one, two, three = (directory.add(name) for name in ("one", "two", "three"))
    group = directory.add_group("Tellers", one)
    directory.patch(
        f"Groups/{group}",
        {"op": "remove", "path": f'members[value eq "{one}"]'},
        {"op": "add", "path": "members", "value": [{"value": two, "display": "two"}]},
    )
    assert members(directory, group) == {two}
    value = [{"value": one}, {"value": three}]
    directory.patch(f"Groups/{group}", {"op": "replace", "path": "members", "value": value})
    assert members(directory, group) == {one, three}


def test_okta_sends_a_password_and_an_empty_list_of_groups_which_are_not_kept(directory):
    key = directory.add(
        password="correct horse battery", locale="en-US", groups=[], emails=[], externalId="00u1"
    )
    assert not directory.user(key).has_usable_password()
    assert "password" not in directory.get(f"Users/{key}").json()


def test_okta_asks_for_pages(directory):
    keys = [directory.add(f"user{number}") for number in range(3)]
    page = directory.get("Users", startIndex="2", count="1").json()
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert [one["id"] for one in page["Resources"]] == keys[1:2]


# --- Entra ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["False", "false", False])
@pytest.mark.parametrize("op", ["Replace", "replace", "Add"])
def test_entra_writes_operations_in_capitals_and_booleans_as_words(directory, op, word):
    key = directory.add()
    directory.patch(f"Users/{key}", {"op": op, "path": "active", "value": word})
    assert not active(directory, key)


def test_entra_replaces_with_paths_as_keys_of_the_value(directory):
    key = directory.add()
    value = {"name.givenName": "Em", "displayName": "Em Claes", "active": "False"}
    directory.patch(f"Users/{key}", {"op": "Replace", "value": value})
    said = directory.get(f"Users/{key}").json()
    assert (said["name"]["givenName"], said["active"]) == ("Em", False)
    assert directory.user(key).name == "Em Claes"


def test_entra_writes_to_an_address_that_is_not_there_yet(directory):
    key = directory.add()
    address = f"emma.claes@{directory.domain}"
    path = 'emails[type eq "work"].value'
    directory.patch(f"Users/{key}", {"op": "Add", "path": path, "value": address})
    assert directory.user(key).email == address


def test_entra_sends_attributes_that_are_not_kept_among_those_that_are(directory):
    key = directory.add(
        schemas=["urn:ietf:params:scim:schemas:core:2.0:User", ENTERPRISE],
        title="Teller",
        **{ENTERPRISE: {"department": "Cash"}},
    )
    directory.patch(
        f"Users/{key}",
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Vault"},
        {"op": "Add", "path": 'phoneNumbers[type eq "work"].value', "value": "+32 2 000"},
        {"op": "Replace", "path": "displayName", "value": "Emma M"},
    )
    assert directory.user(key).name == "Emma M"
    assert "Vault" not in directory.get(f"Users/{key}").content.decode()


def test_a_patch_of_nothing_that_is_kept_changes_nothing(directory):
    key = directory.add()
    before = directory.get(f"Users/{key}").json()
    directory.patch(f"Users/{key}", {"op": "Replace", "path": "title", "value": "Teller"})
    assert directory.get(f"Users/{key}").json() == before


@pytest.mark.parametrize("op", ["Remove", "remove"])
def test_entra_removes_members_by_filter_or_by_value(directory, op):
    one, two = directory.add("one"), directory.add("two")
    group = directory.add_group("Tellers")
    value = [{"value": one}, {"value": two}]
    directory.patch(f"Groups/{group}", {"op": "Add", "path": "members", "value": value})
    assert members(directory, group) == {one, two}
    directory.patch(f"Groups/{group}", {"op": op, "path": f'members[value eq "{one}"]'})
    assert members(directory, group) == {two}
    directory.patch(f"Groups/{group}", {"op": op, "path": "members", "value": [{"value": two}]})
    assert members(directory, group) == set()


def test_entra_looks_for_people_and_groups(directory):
    key = directory.add(externalId="ext-1")
    group = directory.add_group("Tellers", key, externalId="obj-1")
    directory.add("frank", externalId="ext-2")
    directory.add_group("Vault")
    for path, wanted, found in (
        ("Users", f'userName eq "EMMA@{directory.domain}"', [key]),
        ("Users", 'externalId eq "ext-1"', [key]),
        ("Users", 'externalId eq "EXT-1"', []),
        ("Users", 'displayName eq "Emma Claes" and externalId eq "ext-1"', [key]),
        ("Users", f'emails[type eq "work"].value eq "emma@{directory.domain}"', []),
        ("Users", 'userName eq "nobody"', []),
        ("Groups", 'displayName eq "Tellers"', [group]),
        ("Groups", 'externalId eq "obj-1"', [group]),
        ("Groups", f'members[value eq "{key}"]', [group]),
        ("Groups", f'id eq "{group}" and members eq "{key}"', [group]),
    ):
        assert directory.found(path, wanted) == found, wanted
    answer = directory.get(
        "Groups", filter='displayName eq "Tellers"', excludedAttributes="members"
    )
    assert "members" not in answer.json()["Resources"][0]


@pytest.mark.parametrize("wanted", ["userName", 'userName eq "', "nonsense ~ 1", 'a eq "\x00"'])
def test_a_filter_that_cannot_be_read_is_said_to_be_so(directory, wanted):
    answer = directory.get("Users", filter=wanted)
    assert answer.status_code == 400
    assert answer.json()["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
