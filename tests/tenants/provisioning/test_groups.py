"""What a directory says of groups changes at once what people may read, by the provider's rules alone."""

import pytest

from tenants.identity.mapping import foresee
from tenants.identity.models import GroupRule
from tenants.models import Role, RoleAssignment
from tenants.selectors import roles_of

QUESTION = "What is the cash limit of a teller?"


@pytest.fixture
def tellers(directory):
    """Tellers there are Tellers here, who may read about cash."""
    group = directory.bank.group("Tellers")
    directory.bank.document("Cash", "The cash limit of a teller is 5,000 euro.", readers=[group])
    directory.map("grp-tellers", group)
    return group


def outcome(directory, key: str) -> str:
    return directory.bank.ask(directory.user(key), QUESTION).outcome


def test_joining_and_leaving_a_group_there_changes_what_is_read_here_now(directory, tellers):
    key = directory.add()
    assert outcome(directory, key) == "abstained"
    group = directory.add_group("grp-tellers", key)
    assert directory.groups_of(key) == {"Tellers"}
    assert outcome(directory, key) == "answered"
    directory.patch(f"Groups/{group}", {"op": "remove", "path": f'members[value eq "{key}"]'})
    assert directory.groups_of(key) == set()
    assert outcome(directory, key) == "abstained"


def test_who_is_left_out_of_a_replacement_is_out(directory, tellers):
    one, two = directory.add("one"), directory.add("two")
    group = directory.add_group("grp-tellers", one)
    body = {"displayName": "grp-tellers", "members": [{"value": two}]}
    answer = directory.call("PUT", f"Groups/{group}", body)
    assert [member["value"] for member in answer.json()["members"]] == [two]
    assert (directory.groups_of(one), directory.groups_of(two)) == (set(), {"Tellers"})


def test_a_group_that_is_deleted_or_renamed_gives_nothing_any_more(directory, tellers):
    key = directory.add()
    group = directory.add_group("grp-tellers", key)
    directory.patch(f"Groups/{group}", {"op": "replace", "path": "displayName", "value": "other"})
    assert directory.groups_of(key) == set()
    directory.patch(
        f"Groups/{group}", {"op": "replace", "path": "displayName", "value": "grp-tellers"}
    )
    assert directory.groups_of(key) == {"Tellers"}
    assert directory.call("DELETE", f"Groups/{group}").status_code == 204
    assert directory.groups_of(key) == set()
    assert directory.get(f"Groups/{group}").status_code == 404


def test_a_rule_may_name_the_external_id_of_a_group(directory):
    directory.map("0b1c-object-id", directory.bank.group("Vault"))
    key = directory.add()
    directory.add_group("Anything", key, externalId="0b1c-object-id")
    assert directory.groups_of(key) == {"Vault"}


def test_a_group_without_a_rule_gives_nothing_even_under_the_name_of_one_here(directory):
    directory.bank.group("Vault")
    key = directory.add()
    directory.add_group("Vault", key)
    directory.add_group("tenant_admin", key)
    assert directory.groups_of(key) == set()
    with directory.bank.scope():
        assert roles_of(directory.user(key)) == {Role.EMPLOYEE}


def test_roles_come_and_go_as_the_rules_say_and_those_given_by_hand_stay(directory):
    directory.map("grp-risk", role=Role.REVIEWER)
    key = directory.add()
    with directory.bank.scope():
        RoleAssignment.objects.create(user=directory.user(key), role=Role.AUDITOR)
    group = directory.add_group("grp-risk", key)
    with directory.bank.scope():
        assert roles_of(directory.user(key)) >= {Role.REVIEWER, Role.AUDITOR}
    directory.call("PUT", f"Groups/{group}", {"displayName": "grp-risk"})
    with directory.bank.scope():
        assert roles_of(directory.user(key)) == {Role.EMPLOYEE, Role.AUDITOR}


def test_somebody_removed_loses_what_the_directory_gave(directory, tellers):
    key = directory.add()
    group = directory.add_group("grp-tellers", key)
    directory.call("DELETE", f"Users/{key}")
    assert directory.groups_of(key) == set()
    assert "members" not in directory.get(f"Groups/{group}").json()
    directory.add()
    assert directory.groups_of(key) == set()


def test_a_new_rule_is_foreseen_and_holds_for_everybody_the_directory_told_of(directory):
    key = directory.add()
    directory.add_group("grp-risk", key)
    rule = GroupRule(value="grp-risk", group=directory.bank.group("Risk"))
    with directory.bank.scope():
        foreseen = foresee(directory.provider, [rule])
    assert [(str(one.user.pk), one.gains) for one in foreseen] == [(key, ("Risk",))]
    directory.map("grp-risk", rule.group)
    assert directory.groups_of(key) == {"Risk"}


def test_members_are_users_that_were_provisioned_here(directory):
    strangers = [str(directory.admin.pk), "nobody"]
    answers = [
        directory.call("POST", "Groups", {"displayName": "x", "members": [{"value": one}]})
        for one in strangers
    ]
    assert [one.status_code for one in answers] == [400, 400]
    assert answers[0].content == answers[1].content


def test_two_groups_of_one_name_are_a_conflict(directory):
    directory.add_group("Tellers")
    answer = directory.call("POST", "Groups", {"displayName": "tellers"})
    assert (answer.status_code, answer.json()["scimType"]) == (409, "uniqueness")


def test_every_write_leaves_an_audit_record_of_the_token_it_came_by(directory):
    from audit.models import AuditRecord

    key = directory.add()
    group = directory.add_group("Tellers", key)
    directory.call("PUT", f"Users/{key}", directory.person(displayName="Emma M"))
    directory.call("PUT", f"Groups/{group}", {"displayName": "Tellers"})
    directory.call("DELETE", f"Groups/{group}")
    directory.call("DELETE", f"Users/{key}")
    with directory.bank.scope():
        rows = AuditRecord.objects.filter(action__startswith="provisioning.").order_by("seq")
        told = [(row.action, row.object_ids.get("token")) for row in rows]
    actions = ["token_issued"] + [
        f"{kind}_{what}"
        for kind, what in (
            ("account", "added"),
            ("group", "added"),
            ("account", "changed"),
            ("group", "changed"),
            ("group", "removed"),
            ("account", "removed"),
        )
    ]
    assert told == [(f"provisioning.{action}", str(directory.row.pk)) for action in actions]
