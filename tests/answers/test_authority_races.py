"""A revocation that commits first is always seen; one in flight is waited for; a release in flight
makes it wait. On real connections, at each point of the path."""

import threading
from collections.abc import Callable

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from answers.authority import releasing
from answers.generation import get_generator
from answers.models import Answer, ContextPermit, Outcome, ReleasePermit
from answers.pipeline import answer_question
from answers.progress import Stage, Status
from documents import services as documents
from documents.models import Grant, LifeCycle
from tenants import services as people
from tenants.models import User

QUESTION = "How many days of annual leave do I have?"
LEAVE = "Annual leave allowance is 25 days."


@pytest.fixture
def reader(bank):
    """Somebody who may read the leave policy through one group."""
    user = bank.person("reader")
    group = bank.group("leavers", user)
    document = bank.document("Annual leave", LEAVE, readers=[group])
    return user, group, document


def by_service(bank, raw, user, group, document):
    bank.revoke(document, group)


def by_bulk_delete(bank, raw, user, group, document):
    """As an admin bulk action or any queryset does it."""
    with bank.scope():
        Grant.objects.filter(document=document).delete()


def by_cascade(bank, raw, user, group, document):
    with bank.scope():
        people.delete_group(group=group)


def by_removal_from_the_group(bank, raw, user, group, document):
    with bank.scope():
        people.remove_from_group(user=user, group=group)


def by_deactivation(bank, raw, user, group, document):
    with bank.scope():
        people.set_user_active(user=user, active=False)


def by_deletion_of_the_document(bank, raw, user, group, document):
    with bank.scope():
        documents.delete_document(actor=None, document=document)


def by_life_cycle(bank, raw, user, group, document):
    with bank.scope():
        documents.set_life_cycle(actor=None, document=document, life_cycle=LifeCycle.DRAFT)


def by_raw_sql(bank, raw, user, group, document):
    raw.execute("DELETE FROM documents_grant WHERE document_id = %s", [document.id])


def by_raw_membership_sql(bank, raw, user, group, document):
    raw.execute("DELETE FROM tenants_groupmembership WHERE group_id = %s", [group.id])


def by_raw_deactivation(bank, raw, user, group, document):
    raw.execute("UPDATE tenants_user SET is_active = false WHERE id = %s", [user.id])


def by_new_version(bank, raw, user, group, document):
    """Accepted but not yet searchable: the old words are out of force at once."""
    raw.execute(
        "INSERT INTO documents_documentversion (id, tenant_id, document_id, number, file_name,"
        " object_key, sha256, media_type, size, status, failure_code, failure_reason, language,"
        " text_key, text_sha256, page_map, page_count, chunk_count, created_at, attempts,"
        " progress_done, progress_total, waits_for_date, queued, priority,"
        " structure_key, page_labels, recognised_pages, repairs)"
        " SELECT gen_random_uuid(), tenant_id, id, 2, '', 'k', 's', 'application/pdf', 1,"
        " 'accepted', '', '', '', '', '', '[]', 1, 0, now(), 0, 0, 0, false, false, 0,"
        " '', '{}', '[]', '[]'"
        " FROM documents_document WHERE id = %s",
        [document.id],
    )
    raw.execute(
        "UPDATE documents_document d SET current_version_id = v.id FROM documents_documentversion v"
        " WHERE d.id = %s AND v.document_id = d.id AND v.number = 2",
        [document.id],
    )


CHANGES = [
    by_service,
    by_bulk_delete,
    by_cascade,
    by_removal_from_the_group,
    by_deactivation,
    by_deletion_of_the_document,
    by_life_cycle,
    by_raw_sql,
    by_raw_membership_sql,
    by_raw_deactivation,
    by_new_version,
]
RAW_CHANGES = [by_raw_sql, by_raw_membership_sql, by_raw_deactivation, by_new_version]


class Interrupted:
    """The extractive generator, with something happening while it works."""

    name = processor = "extractive-3"

    def __init__(self, meanwhile: Callable[[], None] = lambda: None):
        self.meanwhile = meanwhile
        self.received: list[str] = []

    def generate(self, *, question, language, evidence):
        self.received += [chunk.text for chunk in evidence]
        draft = get_generator("extractive").generate(
            question=question, language=language, evidence=evidence
        )
        self.meanwhile()
        return draft


def run(bank, user: User, generator, at: Stage | None = None, act: Callable = lambda: None):
    """Run the pipeline, acting once when it reaches the stage."""
    started = bank.start(user, QUESTION)
    acted = False
    with bank.scope():
        for event in answer_question(answer=started.answer, generator=generator):
            if isinstance(event, Status) and event.stage == at and not acted:
                acted = True
                act()
        return Answer.objects.get(pk=started.answer.pk)


def assert_nothing_left(bank, answer: Answer) -> None:
    with bank.scope():
        assert not ReleasePermit.objects.filter(answer=answer).exists()
        assert not answer.claims.exists()
    assert answer.outcome in (Outcome.ABSTAINED, Outcome.UNAVAILABLE)


def test_without_any_change_the_answer_is_released(bank, reader):
    user, *_ = reader
    assert run(bank, user, Interrupted()).outcome == Outcome.ANSWERED


@pytest.mark.parametrize("change", CHANGES)
def test_a_revocation_between_retrieval_and_admission_keeps_the_text_from_every_processor(
    bank, reader, raw_sql, change
):
    user, group, document = reader
    generator = Interrupted()
    act = lambda: change(bank, raw_sql, user, group, document)  # noqa: E731
    answer = run(bank, user, generator, at=Stage.CHECKING_ACCESS, act=act)
    assert_nothing_left(bank, answer)
    assert generator.received == []
    with bank.scope():
        assert all(not permit.chunks for permit in ContextPermit.objects.filter(answer=answer))


@pytest.mark.parametrize("change", CHANGES)
def test_a_revocation_between_the_two_admissions_keeps_the_text_from_the_generator(
    bank, reader, raw_sql, change
):
    user, group, document = reader
    generator = Interrupted()
    act = lambda: change(bank, raw_sql, user, group, document)  # noqa: E731
    answer = run(bank, user, generator, at=Stage.WRITING, act=act)
    assert_nothing_left(bank, answer)
    assert generator.received == []


@pytest.mark.parametrize("change", CHANGES)
def test_a_revocation_while_the_generator_works_is_never_released(bank, reader, raw_sql, change):
    user, group, document = reader
    generator = Interrupted(lambda: change(bank, raw_sql, user, group, document))
    answer = run(bank, user, generator)
    assert_nothing_left(bank, answer)
    assert generator.received == [LEAVE]


@pytest.mark.parametrize("change", CHANGES)
def test_a_revocation_between_generation_and_release_is_never_released(
    bank, reader, raw_sql, change
):
    user, group, document = reader
    act = lambda: change(bank, raw_sql, user, group, document)  # noqa: E731
    answer = run(bank, user, Interrupted(), at=Stage.RELEASING, act=act)
    assert_nothing_left(bank, answer)


@pytest.mark.parametrize("change", RAW_CHANGES)
@pytest.mark.parametrize("stage", [Stage.CHECKING_ACCESS, Stage.WRITING, Stage.RELEASING])
def test_a_revocation_that_is_being_committed_is_waited_for(
    bank, reader, raw_sql, database, change, stage
):
    """Its transaction is open when the decision is asked for, and commits while that waits."""
    user, group, document = reader
    generator = Interrupted()
    with psycopg.connect(database["SUPERUSER_URL"]) as writer:

        def begin_and_commit_once_somebody_waits():
            change(bank, writer, user, group, document)
            threading.Thread(target=_commit_when_waited_for, args=(writer, database)).start()

        answer = run(bank, user, generator, at=stage, act=begin_and_commit_once_somebody_waits)
    assert_nothing_left(bank, answer)
    if stage != Stage.RELEASING:
        assert generator.received == []


def _commit_when_waited_for(writer: psycopg.Connection, database) -> None:
    wait_until_waited_for(writer, database)
    writer.commit()


def wait_until_waited_for(writer: psycopg.Connection, database) -> None:
    """Until somebody wants an advisory lock that the writer's transaction holds."""
    with psycopg.connect(database["SUPERUSER_URL"], autocommit=True) as looker:
        for _ in range(20_000):
            waiting = looker.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                " AND %s = ANY(pg_blocking_pids(pid))",
                [writer.info.backend_pid],
            ).fetchone()[0]
            if waiting:
                break


@pytest.mark.parametrize("change", RAW_CHANGES)
def test_a_release_in_flight_makes_the_revocation_wait(
    bank, reader, raw_sql, database, change, monkeypatch
):
    """While the release transaction is open, nobody can change what it decided on."""
    user, group, document = reader
    refused: list[bool] = []
    keep = releasing._keep

    def try_to_revoke_meanwhile(*args):
        with psycopg.connect(database["SUPERUSER_URL"]) as writer:
            writer.execute("SET lock_timeout = '100ms'")
            try:
                change(bank, writer, user, group, document)
                writer.commit()
                refused.append(False)
            except LockNotAvailable:
                refused.append(True)
        return keep(*args)

    monkeypatch.setattr(releasing, "_keep", try_to_revoke_meanwhile)
    answer = run(bank, user, Interrupted())
    assert refused == [True]
    assert answer.outcome == Outcome.ANSWERED


def test_two_decisions_about_the_same_documents_do_not_wait_for_each_other(bank, reader, database):
    user, _, document = reader
    with psycopg.connect(database["SUPERUSER_URL"]) as other:
        other.execute(
            "SELECT pg_advisory_xact_lock_shared(precept_lock_key('user', %s)),"
            " pg_advisory_xact_lock_shared(precept_lock_key('document', %s))",
            [user.id, document.id],
        )
        assert run(bank, user, Interrupted()).outcome == Outcome.ANSWERED


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_eligibility_raises_an_access_revision(bank, reader, raw_sql, change):
    user, group, document = reader
    before = _revisions(bank, user, document)
    change(bank, raw_sql, user, group, document)
    assert _revisions(bank, user, document) > before


def _revisions(bank, user, document) -> int:
    with bank.scope():
        user.refresh_from_db()
        document.refresh_from_db()
    return user.access_revision + document.access_revision


def test_a_permit_names_exactly_the_versions_and_revisions_it_saw(bank, reader):
    user, _, document = reader
    answer = run(bank, user, Interrupted())
    with bank.scope():
        document.refresh_from_db()
        user.refresh_from_db()
        permit = ContextPermit.objects.get(answer=answer, step="generate")
        released = ReleasePermit.objects.get(answer=answer)
    for seen in (permit, released):
        assert seen.document_versions == {str(document.id): str(document.current_version_id)}
        assert seen.access_revisions == {
            str(document.id): document.access_revision,
            str(user.id): user.access_revision,
        }
    assert released.digest == answer.digest
    assert released.consumed_at is not None


def test_a_release_permit_is_consumed_once_and_by_its_caller_only(bank, reader):
    from answers.authority import consume

    user, *_ = reader
    answer = run(bank, user, Interrupted())
    with bank.scope():
        permit = ReleasePermit.objects.get(answer=answer)
        assert not consume(permit=permit, caller=user.id)
        assert not consume(permit=permit, caller=bank.tenant.id)


def test_reading_an_answer_again_is_authorised_afresh(bank, reader):
    from answers.selectors import present_answer

    user, group, document = reader
    answer = run(bank, user, Interrupted())
    bank.revoke(document, group)
    with bank.scope():
        view = present_answer(user=user, answer=answer)
    assert (view.outcome, view.claims, view.citations) == (Outcome.UNAVAILABLE, (), ())


def test_a_lock_that_cannot_be_had_in_time_is_unavailable_and_not_nothing(
    bank, reader, database, settings
):
    user, _, document = reader
    settings.AUTHORITY_LOCK_TIMEOUT_MS = 50
    settings.AUTHORITY_BUDGET_MS = 200
    with psycopg.connect(database["SUPERUSER_URL"]) as writer:
        writer.execute("SELECT precept_lock_exclusive('document', %s)", [document.id])
        answer = run(bank, user, Interrupted())
    assert (answer.outcome, answer.reason) == (Outcome.UNAVAILABLE, "authority")


def test_truncating_grants_or_memberships_is_refused_even_to_the_superuser(raw_sql):
    for table in ("documents_grant", "tenants_groupmembership", "tenants_user"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw_sql.execute(f"TRUNCATE {table} CASCADE")


def test_a_tampered_passage_is_never_admitted(bank, reader, raw_sql):
    user, _, document = reader
    raw_sql.execute("ALTER TABLE documents_chunk DISABLE TRIGGER immutable")
    try:
        raw_sql.execute(
            "UPDATE documents_chunk SET text = 'Annual leave allowance is 99 days.'"
            " WHERE document_id = %s",
            [document.id],
        )
    finally:
        raw_sql.execute("ALTER TABLE documents_chunk ENABLE TRIGGER immutable")
    generator = Interrupted()
    answer = run(bank, user, generator)
    assert (answer.outcome, answer.reason) == (Outcome.UNAVAILABLE, "authority")
    assert generator.received == []
