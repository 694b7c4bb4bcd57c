"""What questions notice of an evaluation run in the background.

    python -m benchmarks.evaluation [--cases N] [--questions N] [--pause SECONDS] [--json]

Questions through the whole pipeline: first alone, then while the product's own worker runs `--cases`
cases. The ratio is of the 95th percentiles. Questions come at random, an exponential pause with the
mean `--pause` after each answer; with 0 somebody asks without end, the worst that a run can meet.
A tenant of its own each time, in .data-bench.
"""

import argparse
import json
import signal
import sys
import time
import uuid
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import connections  # noqa: E402

from benchmarks.ingest import (  # noqa: E402
    COMPANY,
    OFFICES,
    SUBJECTS,
    ask,
    end,
    in_the_background,
    load,
    p95,
    say,
)
from documents.ingestion import job  # noqa: E402
from evaluation.cases import create_case  # noqa: E402
from evaluation.models import CaseState, EvalRun, RunState  # noqa: E402
from evaluation.runs import start_run  # noqa: E402
from tenants import services as people  # noqa: E402
from tenants.models import User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402

PAGES = 10


def make_cases(rng: np.random.Generator, reader: User, count: int) -> None:
    for number in range(count):
        create_case(
            key=f"case-{number:05}",
            question=f"Who approves the request for {rng.choice(SUBJECTS)} number {number}?",
            as_user=reader,
            expected_outcome="answered",
            kind="generated",
            required_text=[str(rng.choice(OFFICES))],
            state=CaseState.ACTIVE,
        )


def asked(rng: np.random.Generator, reader: User, pause: float) -> float:
    """Milliseconds to the answer, after a pause."""
    time.sleep(rng.exponential(pause))
    return ask(reader, rng)


def beside_a_run(rng: np.random.Generator, reader: User, pause: float) -> dict[str, object]:
    """Questions for as long as the run goes on."""
    run = start_run()
    processes = in_the_background("qcluster", "dispatch_outbox")
    times: list[float] = []
    try:
        while EvalRun.objects.get(pk=run.pk).done == 0:  # until the worker is warm
            time.sleep(0.2)
        began, said = time.perf_counter(), 0
        while (now := EvalRun.objects.get(pk=run.pk)).state == RunState.RUNNING:
            times.append(asked(rng, reader, pause))
            if now.done // 100 != said:
                said = now.done // 100
                say(f"  {now.done} of {now.total} cases")
        seconds = time.perf_counter() - began
    finally:
        end(processes)
    return {"times": times, "seconds": round(seconds, 1), "state": now.state, "done": now.done}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=100, help="asked while nothing else runs")
    parser.add_argument("--pause", type=float, default=2.0, help="mean seconds between questions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # What it started in the background ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    rng = np.random.default_rng()
    tenant = people.create_tenant(slug=f"evaluation-{uuid.uuid4().hex[:8]}", name="Evaluation")
    with tenant_scope(tenant.id):
        reader = people.create_user(email=f"reader@{tenant.slug}.example", password=None)
        for _ in range(COMPANY):
            job.ingest_version(version_id=load(rng, PAGES, reader=reader).pk)
        say(f"Making {options.cases} cases")
        make_cases(rng, reader, options.cases)
        for _ in range(10):
            ask(reader, rng)
        say("Questions while nothing else runs")
        idle = [asked(rng, reader, options.pause) for _ in range(options.questions)]
        say(f"Questions while {options.cases} cases run")
        loaded = beside_a_run(rng, reader, options.pause)
    times = loaded.pop("times")
    result = {
        "cases": options.cases,
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
