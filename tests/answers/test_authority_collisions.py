"""Decisions that meet a bulk change or one another at the locks: tried again, then named, never hung."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import connections, transaction
from psycopg.errors import LockNotAvailable

from answers import authority
from answers.authority import admission, locks
from answers.models import Answer, ContextPermit, Outcome, ReleasePermit
from answers.progress import Stage
from audit.models import AuditRecord
from benchmarks import generated_bank
from documents.models import Chunk
from tests.answers.test_authority_races import LEAVE, Interrupted, run, wait_until_waited_for

STAGES = [Stage.CHECKING_ACCESS, Stage.WRITING, Stage.RELEASING]


@pytest.fixture
def reader(bank):
    user = bank.person("reader")
    return user, bank.document("Annual leave", LEAVE, readers=[bank.group("leavers", user)])


@pytest.fixture
def collisions(monkeypatch) -> list[str]:
    """The kinds of collision after which a decision was tried again."""
    kinds: list[str] = []

    class Log:
        def info(self, event: str, *, kind: str) -> None:
            kinds.append(kind)

    monkeypatch.setattr(locks, "log", Log())
    return kinds


@pytest.fixture
def writer(database):
    """A bulk change: a transaction that never gives way itself."""
    with psycopg.connect(database["SUPERUSER_URL"]) as connection:
        connection.execute("SET deadlock_timeout = '1h'")
        yield connection


@pytest.mark.parametrize("stage", STAGES)
def test_a_decision_that_deadlocks_with_a_bulk_change_is_made_again(
    bank, reader, writer, database, collisions, stage
):
    """The change takes the same two locks in the other order; PostgreSQL ends the decision's try."""
    user, document = reader
    first, second = _in_key_order(writer, user, document)

    def take_the_second_and_then_the_first():
        _lock(writer, second)
        threading.Thread(
            target=_lock_and_commit_when_waited_for, args=(writer, first, database)
        ).start()

    answer = run(bank, user, Interrupted(), at=stage, act=take_the_second_and_then_the_first)
    assert collisions == ["DeadlockDetected"]
    assert answer.outcome == Outcome.ANSWERED
    assert len(_records(bank, answer)) == 1


@pytest.mark.parametrize("stage", STAGES)
def test_a_change_that_outlasts_the_budget_makes_the_authority_unavailable_and_is_recorded(
    bank, reader, writer, settings, collisions, stage
):
    user, document = reader
    settings.AUTHORITY_LOCK_TIMEOUT_MS, settings.AUTHORITY_BUDGET_MS = 20, 200
    answer = run(
        bank, user, Interrupted(), at=stage, act=lambda: _lock(writer, ("document", document.id))
    )
    assert (answer.outcome, answer.reason) == (Outcome.UNAVAILABLE, "authority")
    assert len(collisions) > 1
    assert set(collisions) == {"LockNotAvailable"}
    [record] = _records(bank, answer)
    assert (record.facts["outcome"], record.facts["reason"]) == ("unavailable", "authority")
    with bank.scope():
        assert not ReleasePermit.objects.filter(answer=answer).exists()
        assert not answer.claims.exists()


def test_a_lost_connection_is_unavailable_at_once_and_still_recorded(bank, reader, raw_sql):
    from django.db import connection

    user, _ = reader

    def end_the_connection():
        raw_sql.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])

    generator = Interrupted(end_the_connection)
    answer = run(bank, user, generator)
    assert (answer.outcome, answer.reason) == (Outcome.UNAVAILABLE, "authority")
    assert len(_records(bank, answer)) == 1


def test_an_admission_does_not_wait_for_another_that_is_in_flight(
    bank, reader, settings, collisions, monkeypatch
):
    """The second begins and ends, about the same person and document, while the first is open."""
    settings.AUTHORITY_LOCK_TIMEOUT_MS, settings.AUTHORITY_BUDGET_MS = 1_000, 2_000
    user, document = reader
    with bank.scope():
        chunk = Chunk.objects.get(document=document).id
        first, second = generated_bank.make_answers([user] * 2)
    evidence_of = admission._evidence
    inside: list[int] = []

    def admit_the_second() -> int:
        try:
            with bank.scope():
                return len(_admit(second, [chunk]).evidence)
        finally:
            connections.close_all()

    def admit_another_meanwhile(*args):
        monkeypatch.setattr(admission, "_evidence", evidence_of)
        with ThreadPoolExecutor(max_workers=1) as thread:
            inside.append(thread.submit(admit_the_second).result())
        return evidence_of(*args)

    monkeypatch.setattr(admission, "_evidence", admit_another_meanwhile)
    with bank.scope():
        assert len(_admit(first, [chunk]).evidence) == 1
    assert inside == [1]
    assert collisions == []


def test_admissions_never_deadlock(bank, settings, collisions):
    """Eight at once about the same documents, each in another order."""
    settings.AUTHORITY_LOCK_TIMEOUT_MS = settings.AUTHORITY_BUDGET_MS = 60_000
    with bank.scope():
        user = generated_bank.make_people(1)[0]
        documents = generated_bank.make_documents(8)
        generated_bank.make_grants([(document, user) for document in documents])
        answers = generated_bank.make_answers([user] * 8)
    chunks = [generated_bank.chunk_of(document.current_version_id) for document in documents]
    together = threading.Barrier(8)

    def admit_many(turn: int) -> int:
        try:
            with bank.scope():
                together.wait()
                return sum(
                    len(_admit(answers[turn], chunks[n % 8 :] + chunks[: n % 8]).evidence)
                    for n in range(turn, turn + 25)
                )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=8) as threads:
        admitted = list(threads.map(admit_many, range(8)))
    assert admitted == [25 * 8] * 8
    assert collisions == []


def test_an_admission_in_flight_makes_the_revocation_wait(bank, reader, database, monkeypatch):
    """While its transaction is open, nobody can change what it decided on."""
    user, document = reader
    refused: list[bool] = []
    evidence_of = admission._evidence

    def try_to_revoke_meanwhile(*args):
        with psycopg.connect(database["SUPERUSER_URL"]) as other:
            other.execute("SET lock_timeout = '100ms'")
            try:
                other.execute("DELETE FROM documents_grant WHERE document_id = %s", [document.id])
                other.commit()
                refused.append(False)
            except LockNotAvailable:
                refused.append(True)
        return evidence_of(*args)

    monkeypatch.setattr(admission, "_evidence", try_to_revoke_meanwhile)
    assert run(bank, user, Interrupted()).outcome == Outcome.ANSWERED
    assert refused == [True, True]


def test_a_decision_inside_another_transaction_is_refused(bank, reader):
    """It could neither start afresh nor give its locks back."""
    user, _ = reader
    with bank.scope():
        answer = generated_bank.make_answers([user])[0]
        with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
            _admit(answer, [])
        assert not ContextPermit.objects.filter(answer=answer).exists()


def _admit(answer: Answer, chunks: list) -> authority.Admission:
    return authority.admit(
        answer=answer,
        step="rerank",
        processor="test",
        chunk_ids=chunks,
        cosines=dict.fromkeys(chunks, 0.5),
    )


def _records(bank, answer: Answer) -> list[AuditRecord]:
    with bank.scope():
        return list(AuditRecord.objects.filter(object_ids__answer=str(answer.id)))


def _in_key_order(writer: psycopg.Connection, user, document) -> list[tuple]:
    things = [("user", user.id), ("document", document.id)]
    keys = [writer.execute("SELECT precept_lock_key(%s, %s)", thing).fetchone() for thing in things]
    writer.rollback()
    return [thing for _, thing in sorted(zip(keys, things, strict=True))]


def _lock(writer: psycopg.Connection, thing: tuple) -> None:
    writer.execute("SELECT precept_lock_exclusive(%s, %s)", thing)


def _lock_and_commit_when_waited_for(writer: psycopg.Connection, thing: tuple, database) -> None:
    wait_until_waited_for(writer, database)
    _lock(writer, thing)
    writer.commit()
