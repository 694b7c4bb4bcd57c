"""How long a policy has no evidence while a new version of it is taken in, and what is cited then.

    python -m benchmarks.version_gap [--pages 20] [--json]

A document of 20 pages is replaced by one of which a single section says something else, under both
policies of when a new version supersedes the former. One asker asks about that section, one question
after the other, from before the upload until the new version is cited. The gap is the time from
acceptance, when the former version stops to be cited, until the new one is searchable.
"""

import argparse
import json
import random
import sys
import threading
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment

environment.set_up()

from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from answers.services import start_answer  # noqa: E402
from answers.transport import answer_to_the_end  # noqa: E402
from documents import services as documents  # noqa: E402
from documents.embedding import get_embedder  # noqa: E402
from documents.generations import serving_generation  # noqa: E402
from documents.ingestion.job import ingest_version  # noqa: E402
from documents.models import Document  # noqa: E402
from tenants import services as people  # noqa: E402
from tenants.models import Group, SupersedePolicy, Tenant, User  # noqa: E402
from tenants.scope import tenant_scope  # noqa: E402
from tests.pdf import make_pdf  # noqa: E402

QUESTION = "How many days of sabbatical leave may an employee take?"
RULE = "An employee may take {} days of sabbatical leave."
WORDS = [
    *("branch", "office", "manager", "client", "account", "review", "approval", "limit"),
    *("payment", "record", "request", "control", "report", "procedure", "risk", "annual"),
    *("written", "notice", "department", "system", "access", "contract", "supplier"),
]


def policy_text(pages: int, days: int) -> list[str]:
    """The same pages for the same number, but for one sentence in the middle."""
    rng = random.Random(4)
    texts = []
    for number in range(1, pages + 1):
        sentences = [" ".join(rng.choices(WORDS, k=12)).capitalize() + "." for _ in range(28)]
        if number == pages // 2:
            sentences.insert(10, RULE.format(days))
        texts.append(f"{number}. {rng.choice(WORDS).capitalize()}\n" + "\n".join(sentences))
    return texts


class Asker:
    """Asks until told to stop; keeps when each question began and ended and what was cited."""

    def __init__(self, tenant: Tenant, user: User):
        self.tenant, self.user = tenant, user
        self.seen: list[tuple] = []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            with tenant_scope(self.tenant.id):
                while not self.done.is_set():
                    began = timezone.now()
                    started = start_answer(
                        user=self.user, request_id=uuid.uuid4().hex, question=QUESTION
                    )
                    view = answer_to_the_end(user=self.user, started=started)
                    cited = view.citations[0].version if view.citations else None
                    self.seen.append((began, timezone.now(), cited))
                    if cited == 2:
                        return
        finally:
            connection.close()


def measure(policy: SupersedePolicy, pages: int) -> dict[str, object]:
    tenant = people.create_tenant(
        slug=f"gap-{uuid.uuid4().hex[:8]}", name="Version gap", supersede_policy=policy
    )
    with tenant_scope(tenant.id):
        user = people.create_user(email=f"{uuid.uuid4().hex[:8]}@bank.example", password=None)
        document, first = documents.create_document(
            actor=None,
            title="Leave",
            department=people.get_or_create_department(name="HR"),
            upload=documents.Upload(data=make_pdf(policy_text(pages, 30))),
            subjects=[Group.objects.get(built_in=True)],
        )
        ingest_version(version_id=first.version.id)
        get_embedder(serving_generation().embedder)  # as in a worker that runs already
        asker = Asker(tenant, user)
        asker.thread.start()
        while not asker.seen and asker.thread.is_alive():
            asker.thread.join(0.05)
        uploaded = timezone.now()
        version = documents.submit_version(
            actor=None,
            document=document,
            upload=documents.Upload(data=make_pdf(policy_text(pages, 45))),
        ).version
        version = ingest_version(version_id=version.id)
        asker.thread.join(60)
        asker.done.set()
        asker.thread.join()
        assert Document.objects.get(pk=document.pk).current_version_id == version.pk
    early = policy == SupersedePolicy.AT_ACCEPTANCE
    switched = version.accepted_at if early else version.searchable_at
    after = [cited for began, _, cited in asker.seen if began > switched]
    gap = (version.searchable_at - version.accepted_at).total_seconds() if early else 0.0
    return {
        "policy": str(policy),
        "pages": pages,
        "chunks": version.chunk_count,
        "upload_to_searchable_s": round((version.searchable_at - uploaded).total_seconds(), 2),
        "gap_s": round(gap, 2),
        "questions": len(asker.seen),
        "without_evidence": sum(cited is None for *_, cited in asker.seen),
        "old_cited_after_the_switch": after.count(1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = [measure(policy, options.pages) for policy in SupersedePolicy]
    if options.json:
        print(json.dumps(results))
        return
    for result in results:
        print(", ".join(f"{name} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
