"""A change of rights or of a required version makes exactly the cases that rest on it ask for review."""

import pytest
from django.utils import timezone

from documents import services as documents
from documents.models import Grant, LifeCycle
from evaluation.cases import confirm_case, create_case
from evaluation.models import CaseState, EvalCase
from evaluation.runs import run_evaluation
from tenants import services as people
from tenants.models import Group, GroupMembership, Role, RoleAssignment


class World:
    """Emma and Joris, two documents, and a case of each about each, and one that expects a refusal."""

    def __init__(self, bank):
        self.bank = bank
        self.emma, self.joris = bank.person("emma"), bank.person("joris")
        self.tellers = bank.group("Tellers", self.emma)
        self.others = bank.group("Others", self.joris)
        self.leave = bank.document("Leave", readers=[self.tellers, self.joris])
        self.cash = bank.document("Cash", "The cash limit is 5,000 euro.", readers=[self.tellers])
        self.secret = bank.document("Vault", "The code is 7391.", readers=[])
        with bank.scope():
            for person in (self.emma, self.joris):
                name = person.name.lower()
                for document in (self.leave, self.cash):
                    self._case(f"{name}-{document.title.lower()}", person, [document.pk])
                self._case(f"{name}-refused", person, [], outcome="abstained")

    def _case(self, key, person, required, outcome="answered"):
        create_case(
            key=key,
            question="How many days?",
            as_user=person,
            expected_outcome=outcome,
            kind="fact",
            required_documents=required,
            state=CaseState.ACTIVE,
        )

    def asking(self) -> dict[str, str]:
        """{case: why} of those that ask for review, which then hold again."""
        with self.bank.scope():
            rows = EvalCase.objects.filter(state=CaseState.NEEDS_REVIEW)
            found = {row.key: row.review_why for row in rows}
            for row in rows:
                assert confirm_case(case=row)
        return found


ALL_OF_EMMA = {"emma-leave", "emma-cash", "emma-refused"}


@pytest.fixture
def world(bank):
    return World(bank)


def why(asking: dict[str, str]) -> set[str]:
    return set(asking.values())


def test_joining_and_leaving_a_group_concerns_all_cases_of_that_person(world):
    with world.bank.scope():
        people.add_to_group(user=world.emma, group=world.others)
    asking = world.asking()
    assert (set(asking), why(asking)) == (ALL_OF_EMMA, {"group_joined"})
    with world.bank.scope():
        people.remove_from_group(user=world.emma, group=world.others)
    asking = world.asking()
    assert (set(asking), why(asking)) == (ALL_OF_EMMA, {"group_left"})


def test_a_deleted_group_concerns_its_members(world):
    with world.bank.scope():
        people.delete_group(group=world.others)
    assert set(world.asking()) == {"joris-leave", "joris-cash", "joris-refused"}


def test_a_role_concerns_all_cases_of_that_person(world):
    with world.bank.scope():
        people.set_roles(user=world.emma, roles=[(Role.REVIEWER, None)])
    asking = world.asking()
    assert (set(asking), why(asking)) == (ALL_OF_EMMA, {"role_given"})
    with world.bank.scope():
        people.set_roles(user=world.emma, roles=[])
    assert why(world.asking()) == {"role_taken"}


def test_a_grant_concerns_who_is_let_in_and_what_they_are_asked_about(world):
    with world.bank.scope():
        documents.grant_access(actor=None, document=world.cash, subject=world.joris)
    # Joris's case about that document, and that which expects a refusal; not the one about leave.
    assert world.asking() == {"joris-cash": "grant_given", "joris-refused": "grant_given"}
    with world.bank.scope():
        documents.revoke_access(actor=None, document=world.cash, subject=world.joris)
    assert world.asking() == {"joris-cash": "grant_taken", "joris-refused": "grant_taken"}


def test_a_grant_to_a_group_concerns_its_members_only(world):
    with world.bank.scope():
        documents.grant_access(actor=None, document=world.leave, subject=world.others)
    assert set(world.asking()) == {"joris-leave", "joris-refused"}


def test_a_document_that_everyone_may_read_undoes_no_refusal(world):
    with world.bank.scope():
        documents.grant_access(actor=None, document=world.secret, subject=world.bank.everyone)
    assert world.asking() == {}


def test_a_new_version_concerns_the_cases_that_require_the_document(world):
    world.bank.new_version(world.leave, "Annual leave allowance is 30 days.")
    asking = world.asking()
    assert (set(asking), why(asking)) == ({"emma-leave", "joris-leave"}, {"new_version"})


def test_a_version_that_is_only_on_its_way_concerns_nobody_yet(world):
    world.bank.new_version(world.leave, "Annual leave allowance is 30 days.", ingest=False)
    assert world.asking() == {}


def test_a_case_made_while_a_version_is_on_its_way_is_bound_to_that(world):
    version = world.bank.new_version(world.leave, "Leave is 30 days.", ingest=False)
    with world.bank.scope():
        world._case("late", world.emma, [world.leave.pk])
        world.bank.ingest(version)
    assert set(world.asking()) == {"emma-leave", "joris-leave"}


def test_a_document_that_is_withdrawn_or_deleted_concerns_its_cases(world):
    with world.bank.scope():
        documents.set_life_cycle(actor=None, document=world.cash, life_cycle=LifeCycle.DRAFT)
    assert set(world.asking()) >= {"emma-cash", "joris-cash"}
    with world.bank.scope():
        documents.delete_document(actor=None, document=world.leave)
    assert set(world.asking()) >= {"emma-leave", "joris-leave"}


def test_a_deactivated_person_s_cases_ask_for_review(world):
    with world.bank.scope():
        people.set_user_active(user=world.emma, active=False)
    asking = world.asking()
    assert (set(asking), why(asking)) == (ALL_OF_EMMA, {"person_switched"})


def test_raw_sql_is_noticed_as_well(world, raw_sql):
    with world.bank.scope():
        membership = GroupMembership.objects.get(user=world.emma, group=world.tellers)
        grant = Grant.objects.get(document=world.leave, user=world.joris)
        role = RoleAssignment.objects.create(user=world.joris, role=Role.AUDITOR)
    world.asking()
    raw_sql.execute("DELETE FROM tenants_groupmembership WHERE id = %s", [membership.pk])
    assert set(world.asking()) == ALL_OF_EMMA
    raw_sql.execute("DELETE FROM documents_grant WHERE id = %s", [grant.pk])
    assert set(world.asking()) == {"joris-leave", "joris-refused"}
    version = world.bank.new_version(world.cash, "The limit is 6,000 euro.", ingest=False)
    raw_sql.execute(
        "UPDATE documents_document SET current_version_id = %s WHERE id = %s",
        [version.pk, world.cash.pk],
    )
    assert set(world.asking()) == {"emma-cash", "joris-cash"}
    raw_sql.execute("DELETE FROM tenants_roleassignment WHERE id = %s", [role.pk])
    assert set(world.asking()) == {"joris-leave", "joris-cash", "joris-refused"}
    raw_sql.execute(
        "UPDATE tenants_groupmembership SET group_id = %s WHERE user_id = %s AND group_id = %s",
        [world.tellers.pk, world.joris.pk, world.others.pk],
    )
    assert set(world.asking()) == {"joris-leave", "joris-cash", "joris-refused"}


def test_another_tenant_s_changes_concern_nobody_here(world, other_bank):
    stranger = other_bank.person("stranger")
    other_bank.group("Tellers", stranger)
    other_bank.document("Leave", readers=[stranger])
    assert world.asking() == {}


def test_drafts_ask_for_nothing(world):
    with world.bank.scope():
        EvalCase.objects.filter(as_user=world.emma).update(state=CaseState.DRAFT)
        people.remove_from_group(user=world.emma, group=Group.objects.get(pk=world.tellers.pk))
    assert world.asking() == {}


def test_what_asks_for_review_is_not_run_until_it_is_confirmed(world):
    with world.bank.scope():
        people.add_to_group(user=world.emma, group=world.others)
        run = run_evaluation()
        assert (run.measures["cases"], run.not_run) == (3, 3)
        case = EvalCase.objects.get(key="emma-leave")
        assert confirm_case(case=case)
        case.refresh_from_db()
        world.emma.refresh_from_db()
        assert case.bound_access_revision == world.emma.access_revision
        assert run_evaluation().measures["cases"] == 4
    assert timezone.now() > case.changed_at
