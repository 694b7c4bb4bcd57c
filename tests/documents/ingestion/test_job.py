"""A version from received to searchable, whatever file it is and whatever dies meanwhile."""

import os
import signal
import subprocess
import sys

import pytest
from django.conf import settings
from django_q.models import OrmQ

from documents import services
from documents.dispatch import dispatch_tenant
from documents.ingestion import job, passages
from documents.ingestion.job import ingest_version
from documents.models import (
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    CorpusStatistics,
    Document,
    DocumentVersion,
    FailureCode,
    TermStatistics,
    VersionStatus,
)
from documents.selectors import version_text
from tests.pdf import make_pdf


def submit(bank, data: bytes, name: str = "file.pdf", **fields) -> DocumentVersion:
    with bank.scope():
        _, submission = services.create_document(
            actor=None,
            title=name,
            department=bank.department(),
            upload=services.Upload(data=data, name=name),
            **fields,
        )
    return submission.version


def ingest(bank, version) -> DocumentVersion:
    with bank.scope():
        return ingest_version(version_id=version.id)


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("minimal-document.pdf", 1),
        ("pdflatex-4-pages.pdf", 4),
        ("multicolumn.pdf", 3),
        ("crazyones-pdfa.pdf", 1),
        ("imagemagick-images.pdf", None),
    ],
)
def test_a_real_file_becomes_searchable_with_its_pages(bank, test_data, name, pages):
    version = ingest(bank, submit(bank, (test_data / "pdfs" / name).read_bytes(), name))
    assert version.status == VersionStatus.SEARCHABLE
    assert pages is None or version.page_count == pages
    with bank.scope():
        text = version_text(version)
        for chunk in Chunk.objects.filter(version=version):
            assert text[chunk.start : chunk.end] == chunk.text
            [[_, start, end]] = [span for span in version.page_map if span[0] == chunk.page]
            assert start <= chunk.start < chunk.end <= end


def test_a_long_real_file_with_ligatures_and_nul_has_its_page_numbers_right(bank, test_data):
    data = (test_data / "pdfs" / "GeoTopo-komprimiert.pdf").read_bytes()
    version = submit(bank, data)
    with bank.scope():
        extracted = job.extract(data)
        assert extracted.page_count == 117
        assert "\x00" not in extracted.text
        assert not set("ﬀﬁﬂﬃﬄ") & set(extracted.text)
        with job.claim(version.id) as lease:
            job.accept(version=version, extracted=extracted, lease=lease)
        version.refresh_from_db()
    assert version.status == VersionStatus.ACCEPTED
    assert version.page_map[116][0] == 117


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("libreoffice-writer-password.pdf", FailureCode.ENCRYPTED),
        ("unreadablemetadata.pdf", FailureCode.DAMAGED),
        ("grayscale-image.pdf", FailureCode.NO_TEXT),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_a_sentence_that_says_what_to_do(
    bank, test_data, name, code
):
    version = ingest(bank, submit(bank, (test_data / "pdfs" / name).read_bytes(), name))
    assert (version.status, version.failure_code) == (VersionStatus.FAILED, code)
    assert version.failure_reason.endswith(".")
    assert len(version.failure_reason.split()) > 6
    with bank.scope():
        assert not Chunk.objects.filter(version=version).exists()
        assert Document.objects.get(pk=version.document_id).current_version is None


def test_a_failing_new_version_leaves_the_previous_one_in_force(bank, test_data):
    document = bank.document("Leave")
    first = document.current_version_id
    with bank.scope():
        data = (test_data / "pdfs" / "libreoffice-writer-password.pdf").read_bytes()
        second = services.submit_version(
            actor=None, document=document, upload=services.Upload(data=data)
        ).version
    ingest(bank, second)
    with bank.scope():
        document.refresh_from_db()
    assert document.current_version_id == first


def test_ingesting_again_changes_nothing(bank):
    document = bank.document("Leave")
    with bank.scope():
        before = list(Chunk.objects.filter(document=document).values())
        ingest_version(version_id=document.current_version_id)
        assert list(Chunk.objects.filter(document=document).values()) == before


def test_the_statistics_count_what_the_index_holds(bank):
    bank.document("One", "Zebra zebra crossing.")
    bank.document("Two", "Zebra stripes.")
    with bank.scope():
        corpus = CorpusStatistics.objects.get()
        assert corpus.chunk_count == Chunk.objects.count() == 2
        assert TermStatistics.objects.get(term="en:zebra").document_frequency == 2
        assert ChunkTerm.objects.get(term="en:zebra", tf=2)


def test_a_crash_between_building_and_publishing_leaves_nothing_searchable(bank, monkeypatch):
    version = submit(bank, make_pdf("Annual leave allowance is 25 days."))

    def crash(**_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job, "publish", crash)
        with pytest.raises(KeyboardInterrupt):
            ingest(bank, version)
    with bank.scope():
        assert not Chunk.objects.filter(version=version).exists()
        DocumentVersion.objects.filter(pk=version.pk).update(lease=None)
    assert ingest(bank, version).status == VersionStatus.SEARCHABLE


def test_two_workers_never_work_on_one_version_at_once(bank):
    version = submit(bank, make_pdf("Annual leave allowance is 25 days."))
    with bank.scope(), job.claim(version.id) as first, job.claim(version.id) as second:
        assert first is not None
        assert second is None


def test_a_worker_that_lost_its_lease_publishes_nothing(bank, monkeypatch):
    version = submit(bank, make_pdf("Annual leave allowance is 25 days."))
    embed = passages.embed_chunks

    def somebody_else_takes_over(*args, **kwargs):
        vectors = embed(*args, **kwargs)
        DocumentVersion.objects.filter(pk=version.pk).update(lease=bank.tenant.id)
        return vectors

    monkeypatch.setattr(passages, "embed_chunks", somebody_else_takes_over)
    assert ingest(bank, version).status == VersionStatus.ACCEPTED
    with bank.scope():
        assert not Chunk.objects.filter(version=version).exists()


def test_a_version_that_fails_its_validation_is_not_published(bank, monkeypatch):
    version = submit(bank, make_pdf("Annual leave allowance is 25 days."))
    embed = passages.embed_chunks

    def another_embedders_vectors(*args, **kwargs):
        return embed(*args, **kwargs)[:, ::-1] * 0

    monkeypatch.setattr(passages, "embed_chunks", another_embedders_vectors)
    done = ingest(bank, version)
    assert (done.status, done.failure_code) == (VersionStatus.FAILED, FailureCode.INVALID)
    with bank.scope():
        assert not Chunk.objects.filter(version=version).exists()
        assert not ChunkEmbedding.objects.filter(version=version).exists()


def test_the_outbox_event_commits_with_the_version_or_not_at_all(bank):
    from django.db import transaction

    from documents.models import OutboxEvent

    with bank.scope():
        with pytest.raises(RuntimeError), transaction.atomic():
            submit(bank, make_pdf("Gone."))
            raise RuntimeError
        assert not OutboxEvent.objects.exists()
        assert not DocumentVersion.objects.exists()
        submit(bank, make_pdf("Here."))
        assert OutboxEvent.objects.get().dispatched_at is None


KILLED_WORKER = """
import os, signal, sys
import django
django.setup()
from uuid import UUID
from documents.ingestion import job, passages
from documents.tasks import ingest_version
point = sys.argv[3]
if point == "embedding":
    embed = passages.embed_chunks
    def die(*args, **kwargs):
        kwargs["done"] = lambda count: os.kill(os.getpid(), signal.SIGKILL)
        return embed(*args, **kwargs)
    passages.embed_chunks = die
elif point == "publishing":
    from documents.ingestion import publish
    write = publish.write_index
    def die(**kwargs):
        write(**kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
    publish.write_index = die
elif point == "reading":
    def die(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)
    job.extract = die
ingest_version(sys.argv[1], sys.argv[2])
"""


@pytest.mark.parametrize("point", ["reading", "embedding", "publishing"])
def test_a_worker_killed_in_the_middle_is_replaced_and_leaves_exactly_one_set_of_chunks(
    bank, database, point
):
    """A real process dies of SIGKILL; the lease runs out; the dispatcher hands the version out; a
    real worker cluster finishes it."""
    version = submit(bank, make_pdf(["Annual leave allowance is 25 days."] * 3))
    env = (
        os.environ
        | database
        | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(settings.BASE_DIR),
        }
    )
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WORKER, str(bank.tenant.id), str(version.id), point],
        env=_with_store(env),
        cwd=settings.BASE_DIR,
    )
    assert killed.returncode == -signal.SIGKILL
    with bank.scope():
        assert not Chunk.objects.filter(version=version).exists()
        # Let the dead worker's lease run out now instead of waiting for it.
        DocumentVersion.objects.filter(pk=version.pk).update(lease_until="2024-01-01T00:00Z")
    OrmQ.objects.all().delete()  # what other tests left in the queue
    assert dispatch_tenant(bank.tenant.id) >= 1
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "qcluster"],
        env=_with_store(env),
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with bank.scope():
            done = _wait_until_done(version)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    assert done.status == VersionStatus.SEARCHABLE
    with bank.scope():
        ordinals = list(
            Chunk.objects.filter(version=version).order_by("ordinal").values_list("ordinal", flat=1)
        )
        assert ordinals == [0, 1, 2]
        assert ChunkEmbedding.objects.filter(version=version).count() == 3


def _with_store(env: dict[str, str]) -> dict[str, str]:
    # The tests' object store is not below the data directory.
    return env | {"PRECEPT_OBJECT_STORE_DIR": str(settings.OBJECT_STORE_DIR)}


def _wait_until_done(version: DocumentVersion) -> DocumentVersion:
    """Ask until it is final; the worker says when, not a clock of ours."""
    from django.db import connection

    for _ in range(600):
        version.refresh_from_db()
        if version.status in (VersionStatus.SEARCHABLE, VersionStatus.FAILED):
            break
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.1)")
    return version
