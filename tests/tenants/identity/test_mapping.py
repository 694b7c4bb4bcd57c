"""Groups of the provider become groups and roles here, at every sign-in, and only what it gave goes."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from tenants import services as people
from tenants.identity import services as identity
from tenants.identity.mapping import foresee
from tenants.identity.models import GroupRule
from tenants.models import Role, RoleAssignment
from tenants.selectors import roles_of


@pytest.fixture
def tellers(sign_in):
    return sign_in.bank.group("Tellers")


@pytest.fixture
def mapped(sign_in, tellers):
    """Tellers there are Tellers here, and risk people are reviewers."""
    with sign_in.bank.scope():
        identity.set_rules(
            provider=sign_in.provider,
            add=[
                GroupRule(value="grp-tellers", group=tellers),
                GroupRule(value="grp-risk", role=Role.REVIEWER),
            ],
            remove=[],
            actor=sign_in.admin,
        )
    return sign_in


def roles(sign_in) -> set:
    with sign_in.bank.scope():
        return set(roles_of(sign_in.user())) - {Role.EMPLOYEE}


def test_a_person_lands_in_the_groups_and_roles_that_the_rules_name(mapped):
    mapped.sign_in(groups=["grp-tellers", "grp-risk", "grp-unknown"])
    assert mapped.groups_of() == {"Tellers"}
    assert roles(mapped) == {Role.REVIEWER}


def test_who_is_removed_at_the_provider_is_removed_here_at_the_next_sign_in(mapped):
    mapped.sign_in(groups=["grp-tellers", "grp-risk"])
    mapped.sign_in(groups=["grp-other"])
    assert mapped.groups_of() == set()
    assert roles(mapped) == set()


def test_an_empty_claim_means_none_and_an_absent_one_changes_nothing(mapped):
    mapped.sign_in(groups=["grp-tellers"])
    mapped.sign_in(groups=None)
    assert mapped.groups_of() == {"Tellers"}
    mapped.sign_in(groups=[])
    assert mapped.groups_of() == set()


@pytest.mark.parametrize(
    "unclear",
    [{"groups": {"a": 1}}, {"groups": [1, 2]}, {"_claim_names": {"groups": "src1"}, "groups": []}],
)
def test_a_claim_that_is_no_list_of_names_or_is_told_elsewhere_is_unknown(mapped, unclear):
    mapped.sign_in(groups=["grp-tellers"])
    mapped.sign_in(**unclear)
    assert mapped.groups_of() == {"Tellers"}


def test_one_group_may_be_told_as_plain_words(mapped):
    mapped.sign_in(groups="grp-tellers")
    assert mapped.groups_of() == {"Tellers"}


def test_names_are_compared_exactly(mapped):
    mapped.sign_in(groups=["GRP-TELLERS", "grp-tellers "])
    assert mapped.groups_of() == set()


def test_what_was_given_by_hand_is_not_taken_away(mapped, tellers):
    mapped.sign_in(groups=[])
    vault = mapped.bank.group("Vault")
    with mapped.bank.scope():
        people.add_to_group(user=mapped.user(), group=vault)
        people.add_to_group(user=mapped.user(), group=tellers)
        people.set_roles(user=mapped.user(), roles=[(Role.AUDITOR, None)])
    mapped.sign_in(groups=["grp-tellers"])
    mapped.sign_in(groups=[])
    assert mapped.groups_of() == {"Vault", "Tellers"}
    assert roles(mapped) == {Role.AUDITOR}


def test_changing_roles_by_hand_leaves_the_provider_s_word_on_those_it_gave(mapped):
    mapped.sign_in(groups=["grp-risk"])
    with mapped.bank.scope():
        people.set_roles(user=mapped.user(), roles=[(Role.REVIEWER, None), (Role.AUDITOR, None)])
        assert RoleAssignment.objects.get(role=Role.REVIEWER).source == "identity_provider"
    mapped.sign_in(groups=[])
    assert roles(mapped) == {Role.AUDITOR}


def test_a_change_of_rules_is_foreseen_and_takes_effect_at_once(mapped):
    mapped.sign_in(sub="one", groups=["grp-tellers"])
    mapped.sign_in(sub="two", groups=["grp-risk"])
    staff = mapped.bank.group("Staff")
    with mapped.bank.scope():
        old = GroupRule.objects.get(value="grp-tellers")
        new = GroupRule(value="grp-risk", group=staff)
        kept = list(GroupRule.objects.exclude(pk=old.pk))
        foreseen = {
            difference.user.email.split("@")[0]: (difference.gains, difference.loses)
            for difference in foresee(mapped.provider, [*kept, new])
        }
        assert foreseen == {"one": ((), ("Tellers",)), "two": (("Staff",), ())}
        changed = identity.set_rules(
            provider=mapped.provider, add=[new], remove=[old], actor=mapped.admin
        )
    assert changed == 2
    assert mapped.groups_of("one") == set()
    assert mapped.groups_of("two") == {"Staff"}


def test_an_answer_ends_with_the_group_that_gave_access(mapped, tellers):
    mapped.bank.document("Cash", "The cash limit of a teller is 5,000 euro.", readers=[tellers])
    mapped.sign_in(groups=["grp-tellers"])
    question = "What is the cash limit of a teller?"
    assert mapped.bank.ask(mapped.user(), question).outcome == "answered"
    mapped.sign_in(groups=[])
    assert mapped.bank.ask(mapped.user(), question).outcome == "abstained"


def test_only_a_tenant_administrator_changes_rules(mapped):
    with mapped.bank.scope():
        for role in (Role.AUDITOR, Role.REVIEWER):
            somebody = people.create_user(
                email=f"{role}@bank.example.{mapped.domain}", password=None, roles=[(role, None)]
            )
            with pytest.raises(PermissionDenied):
                identity.set_rules(provider=mapped.provider, add=[], remove=[], actor=somebody)


@pytest.mark.parametrize(
    "rule",
    [{}, {"role": Role.DEPARTMENT_ADMIN}],
)
def test_a_rule_gives_one_thing(mapped, rule):
    with mapped.bank.scope(), pytest.raises(ValidationError):
        identity.set_rules(provider=mapped.provider, add=[GroupRule(value="x", **rule)], remove=[])
