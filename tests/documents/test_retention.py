"""What was deleted is purged when the tenant's rule says so: not earlier, not more, and for good."""

import io
import json
import threading
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, connections, transaction
from django.utils import timezone

from audit.models import AuditRecord
from documents import retention, services, storage
from documents.ingestion.job import ingest_version
from documents.models import (
    Chunk,
    ChunkTerm,
    CorpusStatistics,
    Document,
    DocumentVersion,
    FailureCode,
    TermStatistics,
    VersionStatus,
)
from documents.retention import purge_due, remove_orphans
from documents.selectors import version_text
from tenants.models import Tenant
from tests.pdf import make_pdf


def delete(bank, document, *, days_ago: int = 31):
    with bank.scope():
        services.delete_document(actor=None, document=document)
        Document.objects.filter(pk=document.pk).update(
            deleted_at=timezone.now() - timedelta(days=days_ago)
        )


def purge(bank) -> dict:
    with bank.scope():
        return purge_due()


def keys_of(version) -> list[str]:
    return [version.object_key, version.text_key]


def is_stored(key: str) -> bool:
    return (settings.OBJECT_STORE_DIR / key).exists()


def test_a_deleted_document_loses_its_words_and_files_when_its_time_is_over(bank):
    kept = bank.document("Kept", "Zebra crossing.")
    document = bank.document("Leave", "Zebra stripes of the quagga.")
    with bank.scope():
        version = document.versions.get()
    delete(bank, document)
    removed = purge(bank)
    assert (removed["documents"], removed["passages"], removed["files"]) == (1, 1, 3)
    with bank.scope():
        document.refresh_from_db()
        assert (document.title, document.reference) == (retention.PURGED_TITLE, "")
        assert list(Chunk.objects.values_list("document", flat=True)) == [kept.id]
        assert not ChunkTerm.objects.filter(version=version).exists()
        assert not TermStatistics.objects.filter(term__contains="quagga").exists()
        assert TermStatistics.objects.get(term="en:zebra").document_frequency == 1
        assert CorpusStatistics.objects.get().chunk_count == 1
        facts = AuditRecord.objects.get(action="document.purged").facts
        assert (facts["passages"], facts["vectors"]) == (1, 1)
        assert AuditRecord.objects.get(action="document.files_purged").facts["files"] == 3
    assert not any(map(is_stored, keys_of(version)))
    assert purge(bank) == {}


def test_nothing_is_purged_before_its_time(bank):
    document = bank.document("Leave")
    delete(bank, document, days_ago=29)
    assert purge(bank) == {}
    with bank.scope(), pytest.raises(IntegrityError, match="not past its retention"):
        Document.objects.filter(pk=document.pk).update(purged_at=timezone.now())


def test_the_database_purges_no_document_that_was_not_deleted_and_brings_none_back(bank):
    living, document = bank.document("Living"), bank.document("Leave")
    delete(bank, document)
    purge(bank)
    with bank.scope():
        for pk, change in (
            (living.pk, {"purged_at": timezone.now()}),
            (document.pk, {"deleted_at": None}),
            (document.pk, {"purged_at": None}),
        ):
            with pytest.raises(IntegrityError):
                Document.objects.filter(pk=pk).update(**change)


def test_a_file_that_another_document_has_too_stays_until_that_is_purged(bank):
    first, second = bank.document("One", "The same words."), bank.document("Two", "The same words.")
    with bank.scope():
        keys = keys_of(first.versions.get())
        assert keys == keys_of(second.versions.get())
    delete(bank, first)
    assert purge(bank)["filesOfOthersToo"] == 3
    with bank.scope():
        assert version_text(second.versions.get()).strip() == "The same words."
    delete(bank, second)
    assert purge(bank)["files"] == 3
    assert not any(map(is_stored, keys))


def test_an_upload_of_the_same_bytes_at_the_same_time_keeps_them(bank):
    """It has looked for the file and found it, but not committed when the purge counts."""
    document = bank.document("Old", "The same words.")
    with bank.scope():
        key = document.versions.get().object_key
    delete(bank, document)
    with bank.scope():
        retention._purge_words(document.pk)
    results = []

    def purge_meanwhile():
        try:
            results.append(purge(bank))
        finally:
            connections.close_all()

    with bank.scope():
        with transaction.atomic():
            again, _ = services.create_document(
                actor=None,
                title="New",
                department=bank.department(),
                upload=services.Upload(data=make_pdf("The same words.")),
            )
            other = threading.Thread(target=purge_meanwhile)
            other.start()
            _until_somebody_waits_for_an_object()
        other.join()
        assert storage.get(key)
        assert results[0]["filesOfOthersToo"] == 1
        assert ingest_version(version_id=again.versions.get().pk).status == VersionStatus.SEARCHABLE


def _until_somebody_waits_for_an_object():
    with connection.cursor() as cursor:
        for _ in range(400):
            cursor.execute(
                "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
                " WHERE d.datname = current_database() AND l.locktype = 'advisory'"
                " AND NOT l.granted"
            )
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.02)")
    raise AssertionError("the purge did not wait for the upload")


def test_a_crash_between_tables_and_files_is_made_good_by_the_next_purge(bank, monkeypatch):
    document = bank.document("Leave")
    with bank.scope():
        keys = keys_of(document.versions.get())
    delete(bank, document)

    def crash(key):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(storage, "remove", crash)
        purge(bank)
    assert all(map(is_stored, keys))
    with bank.scope():
        assert not Chunk.objects.exists()
    assert purge(bank) == {"files": 3, "filesOfOthersToo": 0}
    assert not any(map(is_stored, keys))


def test_a_version_that_is_still_being_indexed_is_not_finished_after_the_purge(bank, monkeypatch):
    document = bank.document("Leave", ingest=False)
    from documents.ingestion import passages

    embed = passages.embed_chunks

    def deleted_and_purged_meanwhile(*args, **kwargs):
        delete(bank, document)
        purge_due()
        return embed(*args, **kwargs)

    monkeypatch.setattr(passages, "embed_chunks", deleted_and_purged_meanwhile)
    with bank.scope():
        version = ingest_version(version_id=document.versions.get().pk)
        assert (version.status, version.failure_code) == (
            VersionStatus.FAILED,
            FailureCode.DELETED,
        )
        assert not Chunk.objects.exists()
    assert not any(map(is_stored, keys_of(version)))


def test_the_database_takes_no_passage_of_a_purged_document(bank):
    document = bank.document("Leave")
    with bank.scope():
        chunk = Chunk.objects.get()
    delete(bank, document)
    purge(bank)
    with bank.scope(), pytest.raises(IntegrityError, match="has no passages"):
        Chunk.objects.create(
            **{field.attname: getattr(chunk, field.attname) for field in Chunk._meta.fields}
        )


def test_a_deleted_document_is_not_indexed_any_more(bank):
    document = bank.document("Leave", ingest=False)
    delete(bank, document, days_ago=0)
    with bank.scope():
        version = ingest_version(version_id=document.versions.get().pk)
    assert version.failure_code == FailureCode.DELETED


def test_files_that_an_upload_left_without_committing_go_on_an_operators_word_only(bank):
    document = bank.document("Leave")
    with bank.scope():
        with pytest.raises(RuntimeError), transaction.atomic():
            key = storage.put(b"never committed")
            raise RuntimeError
        assert remove_orphans() == 0  # of today
        assert remove_orphans(older_than=timedelta(0)) == 1
        assert not is_stored(key)
        assert all(map(is_stored, keys_of(document.versions.get())))


def test_the_command_counts_and_the_sweep_finds_every_tenant(bank, other_bank, monkeypatch):
    for one in (bank, other_bank):
        delete(one, one.document("Leave"))
    out = io.StringIO()
    call_command("purge", "--tenant", bank.tenant.slug, "--json", stdout=out)
    assert json.loads(out.getvalue())["documents"] == 1
    monkeypatch.setattr(retention, "all_tenant_ids", lambda: [bank.tenant.id, other_bank.tenant.id])
    monkeypatch.setattr(retention, "_swept_at", None)
    retention.purge_everywhere()
    with other_bank.scope():
        assert Document.objects.get().files_purged_at is not None
    monkeypatch.setattr(retention, "purge_due", lambda: pytest.fail("swept again within the hour"))
    retention.purge_everywhere()


def test_a_tenant_may_keep_deleted_documents_for_longer_and_says_why(bank):
    call_command(
        "set_retention",
        *("--tenant", bank.tenant.slug, "--deleted-days", "3650", "--answers-days", "for-ever"),
        *("--reason", "The regulator asked."),
        stdout=io.StringIO(),
    )
    with bank.scope():
        tenant = Tenant.objects.get()
        assert (tenant.keep_deleted_days, tenant.keep_answers_days) == (3650, None)
        facts = AuditRecord.objects.get(action="tenant.retention_set").facts
        assert facts["reason"] == "The regulator asked."
    document = bank.document("Leave")
    delete(bank, document)
    assert purge(bank) == {}
    with bank.scope():
        assert DocumentVersion.objects.get(document=document).file_name
