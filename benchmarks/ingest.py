"""How fast documents become searchable, and what questions notice of it.

    python -m benchmarks.ingest [--documents N] [--pages N] [--questions N] [--json]

First, pages and passages per second of each stage, here, on one document. Then questions one after
the other through the whole pipeline, over ten more documents: first alone, then while the worker
and the dispatcher that the product runs index `--documents` documents in the background. The ratio
is of the 95th percentiles. A tenant of its own each time, in .data-bench.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import connections  # noqa: E402

from answers.services import start_answer  # noqa: E402
from answers.transport import answer_to_the_end  # noqa: E402
from documents import services as documents  # noqa: E402
from documents.embedding import get_embedder  # noqa: E402
from documents.generations import serving_generation  # noqa: E402
from documents.ingestion import job  # noqa: E402
from documents.ingestion.chunkings import chunker  # noqa: E402
from documents.ingestion.lease import claim  # noqa: E402
from documents.ingestion.passages import make_passages  # noqa: E402
from documents.ingestion.publish import publish  # noqa: E402
from documents.models import UNFINISHED, Document, DocumentVersion, Priority, VersionStatus  # noqa: E402
from tenants import services as people  # noqa: E402
from tenants.models import User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402

SUBJECTS = ["leave", "travel", "cash", "cards", "phones", "badges", "keys", "parking", "training"]
OFFICES = ["the branch manager", "the front office", "the help desk", "the owner", "the team"]
COMPANY = 10


def pages_of(rng: np.random.Generator, count: int) -> list[list[str]]:
    """Each of some 250 words, as a page of a policy has."""
    return [
        [
            f"The request number {rng.integers(10**6)} for {rng.choice(SUBJECTS)} is approved by"
            f" {rng.choice(OFFICES)} within {rng.integers(2, 40)} days."
            for _ in range(17)
        ]
        for _ in range(count)
    ]


def pdf_of(pages: list[list[str]]) -> bytes:
    import io

    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for lines in pages:
        for row, line in enumerate(lines):
            canvas.drawString(50, 780 - 16 * row, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def load(rng, pages: int, *, reader: User, priority: Priority = Priority.SINGLE) -> DocumentVersion:
    _, submission = documents.create_document(
        actor=None,
        title=f"Paper {uuid.uuid4().hex[:8]}",
        department=people.get_or_create_department(name="Papers"),
        upload=documents.Upload(data=pdf_of(pages_of(rng, pages))),
        subjects=[reader],
        priority=priority,
    )
    return submission.version


def stages(rng, pages: int, reader: User) -> dict[str, dict[str, float]]:
    """Pages and passages per second of each step of one job, one after the other."""
    version, spent = load(rng, pages, reader=reader), {}
    generation = serving_generation()
    get_embedder(generation.embedder).embed_passages(["warm"])

    def timed(name: str, step: Callable[[], object]) -> object:
        began = time.perf_counter()
        result = step()
        spent[name] = time.perf_counter() - began
        return result

    with claim(version.id) as lease:
        extracted = timed("read", lambda: job._read(version, lease))
        chunks = timed("chunk", lambda: chunker(generation.chunking)(extracted))
        made = timed(
            "embed",
            lambda: make_passages(
                version=version,
                generation=generation,
                chunks=chunks,
                language="en",
                done=lambda count: None,
            ),
        )
        timed(
            "publish",
            lambda: publish(
                version=version,
                generation=generation,
                extracted=extracted,
                built=made.built,
                lease=lease,
            ),
        )
    return {
        name: {
            "pagesPerSecond": round(pages / seconds, 1),
            "passagesPerSecond": round(len(chunks) / seconds, 1),
        }
        for name, seconds in spent.items()
    }


def ask(reader: User, rng: np.random.Generator) -> float:
    """Milliseconds from a question to its answer or refusal."""
    question = f"Who approves the request for {rng.choice(SUBJECTS)} number {rng.integers(10**6)}?"
    began = time.perf_counter()
    started = start_answer(
        user=reader, request_id=uuid.uuid4().hex, question=question, counted=False
    )
    answer_to_the_end(user=reader, started=started)
    return (time.perf_counter() - began) * 1000


def waiting() -> int:
    return DocumentVersion.objects.filter(status__in=UNFINISHED).count()


def in_the_background(*commands: str) -> list[subprocess.Popen]:
    """The product's own processes, in sessions of their own."""
    return [
        subprocess.Popen(
            [sys.executable, environment.ROOT / "manage.py", command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for command in commands
    ]


def end(processes: list[subprocess.Popen]) -> None:
    """The leaders are asked, as they know the order; then whatever is left of their sessions."""
    for process in processes:
        process.terminate()
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def under_load(rng, reader: User, *, count: int, pages: int) -> dict[str, object]:
    """Questions for as long as documents are being indexed."""
    for _ in range(count):
        load(rng, pages, reader=reader, priority=Priority.BULK)
    processes = in_the_background("qcluster", "dispatch_outbox")
    try:
        while waiting() == count:  # until the worker is warm and has finished the first
            time.sleep(0.2)
        began, left, times = time.perf_counter(), waiting(), []
        while waiting():
            times.append(ask(reader, rng))
        seconds = time.perf_counter() - began
    finally:
        end(processes)
    failed = DocumentVersion.objects.filter(status=VersionStatus.FAILED).count()
    return {
        "times": times,
        "documentsPerMinute": round(60 * left / seconds, 1),
        "pagesPerSecond": round(pages * left / seconds, 1),
        "failed": failed,
    }


def p95(times: list[float]) -> float:
    return round(float(np.percentile(times, 95)), 1)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--questions", type=int, default=100, help="asked while nothing else runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # What it started in the background ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    rng = np.random.default_rng()
    tenant = people.create_tenant(slug=f"ingest-{uuid.uuid4().hex[:8]}", name="Ingestion")
    with tenant_scope(tenant.id):
        reader = people.create_user(email=f"reader@{tenant.slug}.example", password=None)
        say("Stages")
        by_stage = stages(rng, options.pages, reader)
        # As many passages to choose from, and so to read, as there are under load.
        for _ in range(COMPANY):
            job.ingest_version(version_id=load(rng, options.pages, reader=reader).pk)
        for _ in range(10):
            ask(reader, rng)
        say("Questions while nothing else runs")
        idle = [ask(reader, rng) for _ in range(options.questions)]
        say(f"Questions while {options.documents} documents are indexed")
        loaded = under_load(rng, reader, count=options.documents, pages=options.pages)
        searchable = Document.objects.filter(
            current_version__status=VersionStatus.SEARCHABLE
        ).count()
    times = loaded.pop("times")
    result = {
        "stages": by_stage,
        "documents": options.documents,
        "pages": options.pages,
        "searchable": searchable,
        **loaded,
        "questions": {"idle": len(idle), "loaded": len(times)},
        "idleP95Ms": p95(idle),
        "loadedP95Ms": p95(times) if times else None,
        "ratio": round(p95(times) / p95(idle), 2) if times else None,
    }
    print(json.dumps(result, indent=None if options.json else 2))
    connections.close_all()


if __name__ == "__main__":
    main()
