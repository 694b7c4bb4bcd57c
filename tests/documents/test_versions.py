"""A new version takes over from the old one, at the moment the policy says."""

import datetime as dt
import threading

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from answers.models import Outcome
from answers.pipeline import answer_question
from answers.progress import Stage, Status
from answers.selectors import present_answer
from audit.models import AuditRecord
from documents import services
from documents.admin.versions import version_rows
from documents.dispatch import dispatch_tenant
from documents.ingestion import job, publish
from documents.models import Document, DocumentVersion
from tenants.models import SupersedePolicy
from tests.bank import Bank
from tests.pdf import make_pdf

QUESTION = "How many days of annual leave do I have?"
OLD, NEW = "Annual leave allowance is 25 days.", "Annual leave allowance is 27 days."


@pytest.fixture
def leave(bank):
    user = bank.person("reader")
    return user, bank.document("Annual leave", OLD, readers=[user])


def words(view) -> str:
    return " ".join(claim.text for claim in view.claims)


def test_once_the_new_version_is_searchable_it_is_the_one_that_is_cited(bank, leave):
    user, document = leave
    bank.new_version(document, NEW)
    view = bank.ask(user, QUESTION)
    assert "27 days" in words(view)
    assert view.citations[0].version == 2


def accept_only(bank, version) -> None:
    """As far as acceptance, as if the worker were still indexing."""
    with bank.scope(), job.claim(version.id) as lease:
        job.accept(
            version=version,
            extracted=job.extract(make_pdf(NEW)),
            lease=lease,
        )


def test_in_the_gap_after_acceptance_the_old_words_are_gone_and_the_asker_learns_nothing_more(
    bank, leave
):
    user, document = leave
    version = bank.new_version(document, NEW, ingest=False)
    accept_only(bank, version)
    view = bank.ask(user, QUESTION)
    assert (view.outcome, view.claims) == (Outcome.ABSTAINED, ())
    nothing = bank.ask(bank.person("stranger"), QUESTION)
    assert (nothing.outcome, nothing.reason) == (view.outcome, view.reason)


@pytest.mark.parametrize(
    "stage", [Stage.CHECKING_ACCESS, Stage.WRITING, Stage.VERIFYING, Stage.RELEASING]
)
def test_a_version_accepted_while_a_question_runs_is_never_answered_from_the_old_one(
    bank, leave, stage
):
    user, document = leave
    version = bank.new_version(document, NEW, ingest=False)
    started = bank.start(user, QUESTION)
    accepted = False
    with bank.scope():
        for event in answer_question(answer=started.answer):
            if isinstance(event, Status) and event.stage == stage and not accepted:
                accepted = True
                accept_only(bank, version)
        started.answer.refresh_from_db()
        assert not started.answer.claims.exists()
    assert started.answer.outcome in (Outcome.ABSTAINED, Outcome.UNAVAILABLE)


def test_when_the_policy_says_so_the_old_version_serves_until_the_new_one_is_searchable():
    bank = Bank.create(supersede_policy=SupersedePolicy.WHEN_SEARCHABLE)
    user = bank.person("reader")
    document = bank.document("Annual leave", OLD, readers=[user])
    version = bank.new_version(document, NEW, ingest=False)
    accept_only(bank, version)
    assert "25 days" in words(bank.ask(user, QUESTION))
    with bank.scope():
        DocumentVersion.objects.filter(pk=version.pk).update(lease=None)
    bank.ingest(version)
    assert "27 days" in words(bank.ask(user, QUESTION))


@pytest.mark.parametrize(
    "stage", [Stage.CHECKING_ACCESS, Stage.WRITING, Stage.VERIFYING, Stage.RELEASING]
)
def test_a_question_that_runs_during_the_switch_starts_again_and_answers_from_the_new_version(
    stage,
):
    bank = Bank.create(supersede_policy=SupersedePolicy.WHEN_SEARCHABLE)
    user = bank.person("reader")
    document = bank.document("Annual leave", OLD, readers=[user])
    version = bank.new_version(document, NEW, ingest=False)
    started = bank.start(user, QUESTION)
    with bank.scope():
        for event in answer_question(answer=started.answer):
            if isinstance(event, Status) and event.stage == stage:
                bank.ingest(version)  # does nothing the second time
        started.answer.refresh_from_db()
        view = present_answer(user=user, answer=started.answer)
    assert "27 days" in words(view)


def test_a_failure_after_acceptance_is_recorded_for_the_owner_who_can_reinstate(bank, leave):
    user, document = leave
    version = bank.new_version(document, NEW, ingest=False)
    accept_only(bank, version)
    with bank.scope():
        DocumentVersion.objects.filter(pk=version.pk).update(lease=None, attempts=99)
        failed = job.ingest_version(version_id=version.id)
        assert failed.failure_code == "gave_up"
        assert AuditRecord.objects.filter(action="document.version_failed").exists()
        former = document.versions.get(number=1)
        services.reinstate_version(actor=None, version=former)
    assert "25 days" in words(bank.ask(user, QUESTION))


def test_the_same_bytes_again_change_nothing(bank, leave):
    _, document = leave
    with bank.scope():
        again = services.submit_version(
            actor=None, document=document, upload=services.Upload(data=make_pdf(OLD))
        )
    assert not again.is_new
    assert again.version.number == 1


def test_going_back_to_an_older_versions_bytes_makes_a_new_version(bank, leave):
    user, document = leave
    bank.new_version(document, NEW)
    bank.new_version(document, OLD)
    view = bank.ask(user, QUESTION)
    assert "25 days" in words(view)
    assert view.citations[0].version == 3


def test_a_version_is_not_in_force_before_its_effective_date(bank, leave):
    user, document = leave
    with bank.scope():
        version = services.submit_version(
            actor=None,
            document=document,
            upload=services.Upload(data=make_pdf(NEW)),
            effective_date=dt.date(2999, 1, 1),
        ).version
    bank.ingest(version)
    assert "25 days" in words(bank.ask(user, QUESTION))
    with bank.scope():
        DocumentVersion.objects.filter(pk=version.pk).update(effective_date=dt.date(2024, 1, 1))
    dispatch_tenant(bank.tenant.id)
    assert "27 days" in words(bank.ask(user, QUESTION))


def test_an_older_version_that_is_indexed_late_does_not_push_a_newer_one_out(bank, leave):
    _, document = leave
    second = bank.new_version(document, NEW, ingest=False)
    third = bank.new_version(document, "Annual leave allowance is 28 days.")
    bank.ingest(second)
    with bank.scope():
        assert Document.objects.get(pk=document.pk).current_version_id == third.id


def test_each_change_of_the_version_in_force_is_recorded(bank, leave):
    _, document = leave
    version = bank.new_version(document, NEW)
    with bank.scope():
        records = AuditRecord.objects.filter(action="document.version_in_force").order_by("seq")
        assert [record.facts for record in records] == [
            {"number": 1, "former": None},
            {"number": 2, "former": 1},
        ]
        assert records[1].object_ids == {"document": str(document.id), "version": str(version.id)}


def test_a_version_is_not_reinstated_before_its_effective_date(bank, leave):
    user, document = leave
    with bank.scope():
        version = services.submit_version(
            actor=None,
            document=document,
            upload=services.Upload(data=make_pdf(NEW)),
            effective_date=dt.date(2999, 1, 1),
        ).version
    version = bank.ingest(version)
    with bank.scope(), pytest.raises(ValidationError, match="01/01/2999"):
        services.reinstate_version(actor=None, version=version)
    with bank.scope():
        rows = {row.number: row for _, row in version_rows(document)}
    assert not rows[2].can_reinstate
    assert "25 days" in words(bank.ask(user, QUESTION))


def test_a_reinstated_version_brings_its_effective_date_back(bank):
    document = bank.document("Annual leave", OLD, effective_date=dt.date(2020, 1, 1))
    with bank.scope():
        version = services.submit_version(
            actor=None,
            document=document,
            upload=services.Upload(data=make_pdf(NEW)),
            effective_date=dt.date(2024, 1, 1),
        ).version
    bank.ingest(version)
    with bank.scope():
        assert Document.objects.get(pk=document.pk).effective_date == dt.date(2024, 1, 1)
        services.reinstate_version(actor=None, version=document.versions.get(number=1))
        assert Document.objects.get(pk=document.pk).effective_date == dt.date(2020, 1, 1)


def test_a_version_that_was_retried_meanwhile_is_not_reset(bank, leave):
    _, document = leave
    with bank.scope():
        stale = document.versions.get(number=1)
        stale.status = "failed"  # as a page that was opened before still shows it
        with pytest.raises(ValidationError, match="Only a failed version"):
            services.retry_version(actor=None, version=stale)
        assert document.versions.get(number=1).status == "searchable"


def test_waiting_for_the_indexs_writer_does_not_keep_the_document_from_its_readers(
    bank, leave, database, monkeypatch
):
    """A publisher that waits its turn holds no lock that an admission needs."""
    user, document = leave
    version = bank.new_version(document, NEW, ingest=False)
    with bank.scope():
        services.update_document(
            actor=None, document=document, supersede_policy=SupersedePolicy.WHEN_SEARCHABLE
        )
    outcomes = []
    lock = publish.lock_index_writer

    def ask_while_waiting(generation):
        thread = threading.Thread(target=lambda: outcomes.append(ask_elsewhere()))
        thread.start()
        thread.join()
        lock(generation)

    def ask_elsewhere():
        try:
            return bank.ask(user, QUESTION).outcome
        finally:
            connection.close()

    monkeypatch.setattr(publish, "lock_index_writer", ask_while_waiting)
    bank.ingest(version)
    assert outcomes == [Outcome.ANSWERED]
