"""Random questions by 20 people while access changes at random; then every release is judged.

    python -m benchmarks.revocation_storm [--seconds 120] [--questions 1000] [--documents N]
        [--generator extractive|quoting] [--json]

The bank is made of the policies and questions of the demo's Meridian bank, in a tenant of its own;
`quoting` stands in for the generator and leaves more time for collisions. Two threads change access:
grants, memberships, accounts, life-cycles, versions in force, deletions, and several documents in
one transaction. Afterwards `release_history` says, from the audit record and the release permits
alone, whether everything released was permitted at its release. Exit code 1 if not.
"""

import argparse
import json
import random
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if __name__ == "__main__":
    from benchmarks import environment

    environment.set_up()

from django.db import OperationalError, connections, transaction

from answers.excerpts import excerpts
from answers.generation import Generator, get_generator
from answers.models import Answer
from answers.pipeline import answer_question
from answers.services import start_answer
from benchmarks.release_history import Verdict, check_releases
from documents import services as documents
from documents.embedding import get_embedder
from documents.generations import serving_generation
from documents.ingestion.job import ingest_version
from documents.models import Document, DocumentVersion, LifeCycle, VersionStatus
from tenants import services as people
from tenants.models import Group, User
from tenants.scope import tenant_scope

ASKERS = 4
CHANGERS = 2
PAUSE_SECONDS = 0.03


class Quoting:
    """The beginnings of the best passages. What writes an answer does not matter here, time does."""

    name = processor = "storm-1"

    def generate(self, *, question, language, evidence):
        return excerpts(evidence)


@dataclass(frozen=True, slots=True)
class Scene:
    tenant_id: UUID
    people: Sequence[User]
    groups: Sequence[Group]
    documents: Sequence[Document]
    questions: Sequence[str]


@dataclass(slots=True)
class Storm:
    outcomes: Counter = field(default_factory=Counter)
    changes: Counter = field(default_factory=Counter)
    restarted: int = 0
    verdict: Verdict | None = None


def storm(
    scene: Scene, *, questions: int, seconds: float = 0.0, generator: Generator | None = None
) -> Storm:
    """Ask, spread over the seconds or as fast as can be, while access changes; then judge.

    Without a `generator` each answer is the beginnings of its passages.
    """
    generator = generator or Quoting()
    result, done, numbers = Storm(), threading.Event(), iter(range(questions))
    began, counting = time.monotonic(), threading.Lock()

    def ask_on() -> None:
        while True:
            with counting:
                number = next(numbers, None)
            if number is None:
                return
            time.sleep(max(0.0, began + number * seconds / questions - time.monotonic()))
            person, question = random.choice(scene.people), random.choice(scene.questions)
            answer = _ask(person, question, generator)
            with counting:
                result.outcomes[f"{answer.outcome} {answer.reason}".strip()] += 1
                result.restarted += answer.attempt > 1

    def change_on() -> None:
        while not done.wait(PAUSE_SECONDS):
            change = random.choice(CHANGES)
            try:
                changed = change(scene)
            except OperationalError:  # it was the one to give way in a deadlock
                changed = "gave way"
            with counting:
                result.changes[changed if isinstance(changed, str) else change.__name__] += 1

    with ThreadPoolExecutor(max_workers=ASKERS + CHANGERS) as threads:
        changing = [threads.submit(_in_scope, scene, change_on) for _ in range(CHANGERS)]
        asking = [threads.submit(_in_scope, scene, ask_on) for _ in range(ASKERS)]
        try:
            for asker in asking:
                asker.result()
        finally:
            done.set()
        for changer in changing:
            changer.result()
    with tenant_scope(scene.tenant_id):
        result.verdict = check_releases()
    return result


def _in_scope(scene: Scene, work: Callable[[], None]) -> None:
    try:
        with tenant_scope(scene.tenant_id):
            work()
    finally:
        connections.close_all()


def _ask(person: User, question: str, generator: Generator) -> Answer:
    started = start_answer(
        user=person, request_id=uuid.uuid4().hex, question=question, counted=False
    )
    for _ in answer_question(answer=started.answer, generator=generator):
        pass
    return Answer.objects.get(pk=started.answer.pk)


# --- Changes, each by the service that makes it in the product ---


def grant_or_revoke(scene: Scene) -> None:
    _flip_grant(random.choice(scene.documents), random.choice([*scene.groups, *scene.people]))


def several_at_once(scene: Scene) -> None:
    """In one transaction and no particular order, as a careless script would."""
    group = random.choice(scene.groups)
    with transaction.atomic():
        for document in random.sample(list(scene.documents), 3):
            _flip_grant(document, group)


def join_or_leave(scene: Scene) -> None:
    person, group = random.choice(scene.people), random.choice(scene.groups)
    if not people.remove_from_group(user=person, group=group):
        people.add_to_group(user=person, group=group)


def deactivate_and_activate(scene: Scene) -> None:
    person = User.objects.get(pk=random.choice(scene.people).pk)
    people.set_user_active(user=person, active=False)
    people.set_user_active(user=person, active=True)


def set_aside_or_vet(scene: Scene) -> None:
    document = Document.objects.get(pk=random.choice(scene.documents).pk)
    citable = document.life_cycle in (LifeCycle.VETTED, LifeCycle.ARCHIVED)
    life_cycle = LifeCycle.DRAFT if citable else random.choice(["vetted", "archived"])
    documents.set_life_cycle(actor=None, document=document, life_cycle=LifeCycle(life_cycle))


def switch_version(scene: Scene) -> None:
    versions = DocumentVersion.objects.filter(
        document=random.choice(scene.documents), status=VersionStatus.SEARCHABLE
    )
    documents.reinstate_version(actor=None, version=random.choice(list(versions)))


def delete_rarely(scene: Scene) -> str | None:
    if random.random() > 0.02:
        return "left alone"
    documents.delete_document(actor=None, document=random.choice(scene.documents))
    return None


CHANGES = [
    *[grant_or_revoke] * 4,
    several_at_once,
    join_or_leave,
    deactivate_and_activate,
    set_aside_or_vet,
    switch_version,
    delete_rarely,
]


def _flip_grant(document: Document, subject: User | Group) -> None:
    if not documents.revoke_access(actor=None, document=document, subject=subject):
        documents.grant_access(actor=None, document=document, subject=subject)


def demo_scene(count: int | None) -> Scene:
    """Twenty people in six groups, and the first `count` of the demo bank's policies, or all."""
    from demo.policy import read_policies

    tenant = people.create_tenant(slug=f"storm-{uuid.uuid4().hex[:8]}", name="Storm")
    policies = [p for p in read_policies() if p.tenant == "meridian"]
    slugs = list(dict.fromkeys(policy.slug for policy in policies))[:count]
    golden = json.loads((Path("demo") / "golden.json").read_text(encoding="utf-8"))
    with tenant_scope(tenant.id):
        groups = [people.create_group(name=f"group {number}") for number in range(6)]
        persons = [
            people.create_user(
                email=f"p{number}-{tenant.slug}@bank.example",
                password=None,
                groups=random.sample(groups, 2),
            )
            for number in range(20)
        ]
        department = people.get_or_create_department(name="All")
        made: dict[str, Document] = {}
        for policy in sorted(policies, key=lambda one: one.version):
            if policy.slug not in slugs:
                continue
            upload = documents.Upload(data=policy.pdf.read_bytes(), name=policy.pdf.name)
            if policy.slug in made:
                submission = documents.submit_version(
                    actor=None, document=made[policy.slug], upload=upload
                )
            else:
                made[policy.slug], submission = documents.create_document(
                    actor=None,
                    title=policy.title,
                    department=department,
                    upload=upload,
                    subjects=random.sample(groups, 3),
                )
            ingest_version(version_id=submission.version.id)
        wanted = [
            case["question"]
            for case in golden
            if case["tenant"] == "meridian" and set(case["required_documents"]) & set(slugs)
        ]
        return Scene(tenant.id, persons, groups, list(made.values()), wanted)


def _generator(scene: Scene, name: str) -> Generator:
    if name == "quoting":
        return Quoting()
    with tenant_scope(scene.tenant_id):
        return get_generator(name, embedder=get_embedder(serving_generation().embedder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--documents", type=int)
    parser.add_argument("--generator", choices=["extractive", "quoting"], default="extractive")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scene = demo_scene(options.documents)
    environment.analyze()
    began = time.monotonic()
    result = storm(
        scene,
        questions=options.questions,
        seconds=options.seconds,
        generator=_generator(scene, options.generator),
    )
    verdict = result.verdict
    report = {
        "seconds": round(time.monotonic() - began),
        "outcomes": dict(result.outcomes.most_common()),
        "changes": dict(result.changes.most_common()),
        "restarted": result.restarted,
        "releases": verdict.releases,
        "sources": verdict.sources,
        "violations": verdict.violations,
    }
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:<11}{value}")
    sys.exit(bool(verdict.violations))


if __name__ == "__main__":
    main()
