"""`kill -9` of the worker, of whoever reads the file, and of the database, at ten points each.

The same document is ingested in a tenant of its own without any kill and once for each point. After
the restart every row must be as without: chunks, terms, vectors, statistics, versions, files, records.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django_q.models import OrmQ

from audit.models import AuditRecord
from config.embedded_postgres import ensure_running, erase
from documents.dispatch import dispatch_tenant
from documents.models import (
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    CorpusStatistics,
    Document,
    DocumentVersion,
    OutboxEvent,
    TermStatistics,
    VersionStatus,
)
from tests.bank import Bank
from tests.conftest import _connect_as
from tests.documents.ingestion.test_job import _with_store

PAGES = [f"Rule {n}. The allowance of branch {n} is {n + 20} days a year." for n in range(1, 13)]
POINTS = range(1, 11)
# Each restart of a database takes seconds: .ci/run takes all ten points, others some of them.
DATABASE_POINTS = range(1, 11, 1 if os.environ.get("PRECEPT_ALL_KILLS") else 3)


class Nursery:
    """The process that forks workers; see the module of that name."""

    def __init__(self, env: dict[str, str]):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.documents.ingestion.nursery"],
            env=_with_store(os.environ | env | {"DJANGO_SETTINGS_MODULE": "config.settings"}),
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout.readline() == "ready\n"

    def work(self, bank: Bank, version, *, kill: str | None = None, at: int = 0, **more) -> dict:
        order = {"tenant": str(bank.tenant.id), "version": str(version.id), "kill": kill, "at": at}
        self._process.stdin.write(json.dumps(order | more) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


class Ward:
    """Where documents are ingested, with the state that one has when nothing was killed."""

    def __init__(self, env: dict[str, str]):
        self.nursery = Nursery(env)
        bank, version = self.admit()
        done = self.nursery.work(bank, version)
        assert done["status"] == 0
        self.statements, self.whole = done["statements"], state_of(bank)
        assert self.whole["versions"][1]["status"] == VersionStatus.SEARCHABLE
        assert len(self.whole["chunks"]) - 1 == len(PAGES)

    def admit(self) -> tuple[Bank, DocumentVersion]:
        """A document with a version in force and a second one that waits."""
        bank = Bank.create()
        document = bank.document(text="Rule 1. The allowance is 20 days.", ingest=False)
        with bank.scope():
            first = document.versions.get()
        assert self.nursery.work(bank, first)["status"] == 0
        version = bank.new_version(document, PAGES, ingest=False)
        dispatch_tenant(bank.tenant.id)
        return bank, version

    def at(self, point: int) -> int:
        """The number of a statement: ten of them, evenly from the first to the last."""
        return 1 + (point - 1) * (self.statements - 1) // (len(POINTS) - 1)

    def recover(self, bank: Bank, version: DocumentVersion) -> None:
        """What the product does: the lease runs out, the dispatcher hands out, a worker takes it."""
        with bank.scope():
            assert_whole_or_absent(version)
            DocumentVersion.objects.filter(
                pk=version.pk, status__in=[VersionStatus.RECEIVED, VersionStatus.ACCEPTED]
            ).update(lease_until="2024-01-01T00:00Z")
            version.refresh_from_db()
        handed_over = dispatch_tenant(bank.tenant.id)
        assert handed_over == (version.status != VersionStatus.SEARCHABLE)
        OrmQ.objects.all().delete()
        assert self.nursery.work(bank, version)["status"] == 0
        assert state_of(bank) == self.whole


def assert_whole_or_absent(version: DocumentVersion) -> None:
    version.refresh_from_db()
    count = len(PAGES) if version.status == VersionStatus.SEARCHABLE else 0
    assert Chunk.objects.filter(version=version).count() == count
    assert ChunkEmbedding.objects.filter(version=version).count() == count
    assert ChunkTerm.objects.filter(version=version).exists() == bool(count)


def state_of(bank: Bank) -> dict:
    """Everything that ingestion leaves, without ids and times."""
    with bank.scope():
        chunks = Chunk.objects.order_by("version__number", "ordinal")
        place = ("version__number", "chunk__ordinal")
        vectors = ChunkEmbedding.objects.order_by(*place).select_related("chunk", "version")
        root = settings.OBJECT_STORE_DIR / str(bank.tenant.id)
        return {
            "chunks": list(
                chunks.values_list(
                    "version__number",
                    *("ordinal", "chunking", "section", "page", "start", "end", "text"),
                    *("sha256", "language"),
                )
            ),
            "terms": sorted(ChunkTerm.objects.values_list(*place, "term", "tf", "length")),
            "vectors": [
                (v.version.number, v.chunk.ordinal, v.live, list(v.vector)) for v in vectors
            ],
            "statistics": sorted(TermStatistics.objects.values_list("term", "document_frequency")),
            "corpus": list(CorpusStatistics.objects.values_list("chunk_count", "total_length")),
            "versions": list(
                DocumentVersion.objects.order_by("number").values(
                    *("number", "status", "sha256", "text_sha256", "page_map", "page_count"),
                    *("chunk_count", "language", "lease", "lease_until", "failure_code"),
                    *("progress_done", "progress_total", "queued", "waits_for_date"),
                )
            ),
            "in force": list(Document.objects.values_list("current_version__number", flat=True)),
            "files": sorted(path.name for path in root.rglob("*") if path.is_file()),
            "records": Counter(AuditRecord.objects.values_list("action", flat=True)),
            "events waiting": OutboxEvent.objects.filter(dispatched_at=None).count(),
        }


@pytest.fixture(scope="module")
def ward(database):
    ward = Ward(database)
    yield ward
    ward.nursery.close()


@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_statement_leaves_the_state_of_one_that_was_not(ward, point):
    bank, version = ward.admit()
    ended = ward.nursery.work(bank, version, kill="worker", at=ward.at(point))
    assert ended["status"] == -signal.SIGKILL
    ward.recover(bank, version)


@pytest.mark.parametrize("point", POINTS)
def test_a_reader_killed_while_it_gets_or_reads_the_file_is_replaced_in_the_same_job(ward, point):
    bank, version = ward.admit()
    ended = ward.nursery.work(bank, version, kill="parser", at=point)
    assert (ended["status"], ended["killed"]) == (0, 1)
    assert state_of(bank) == ward.whole


class OtherServer:
    """A database server that may be killed, for the time of these tests also this process's own."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.server = ensure_running(data_dir=directory)
        _connect_as(self.server.owner_url)
        call_command("migrate", verbosity=0)
        call_command("createcachetable", verbosity=0)
        _connect_as(self.server.app_url)

    @property
    def postmaster(self) -> int:
        return int((self.server.location / "pgdata" / "postmaster.pid").read_text().split()[0])

    def back(self) -> None:
        """Whatever died is up again: PostgreSQL itself after a backend, the product's own start else."""
        connections.close_all()
        port = self.server.port
        self.server = ensure_running(data_dir=self.directory)
        assert self.server.port == port
        for _ in range(600):
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.server.app_url, connect_timeout=5).close()
                return
            threading.Event().wait(0.05)
        raise AssertionError("the database did not come back")


@pytest.fixture(scope="module")
def other_ward(database):
    # Not below pytest's own directory, which the server's account cannot enter.
    directory = Path(tempfile.mkdtemp(prefix="precept-test-")).resolve()
    directory.chmod(0o755)
    before = database["DATABASE_URL"]
    try:
        other = OtherServer(directory)
        env = {**database, "DATABASE_URL": other.server.app_url}
        ward = Ward(env)
        yield ward, other
        ward.nursery.close()
    finally:
        _connect_as(before)
        erase(data_dir=directory)
        shutil.rmtree(directory)


@pytest.mark.parametrize("point", DATABASE_POINTS)
def test_a_database_killed_at_any_statement_leaves_the_state_of_one_that_was_not(other_ward, point):
    """By turns one of its processes, after which PostgreSQL restarts all, and its postmaster."""
    ward, other = other_ward
    bank, version = ward.admit()
    victim = "backend" if point % 2 else "postmaster"
    ended = ward.nursery.work(
        bank, version, kill=victim, at=ward.at(point), postmaster=other.postmaster
    )
    assert ended["status"] in (0, 1)
    other.back()
    ward.recover(bank, version)
