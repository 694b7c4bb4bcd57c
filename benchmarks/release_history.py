"""Was everything permitted that was released, when it was released? From the record alone.

The audit record of a tenant is a chain: whoever appends to it holds it until the commit. So its
order is the order in which changes of access and releases took effect, and replaying it says what
each person could read at any moment. Nothing else is consulted but the release permits, which say
what each release relied on, and the citations, which say what it showed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from answers.models import Citation, ReleasePermit
from audit.models import AuditRecord
from tenants.models import Group

CITABLE = ("vetted", "archived")


@dataclass(slots=True)
class Paper:
    readers: set[str]
    life_cycle: str
    version: str | None = None
    deleted: bool = False


@dataclass(slots=True)
class Released:
    """What one release permit says. Ids as text, as the record keeps them."""

    caller: str
    versions: Mapping[str, str]
    cited: set[tuple[str, str]]


@dataclass(slots=True)
class Verdict:
    releases: int = 0
    sources: int = 0
    violations: list[str] = field(default_factory=list)


class History:
    """Who may read what, after each record."""

    def __init__(self, everyone: str):
        self.everyone = everyone
        self.papers: dict[str, Paper] = {}
        self.groups_of: dict[str, set[str]] = {}
        self.active: set[str] = set()

    def may_use(self, person: str, document: str, version: str) -> bool:
        paper = self.papers.get(document)
        return (
            paper is not None
            and person in self.active
            and not paper.deleted
            and paper.life_cycle in CITABLE
            and paper.version == version
            and bool(paper.readers & {person, *self.groups_of[person]})
        )

    def apply(self, action: str, ids: Mapping, facts: Mapping) -> None:
        match action:
            case "user.created":
                self.active.add(ids["user"])
                self.groups_of[ids["user"]] = {self.everyone, *ids["groups"]}
            case "user.activated":
                self.active.add(ids["user"])
            case "user.deactivated":
                self.active.discard(ids["user"])
            case "group.member_added":
                self.groups_of[ids["user"]].add(ids["group"])
            case "group.member_removed":
                self.groups_of[ids["user"]].discard(ids["group"])
            case "group.deleted":
                for holder in (
                    *self.groups_of.values(),
                    *(p.readers for p in self.papers.values()),
                ):
                    holder.discard(ids["group"])
            case "document.created":
                self.papers[ids["document"]] = Paper(set(facts["granted_to"]), facts["life_cycle"])
            case "document.version_in_force" | "document.version_reinstated":
                self.papers[ids["document"]].version = ids["version"]
            case "document.life_cycle_set":
                self.papers[ids["document"]].life_cycle = facts["to"]
            case "document.deleted":
                self.papers[ids["document"]].deleted = True
            case "grant.given":
                self.papers[ids["document"]].readers.add(ids.get("user") or ids["group"])
            case "grant.revoked":
                self.papers[ids["document"]].readers.discard(ids.get("user") or ids["group"])


def check_releases() -> Verdict:
    """Of the current tenant, from its first record to its last."""
    records = AuditRecord.objects.order_by("seq").values_list("action", "object_ids", "facts")
    return judge(records, released(), everyone=str(Group.objects.get(built_in=True).id))


def released() -> dict[str, Released]:
    """{id of the release permit: what it says}."""
    cited: dict[UUID, set[tuple[str, str]]] = {}
    for answer, document, version in Citation.objects.values_list(
        "claim__answer_id", "document_id", "version_id"
    ):
        cited.setdefault(answer, set()).add((str(document), str(version)))
    return {
        str(permit.id): Released(
            str(permit.caller), permit.document_versions, cited.get(permit.answer_id, set())
        )
        for permit in ReleasePermit.objects.all()
    }


def judge(
    records: Iterable[tuple[str, Mapping, Mapping]],
    releases: Mapping[str, Released],
    *,
    everyone: str,
) -> Verdict:
    """`records` are (action, object ids, facts) in the chain's order."""
    history, verdict, unseen = History(everyone), Verdict(), dict(releases)
    for action, ids, facts in records:
        history.apply(action, ids, facts)
        name = ids.get("release")
        if not name:
            continue
        verdict.releases += 1
        release = unseen.pop(name, None)
        if release is None:
            verdict.violations.append(f"Release {name} is recorded twice or has no permit.")
            continue
        verdict.sources += len(release.versions)
        if not release.cited or not release.cited <= set(release.versions.items()):
            verdict.violations.append(f"Release {name} cites what its permit does not name.")
        for document, version in release.versions.items():
            if not history.may_use(release.caller, document, version):
                verdict.violations.append(
                    f"Release {name} relies on {document}, which {release.caller} could not use."
                )
    verdict.violations += [f"Release {name} is not in the audit record." for name in unseen]
    return verdict
