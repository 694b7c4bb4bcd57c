"""The authority against its model: every short history, and long random ones.

PRECEPT_MODEL_DEPTH (2) is how many changes a history may hold: 519 histories; with 3, 7,379.
"""

import gc
import itertools
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from django.db import connections
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from answers.models import Answer
from benchmarks import generated_bank
from documents.models import Document
from tenants.models import Group, User
from tests.bank import Bank

from .authority_driver import Driver, OtherConnection
from .authority_model import Authority, Permit
from .authority_model import Document as ModelDocument
from .authority_model import Person as ModelPerson

DEPTH = int(os.environ.get("PRECEPT_MODEL_DEPTH", "2"))
STEPS = ("admit to rerank", "admit to generate", "release")
CHANGES = (
    "revoke",
    "remove from group",
    "deactivate",
    "delete",
    "publish",
    "change life-cycle",
    "regrant",
)
NEXT_LIFE_CYCLE = {"vetted": "draft", "draft": "archived", "archived": "vetted"}

History = tuple[str, ...]


def histories(depth: int) -> Iterator[History]:
    """All ways to put up to `depth` changes, repeated ones too, between and around the steps."""
    for count in range(depth + 1):
        for changes in itertools.product(CHANGES, repeat=count):
            for places in itertools.combinations(range(count + len(STEPS)), len(STEPS)):
                steps, rest = iter(STEPS), iter(changes)
                yield tuple(
                    next(steps) if place in places else next(rest)
                    for place in range(count + len(STEPS))
                )


@dataclass(frozen=True, slots=True)
class Cast:
    """Who and what one history is about: a document that changes, and one that all share."""

    person: User
    group: Group
    document: Document
    answer: Answer


def test_every_interleaving_of_decisions_and_changes_agrees_with_the_model(bank, raw_sql, capsys):
    """One reader through one group, two documents, decisions and changes on two connections."""
    todo, began = list(histories(DEPTH)), time.monotonic()
    with bank.scope():
        shared, casts, versions = _prepare(len(todo), raw_sql)
    plays = list(zip(todo, casts, strict=True))
    connections.close_all()  # nothing may be shared with the processes
    gc.collect()  # nor be ended in them: what earlier tests left would write into their connections
    with multiprocessing.get_context("fork").Pool(2) as halves:
        played = halves.starmap(
            _play_all, [(bank, plays[first::2], shared, versions) for first in (0, 1)]
        )
    disagreements = [one for half in played for one in half]
    with capsys.disabled():
        spent = time.monotonic() - began
        sys.stdout.write(f" [{len(todo)} interleavings, up to {DEPTH} changes, {spent:.0f} s]")
    assert disagreements == []


def _prepare(count: int, raw_sql) -> tuple[Document, list[Cast], dict]:
    """In parts, with statistics: else every statement is planned as for empty tables."""
    shared = generated_bank.make_documents(1)[0]
    generated_bank.make_grants([(shared, Group.objects.get(built_in=True))])
    casts: list[Cast] = []
    while len(casts) < count:
        part = min(generated_bank.BATCH, count - len(casts))
        persons = generated_bank.make_people(part)
        groups = generated_bank.make_groups([[person] for person in persons])
        documents = generated_bank.make_documents(part, versions=2)
        generated_bank.make_grants(list(zip(documents, groups, strict=True)))
        answers = generated_bank.make_answers(persons)
        casts += [Cast(*row) for row in zip(persons, groups, documents, answers, strict=True)]
        if len(casts) in (part, count):
            raw_sql.execute("ANALYZE")
    return shared, casts, generated_bank.versions_of([*(c.document for c in casts), shared])


_NOT_OURS: list[object] = []


def _play_all(bank: Bank, plays, shared: Document, versions: dict) -> list[str]:
    """Disagreements, each with its history."""
    # With a browser's event loop in this process, closing before the fork may miss the connection.
    # Two processes on one would end each other's transactions: it is neither used nor closed here.
    for inherited in connections.all(initialized_only=True):
        _NOT_OURS.append(inherited.connection)
        inherited.connection = None
    other, disagreements = OtherConnection(bank.tenant.id), []
    try:
        with bank.scope():
            for history, cast in plays:
                said, predicted = _play(history, cast, shared, Driver(other, versions))
                if said != predicted:
                    disagreements.append(f"{history}: model {predicted}, product {said}")
    finally:
        other.close()
        connections.close_all()
    return disagreements


def _play(history: History, cast: Cast, shared: Document, driver: Driver) -> tuple[list, list]:
    """What product and model said at each decision, and at reading the answer again at the end."""
    person, group, document = cast.person.id, cast.group.id, cast.document.id
    model = Authority()
    # 'everyone' and the group raised the revision once each, the grant that of the document.
    model.people[person] = ModelPerson(groups={group, "everyone"}, revision=3)
    model.documents[document] = ModelDocument(readers={group}, revision=2)
    model.documents[shared.id] = ModelDocument(readers={"everyone"}, revision=2)
    said, predicted, permits = [], [], []
    sources = [(document, 1), (document, 2), (shared.id, 1)]
    for step in (*history, "read again"):
        if step == "admit to rerank":
            said.append(driver.admit(cast.answer, "rerank", sources))
            predicted.append(model.admit(person, cast.answer.id, "rerank", sources))
            permits.append((said[-1], predicted[-1]))
        elif step == "admit to generate":
            wanted = permits[-1][0].sources
            said.append(driver.admit(cast.answer, "generate", wanted, all_or_nothing=True))
            predicted.append(
                model.admit(person, cast.answer.id, "generate", wanted, all_or_nothing=True)
            )
            if isinstance(said[-1], Permit):
                permits.append((said[-1], predicted[-1]))
        elif step == "release":
            # After a refused admission only the first permit is there, and must not do.
            shown, foreseen = permits[-1]
            said.append(driver.release(cast.answer, shown))
            predicted.append(model.release(cast.answer.id, foreseen))
            permits.append((said[-1], predicted[-1]))
        elif step == "read again":
            shown, foreseen = permits[-1]
            if isinstance(shown, Permit) and isinstance(foreseen, Permit):
                said.append(driver.may_read_again(shown))
                predicted.append(model.may_read_again(foreseen))
        else:
            _change(step, cast, driver, model)
        if said != predicted:
            break
    return said, predicted


def _change(step: str, cast: Cast, driver: Driver, model: Authority) -> None:
    person, group, document = cast.person, cast.group, cast.document.id
    now = model.documents[document]
    match step:
        case "revoke":
            for subject in (person, group):
                driver.revoke(document, subject)
                model.revoke(document, subject.id)
        case "remove from group":
            driver.leave(person, group)
            model.leave(person.id, group.id)
        case "deactivate":
            driver.set_active(person, False)
            model.set_active(person.id, False)
        case "delete":
            driver.delete(document)
            model.delete(document)
        case "publish":
            version = 3 - now.version
            driver.publish(document, version)
            model.publish(document, version)
        case "change life-cycle":
            life_cycle = NEXT_LIFE_CYCLE[now.life_cycle]
            driver.set_life_cycle(document, life_cycle)
            model.set_life_cycle(document, life_cycle)
        case "regrant":
            driver.grant(document, person)
            model.grant(document, person.id)


people = st.integers(0, 3)
groups = st.integers(0, 2)
papers = st.integers(0, 3)


class Histories(RuleBasedStateMachine):
    """Four people, three groups and four documents with three versions, in any order of events."""

    admitted = Bundle("admitted")
    released = Bundle("released")
    played = 0

    @initialize()
    def set_out(self):
        self.bank = Bank.create()
        self.scope = self.bank.scope()
        self.scope.__enter__()
        self.people = generated_bank.make_people(4)
        self.groups = generated_bank.make_groups([[], [], []])
        self.papers = generated_bank.make_documents(4, versions=3)
        versions = generated_bank.versions_of(self.papers)
        self.driver = Driver(OtherConnection(self.bank.tenant.id), versions)
        self.model = Authority()
        self.model.people = {p.id: ModelPerson(revision=2) for p in self.people}
        self.model.documents = {d.id: ModelDocument(revision=1) for d in self.papers}
        for paper, person in zip(self.papers, self.people, strict=True):
            self._both("grant", (paper.id, person), (paper.id, person.id))

    def teardown(self):
        if hasattr(self, "driver"):
            self.driver.other.close()
            self.scope.__exit__(None, None, None)

    @rule(target=admitted, who=people, which=st.lists(papers, min_size=1, unique=True))
    def admit(self, who, which):
        """What is in force of these documents, as a search would have found it."""
        answer = generated_bank.make_answers([self.people[who]])[0]
        sources = [(self.papers[n].id, self._in_force(n)) for n in which]
        return self._admit(answer, "rerank", sources, all_or_nothing=False)

    @rule(target=admitted, permit=admitted)
    def admit_again(self, permit):
        """For the generator: exactly what was admitted before."""
        answer = Answer.objects.get(pk=permit.answer)
        return self._admit(answer, "generate", permit.sources, all_or_nothing=True)

    @rule(target=released, permit=admitted)
    def release(self, permit):
        return self._release(permit.answer, permit)

    @rule(permit=admitted, other=admitted)
    def release_with_the_permit_of_another_answer(self, permit, other):
        if other.answer != permit.answer:
            self._release(other.answer, permit)

    @rule(permit=released, who=people)
    def consume(self, permit, who):
        person = self.people[who].id
        assert self.driver.consume(person, permit) == self.model.consume(person, permit)
        self._count()

    @rule(permit=released)
    def consume_for_the_caller(self, permit):
        caller = permit.caller
        assert self.driver.consume(caller, permit) == self.model.consume(caller, permit)
        self._count()

    @rule(permit=released)
    def read_again(self, permit):
        assert self.driver.may_read_again(permit) == self.model.may_read_again(permit)
        self._count()

    @rule(which=papers, who=people)
    def grant_to_a_person(self, which, who):
        person = self.people[who]
        self._both("grant", (self.papers[which].id, person), (self.papers[which].id, person.id))

    @rule(which=papers, whose=groups)
    def grant_to_a_group(self, which, whose):
        group = self.groups[whose]
        self._both("grant", (self.papers[which].id, group), (self.papers[which].id, group.id))

    @rule(which=papers, who=people)
    def revoke_from_a_person(self, which, who):
        person = self.people[who]
        self._both("revoke", (self.papers[which].id, person), (self.papers[which].id, person.id))

    @rule(which=papers, whose=groups)
    def revoke_from_a_group(self, which, whose):
        group = self.groups[whose]
        self._both("revoke", (self.papers[which].id, group), (self.papers[which].id, group.id))

    @rule(who=people, whose=groups)
    def join(self, who, whose):
        person, group = self.people[who], self.groups[whose]
        self._both("join", (person, group), (person.id, group.id))

    @rule(who=people, whose=groups)
    def leave(self, who, whose):
        person, group = self.people[who], self.groups[whose]
        self._both("leave", (person, group), (person.id, group.id))

    @rule(who=people, active=st.booleans())
    def set_active(self, who, active):
        person = self.people[who]
        self._both("set_active", (person, active), (person.id, active))

    @rule(which=papers, life_cycle=st.sampled_from(["vetted", "archived", "draft", "duplicate"]))
    def set_life_cycle(self, which, life_cycle):
        self._both("set_life_cycle", (self.papers[which].id, life_cycle))

    @rule(which=papers, version=st.integers(1, 3))
    def publish(self, which, version):
        self._both("publish", (self.papers[which].id, version))

    @rule(which=st.just(3))
    def delete(self, which):
        self._both("delete", (self.papers[which].id,))

    def _in_force(self, which: int) -> int:
        return self.model.documents[self.papers[which].id].version

    def _admit(self, answer: Answer, step: str, sources: Sequence, *, all_or_nothing: bool):
        arguments = {"all_or_nothing": all_or_nothing}
        said = self.driver.admit(answer, step, sources, **arguments)
        assert said == self.model.admit(answer.user_id, answer.id, step, sources, **arguments)
        self._count()
        return said if isinstance(said, Permit) else multiple()

    def _release(self, answer_id, permit: Permit):
        said = self.driver.release(Answer.objects.get(pk=answer_id), permit)
        assert said == self.model.release(answer_id, permit)
        self._count()
        return said if isinstance(said, Permit) else multiple()

    def _both(self, change: str, real: tuple, model: tuple | None = None) -> None:
        getattr(self.driver, change)(*real)
        getattr(self.model, change)(*(model or real))
        self._count()

    def _count(self) -> None:
        type(self).played += 1


def test_long_random_histories_agree_with_the_model(capsys):
    Histories.played = 0
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=45,
            stateful_step_count=50,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    with capsys.disabled():
        sys.stdout.write(f" [{Histories.played} steps]")
    assert Histories.played >= 2000


@pytest.mark.parametrize("depth", [1, 2])
def test_histories_are_all_different_and_all_there(depth):
    made = list(histories(depth))
    assert len(made) == len(set(made))
    assert len(made) == {1: 1 + 7 * 4, 2: 1 + 7 * 4 + 49 * 10}[depth]
