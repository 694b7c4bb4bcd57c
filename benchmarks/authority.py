"""Admissions and releases per second, and how long one takes, with and without revocations.

    python -m benchmarks.authority [--seconds 4] [--revocations 50] [--json]

Each connection is a process of its own that decides, one decision after the other, about eight
documents drawn at random from 400, for one of 40 readers. With revocations, another process takes
grants on those documents away at that rate and gives each back at once; what it made ineligible is
counted out or, for releases, refused, which is also a decision. A release includes its audit record.
"""

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import connections  # noqa: E402

from answers import authority  # noqa: E402
from answers.grounding import GroundedAnswer, GroundedClaim, GroundedQuote  # noqa: E402
from answers.models import Answer, Outcome, PermitStep  # noqa: E402
from benchmarks import generated_bank  # noqa: E402
from documents import services as documents  # noqa: E402
from documents.models import Document  # noqa: E402
from tenants import services as people  # noqa: E402
from tenants.models import Group, Tenant, User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402

CONNECTIONS = (1, 4, 16)
DOCUMENTS_EACH = 8


@dataclass(frozen=True, slots=True)
class Bank:
    tenant: Tenant
    readers: list[User]
    documents: list[Document]
    everyone: Group


def make_bank() -> Bank:
    tenant = people.create_tenant(slug=f"authority-{uuid4().hex[:8]}", name="Authority benchmark")
    with tenant_scope(tenant.id):
        bank = Bank(
            tenant=tenant,
            readers=generated_bank.make_people(40),
            documents=generated_bank.make_documents(400),
            everyone=Group.objects.get(built_in=True),
        )
        generated_bank.make_grants([(document, bank.everyone) for document in bank.documents])
    environment.analyze()
    return bank


def admissions(bank: Bank) -> Iterator[Callable[[], object]]:
    """Decisions to be timed, one after the other."""
    answers = generated_bank.make_answers(bank.readers)
    while True:
        answer, chunks = random.choice(answers), _chunks(bank)
        yield lambda: _admit(answer, PermitStep.RERANK, chunks)  # noqa: B023


def releases(bank: Bank) -> Iterator[Callable[[], object]]:
    """What goes before a release is not timed."""
    while True:
        for answer in generated_bank.make_answers(random.choices(bank.readers, k=50)):
            context = _admit(answer, PermitStep.GENERATE, _chunks(bank))
            yield lambda: _release(answer, context)  # noqa: B023


def _chunks(bank: Bank) -> list:
    drawn = random.sample(bank.documents, DOCUMENTS_EACH)
    return [generated_bank.chunk_of(document.current_version_id) for document in drawn]


def _admit(answer: Answer, step: PermitStep, chunks: list) -> authority.Admission:
    return authority.admit(
        answer=answer,
        step=step,
        processor="benchmark",
        chunk_ids=chunks,
        cosines=dict.fromkeys(chunks, 0.5),
    )


def _release(answer: Answer, context: authority.Admission) -> bool:
    """One claim with a quote from each of three passages."""
    quotes = tuple(
        GroundedQuote(source=chunk.number, start=0, end=20, quote=chunk.text[:20])
        for chunk in context.evidence[:3]
    )
    claim = GroundedClaim(ordinal=1, text="The allowance is 25 days.", citations=quotes)
    try:
        released = authority.release(
            answer=answer,
            context=context.permit,
            grounded=GroundedAnswer((claim,)),
            evidence=context.evidence,
            finish={"outcome": Outcome.ANSWERED},
        )
    except authority.SourcesChanged:
        return False
    return released is not None


def decide_for(bank: Bank, kind: str, seconds: float, start, results) -> None:
    """One connection's work; puts the milliseconds of each decision."""
    random.seed()
    with tenant_scope(bank.tenant.id):
        decisions = {"admissions": admissions, "releases": releases}[kind](bank)
        next(decisions)()  # the connection, the caches
        start.wait()
        taken, until = [], time.monotonic() + seconds
        while time.monotonic() < until:
            decision = next(decisions)
            began = time.perf_counter()
            decision()
            taken.append((time.perf_counter() - began) * 1000)
    connections.close_all()
    results.put(taken)


def revoke_and_grant(bank: Bank, per_second: float, seconds: float, start, results) -> None:
    random.seed()
    with tenant_scope(bank.tenant.id):
        start.wait()
        began, count = time.monotonic(), 0
        while (now := time.monotonic()) < began + seconds:
            if now < began + count / per_second:
                time.sleep(began + count / per_second - now)
            document = random.choice(bank.documents)
            documents.revoke_access(actor=None, document=document, subject=bank.everyone)
            documents.grant_access(actor=None, document=document, subject=bank.everyone)
            count += 1
    connections.close_all()
    results.put(count)


def measure(bank: Bank, kind: str, count: int, seconds: float, revocations: float) -> dict:
    connections.close_all()  # nothing may be shared with the processes
    process = multiprocessing.get_context("fork")
    start, results, changes = process.Barrier(count + bool(revocations)), process.Queue(), None
    workers = [
        process.Process(target=decide_for, args=(bank, kind, seconds, start, results))
        for _ in range(count)
    ]
    if revocations:
        changes = process.Queue()
        arguments = (bank, revocations, seconds, start, changes)
        workers.append(process.Process(target=revoke_and_grant, args=arguments))
    for worker in workers:
        worker.start()
    taken = sorted(one for _ in range(count) for one in results.get())
    changed = changes.get() if changes else 0
    for worker in workers:
        worker.join()
    return {
        "decision": kind,
        "connections": count,
        "revocations_per_second": round(changed / seconds, 1),
        "per_second": round(len(taken) / seconds),
        "p50_ms": round(taken[len(taken) // 2], 2),
        "p95_ms": round(taken[int(len(taken) * 0.95)], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="for each of the 12 runs")
    parser.add_argument("--revocations", type=float, default=50.0, help="per second")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bank = make_bank()
    rows = []
    for kind in ("admissions", "releases"):
        for revocations in (0.0, options.revocations):
            for count in CONNECTIONS:
                row = measure(bank, kind, count, options.seconds, revocations)
                rows.append(row)
                print(
                    f"{row['decision']:<11}{row['connections']:>3} connections"
                    f"{row['revocations_per_second']:>6} revocations/s{row['per_second']:>6} /s"
                    f"   p50 {row['p50_ms']:>6} ms   p95 {row['p95_ms']:>6} ms",
                    file=sys.stderr if options.json else sys.stdout,
                    flush=True,
                )
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
