"""One rule, three questions: they agree with one another, and with the rule written once more here."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.access import may_read, readable_documents, who_may_read
from documents.effective_access import readers_of, readings_of
from documents.models import Document, DocumentVersion, Grant, LifeCycle
from documents.selectors import list_readable_documents
from documents.standing import Standing, standing_of
from tenants.models import GroupMembership, User
from tests.bank import Bank

PEOPLE, GROUPS, DOCUMENTS = range(4), range(3), range(4)
SUBJECTS = [("user", n) for n in PEOPLE] + [("group", n) for n in GROUPS]


@dataclass(frozen=True)
class World:
    """Everything that decides who may read what, by number."""

    members: frozenset[tuple[int, int]]
    grants: frozenset[tuple[int, tuple[str, int]]]
    inactive: frozenset[int]
    life_cycles: tuple[LifeCycle, ...]
    deleted: frozenset[int]
    without_version: frozenset[int]

    def may_read(self, person: int, document: int) -> bool:
        """The rule, once more, in words that share nothing with the SQL."""
        if person in self.inactive or document in self.deleted | self.without_version:
            return False
        if self.life_cycles[document] not in ("vetted", "archived"):
            return False
        return bool(self.through(person, document))

    def through(self, person: int, document: int) -> set[tuple[str, int]]:
        own = {("user", person)} | {("group", g) for g, p in self.members if p == person}
        return {subject for d, subject in self.grants if d == document and subject in own}

    def why_not(self, person: int, document: int) -> Standing:
        if self.may_read(person, document):
            return Standing.READABLE
        if person in self.inactive:
            return Standing.INACTIVE
        if document in self.deleted:
            return Standing.DELETED
        if self.life_cycles[document] not in ("vetted", "archived"):
            return Standing.LIFE_CYCLE
        if document in self.without_version:
            return Standing.SUPERSEDED
        return Standing.NO_GRANT


def pairs_of(first, second):
    return st.frozensets(st.tuples(first, second), max_size=12)


WORLDS = st.builds(
    World,
    members=pairs_of(st.sampled_from(GROUPS), st.sampled_from(PEOPLE)),
    grants=pairs_of(st.sampled_from(DOCUMENTS), st.sampled_from(SUBJECTS)),
    inactive=st.frozensets(st.sampled_from(PEOPLE), max_size=2),
    life_cycles=st.tuples(
        *[st.sampled_from([LifeCycle.VETTED, LifeCycle.VETTED, *LifeCycle])] * len(DOCUMENTS)
    ),
    deleted=st.frozensets(st.sampled_from(DOCUMENTS), max_size=2),
    without_version=st.frozensets(st.sampled_from(DOCUMENTS), max_size=2),
)


class Stage:
    """Four people, three groups and four documents, put into any world."""

    def __init__(self):
        self.bank = Bank.create()
        stranger = Bank.create()
        stranger.document(readers=[stranger.everyone], ingest=False)
        self.people = [self.bank.person(f"person-{n}") for n in PEOPLE]
        self.groups = [self.bank.group(f"group-{n}") for n in GROUPS]
        self.documents = [self.bank.document(f"Policy {n}", ingest=False) for n in DOCUMENTS]
        with self.bank.scope():
            self.versions = [DocumentVersion.objects.get(document=d) for d in self.documents]

    def set(self, world: World) -> None:
        subjects = {"user": self.people, "group": self.groups}
        Grant.objects.filter(document__in=self.documents).delete()
        GroupMembership.objects.filter(group__in=self.groups).delete()
        for group, person in world.members:
            GroupMembership.objects.create(group=self.groups[group], user=self.people[person])
        for document, (kind, number) in world.grants:
            Grant.objects.create(
                document=self.documents[document], **{kind: subjects[kind][number]}
            )
        for number, person in enumerate(self.people):
            User.objects.filter(pk=person.pk).update(is_active=number not in world.inactive)
        for number, document in enumerate(self.documents):
            is_archived = world.life_cycles[number] == LifeCycle.ARCHIVED
            Document.objects.filter(pk=document.pk).update(
                life_cycle=world.life_cycles[number],
                withdrawn_date=timezone.localdate() if is_archived else None,
                deleted_at=timezone.now() if number in world.deleted else None,
                current_version=None if number in world.without_version else self.versions[number],
            )

    def number_of(self, document_id) -> int:
        return [document.id for document in self.documents].index(document_id)


@pytest.fixture(scope="module")
def stage(database):
    return Stage()


@settings(max_examples=60, deadline=None)
@given(world=WORLDS)
def test_the_three_questions_agree_whatever_the_grants_groups_people_and_life_cycles(stage, world):
    with stage.bank.scope():
        stage.set(world)
        for p, person in enumerate(stage.people):
            readable = set(readable_documents(user=person).values_list("id", flat=True))
            assert readable == {d.id for d in list_readable_documents(user=person)}
            readings = {
                r.document.id: r.through
                for r in readings_of(person=person, among=Document.objects.all())
            }
            assert set(readings) == readable
            for d, document in enumerate(stage.documents):
                expected = world.may_read(p, d)
                assert may_read(user=person, document_id=document.id) is expected
                assert (document.id in readable) is expected
                assert (person in who_may_read(document=document)) is expected
                if expected:
                    assert set(readings[document.id]) == {
                        "personally" if kind == "user" else f"group-{n}"
                        for kind, n in world.through(p, d)
                    }
        for d, document in enumerate(stage.documents):
            readers = {reader.person: reader.through for reader in readers_of(document=document)}
            assert set(readers) == {stage.people[p] for p in PEOPLE if world.may_read(p, d)}


@settings(max_examples=30, deadline=None)
@given(world=WORLDS)
def test_why_something_cannot_be_read_agrees_with_the_rule(stage, world):
    versions = [(v.document_id, v.id) for v in stage.versions]
    with stage.bank.scope():
        stage.set(world)
        for p, person in enumerate(stage.people):
            standing = standing_of(reader=person.id, versions=versions)
            assert {stage.number_of(document): why for (document, _), why in standing.items()} == {
                d: world.why_not(p, d) for d in DOCUMENTS
            }
        nothing = (uuid.uuid4(), uuid.uuid4())
        standing = standing_of(reader=stage.people[0].id, versions=[nothing])
        assert standing[nothing] in (Standing.DELETED, Standing.INACTIVE)
