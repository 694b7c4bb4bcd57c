"""Background work: what goes first, what is not tried again, and what keeps its lease."""

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.db import connection
from django_q.models import OrmQ
from reportlab.lib.pdfencrypt import StandardEncryption

from documents import dispatch, services
from documents.dispatch import dispatch_tenant
from documents.ingestion import job, passages
from documents.ingestion.job import ingest_version
from documents.models import Chunk, DocumentVersion, FailureCode, Priority, VersionStatus
from tests.bank import Bank
from tests.fakes.pdf_files import pdf_of_lines
from tests.pdf import make_pdf


@pytest.fixture
def handed_out(monkeypatch) -> list[str]:
    """The ids of versions, in the order in which the queue gets them."""
    ids: list[str] = []
    monkeypatch.setattr(dispatch, "async_task", lambda task, tenant, version: ids.append(version))
    return ids


def encrypted_pdf() -> bytes:
    return pdf_of_lines(["Secret."], encrypt=StandardEncryption("secret"))


def load(bank: Bank, text: str, priority: Priority = Priority.BULK, data: bytes | None = None):
    with bank.scope():
        document, submission = services.create_document(
            actor=None,
            title=text,
            department=bank.department(),
            upload=services.Upload(data=data or make_pdf(text)),
            priority=priority,
        )
    return document, submission.version


def finish(bank, version_id: str) -> None:
    with bank.scope():
        ingest_version(version_id=version_id)


def test_a_correction_goes_before_a_bulk_load_that_was_there_first(bank, handed_out, monkeypatch):
    monkeypatch.setattr(settings, "JOBS_IN_FLIGHT", 2)
    document = bank.document("Leave")
    dispatch_tenant(bank.tenant.id)
    bulk = [str(load(bank, f"Bulk {n}.")[1].id) for n in range(4)]
    assert dispatch_tenant(bank.tenant.id) == 2
    assert handed_out == bulk[:2]
    correction = bank.new_version(document, "Annual leave is 26 days.", ingest=False)
    assert dispatch_tenant(bank.tenant.id) == 0  # no room yet
    finish(bank, handed_out[0])
    assert dispatch_tenant(bank.tenant.id) == 1
    assert handed_out[2:] == [str(correction.id)]
    finish(bank, handed_out[1])
    finish(bank, handed_out[2])
    assert dispatch_tenant(bank.tenant.id) == 2
    assert handed_out[3:] == bulk[2:]


def test_what_a_dead_worker_left_waits_behind_a_correction_too(bank, handed_out, monkeypatch):
    monkeypatch.setattr(settings, "JOBS_IN_FLIGHT", 1)
    _, abandoned = load(bank, "Bulk.")
    dispatch_tenant(bank.tenant.id)
    _, urgent = load(bank, "Urgent.", Priority.SINGLE)
    with bank.scope():
        DocumentVersion.objects.filter(pk=abandoned.pk).update(lease_until="2024-01-01T00:00Z")
    dispatch_tenant(bank.tenant.id)
    assert handed_out == [str(abandoned.id), str(urgent.id)]


def test_what_waits_for_a_processor_takes_nobodys_place(bank, handed_out, monkeypatch):
    monkeypatch.setattr(settings, "JOBS_IN_FLIGHT", 1)
    _, waiting = load(bank, "Waits.")
    dispatch_tenant(bank.tenant.id)

    def away(name):
        raise job.EmbedderUnavailable("The embedder is away.")

    with monkeypatch.context() as patch:
        patch.setattr(passages, "pinned_embedder", away)
        finish(bank, waiting.id)
    _, other = load(bank, "Other.")
    assert dispatch_tenant(bank.tenant.id) == 1
    assert handed_out == [str(waiting.id), str(other.id)]


def test_the_end_of_a_job_makes_the_dispatcher_look_for_the_next(bank, raw_sql):
    from documents.tasks import ingest_version as task

    _, version = load(bank, "Rule one.")
    raw_sql.execute("LISTEN precept_outbox")
    task(str(bank.tenant.id), str(version.id))
    assert [note.channel for note in raw_sql.notifies(timeout=10, stop_after=1)]


def test_bytes_that_failed_before_fail_at_once_with_the_reason_they_had(bank, other_bank):
    data = encrypted_pdf()
    _, first = load(bank, "First", data=data)
    finish(bank, first.id)
    _, second = load(bank, "Second", data=data)
    with bank.scope():
        first.refresh_from_db()
        second.refresh_from_db()
    assert (second.status, second.failure_code) == (VersionStatus.FAILED, FailureCode.ENCRYPTED)
    assert second.failure_reason == first.failure_reason
    assert second.attempts == 0
    assert dispatch_tenant(bank.tenant.id) == 1  # the first one's event only
    _, elsewhere = load(other_bank, "Elsewhere", data=data)
    assert elsewhere.status == VersionStatus.RECEIVED  # another tenant's failures tell nothing


def test_somebody_may_try_them_again_all_the_same(bank):
    data = encrypted_pdf()
    _, first = load(bank, "First", data=data)
    finish(bank, first.id)
    _, second = load(bank, "Second", data=data)
    with bank.scope():
        services.retry_version(actor=None, version=second)
        second.refresh_from_db()
        assert second.status == VersionStatus.RECEIVED
        assert ingest_version(version_id=second.id).attempts == 1


@pytest.mark.parametrize("code", [FailureCode.PROCESSOR, FailureCode.INVALID])
def test_a_failure_that_was_not_the_files_is_not_remembered(bank, code):
    _, first = load(bank, "The same.")
    with bank.scope():
        DocumentVersion.objects.filter(pk=first.pk).update(
            status=VersionStatus.FAILED, failure_code=code, failure_reason="It was away."
        )
    _, second = load(bank, "The same.")
    assert second.status == VersionStatus.RECEIVED


def test_a_file_that_kills_its_worker_is_given_up_and_that_is_remembered(bank):
    _, version = load(bank, "Poison.")
    with bank.scope():
        DocumentVersion.objects.filter(pk=version.pk).update(attempts=settings.JOB_MAX_ATTEMPTS)
        assert ingest_version(version_id=version.id).failure_code == FailureCode.GAVE_UP
    assert load(bank, "Poison.")[1].failure_code == FailureCode.GAVE_UP


def test_embedding_that_takes_longer_than_a_lease_keeps_it(bank, monkeypatch):
    _, version = load(bank, "A long document.")
    monkeypatch.setattr(settings, "JOB_LEASE_SECONDS", 0.5)
    embed = passages.embed_chunks

    def slow(*args, **kwargs):
        """Until the heart has beaten well beyond the first lease."""
        first = DocumentVersion.objects.get(pk=version.pk).lease_until
        with connection.cursor() as cursor:
            for _ in range(600):
                now = DocumentVersion.objects.get(pk=version.pk).lease_until
                if (now - first).total_seconds() > 2 * settings.JOB_LEASE_SECONDS:
                    break
                cursor.execute("SELECT pg_sleep(0.05)")
        return embed(*args, **kwargs)

    monkeypatch.setattr(passages, "embed_chunks", slow)
    with bank.scope():
        done = ingest_version(version_id=version.id)
        assert (done.status, done.attempts) == (VersionStatus.SEARCHABLE, 1)
        assert Chunk.objects.filter(version=version).count() == 1


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("Q_CLUSTER", {"retry": 60, "timeout": 60}, "precept.E003"),
        ("Q_CLUSTER", {"max_attempts": 3}, "precept.E010"),
        ("Q_CLUSTER", {"ack_failures": False}, "precept.E010"),
        ("JOB_LEASE_SECONDS", 1800, "precept.E011"),
        ("JOB_LEASE_SECONDS", 901, "precept.E012"),
        ("JOBS_IN_FLIGHT", 0, "precept.E013"),
    ],
)
def test_settings_that_would_do_a_job_twice_or_never_are_refused(monkeypatch, name, value, error):
    assert not [found for found in run_checks() if found.id.startswith("precept.")]
    if isinstance(value, dict):
        value = {**getattr(settings, name), **value}
    monkeypatch.setattr(settings, name, value)
    assert error in [found.id for found in run_checks()]


@pytest.fixture(autouse=True)
def _empty_queue():
    OrmQ.objects.all().delete()
