"""What happened to a document, as the audit record has it: versions, life-cycle, readers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from audit.models import AuditRecord
from audit.selectors import history_of
from tenants.models import Group, User
from tenants.selectors import names_of_people

from .access import overseen_documents
from .models import Document, FailureCode, LifeCycle, Verdict


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `who` is empty for Precept itself and for the command line."""

    at: datetime
    who: str
    what: str
    why: str = ""


def history(*, user: User, document: Document) -> list[Event]:
    """The latest 200 events of a document that this person oversees, newest first.

    A decision about a pair of documents is left out where the other one is not theirs to see.
    """
    overseen = overseen_documents(user=user)
    if not overseen.filter(pk=document.pk).exists():
        return []
    records = history_of(name="document", key=document.pk, actions=[*_TOLD])
    pairs = [
        *history_of(name="document", key=document.pk, actions=[_DECIDED]),
        *history_of(name="other", key=document.pk, actions=[_DECIDED]),
    ]
    titles = _titles(overseen, pairs)
    shown = [record for record in pairs if {*_pair(record)} <= titles.keys()]
    everything = sorted([*records, *shown], key=lambda record: record.seq, reverse=True)
    names = _names(everything)
    return [
        Event(
            at=record.at,
            who=names.get(str(record.actor), "Somebody") if record.actor else "",
            what=_TOLD[record.action](record, names)
            if record.action in _TOLD
            else _decided(record, titles),
            why=str(record.facts.get("reason") or ""),
        )
        for record in everything
    ]


_DECIDED = "document.duplicate_decided"


def _titles(overseen, records: list[AuditRecord]) -> dict[str, str]:
    ids = {key for record in records for key in _pair(record)}
    found = overseen.filter(pk__in=ids).values_list("pk", "title") if ids else ()
    return {str(key): title for key, title in found}


def _pair(record: AuditRecord) -> tuple[str, str]:
    return record.object_ids["document"], record.object_ids["other"]


def _decided(record: AuditRecord, titles: dict[str, str]) -> str:
    one, other = (titles[key] for key in _pair(record))
    verdict = Verdict(record.facts["verdict"])
    if verdict == Verdict.DIFFERENT:
        return f"“{one}” and “{other}” are different documents"
    aside = record.facts["set_aside"]
    kept = other if aside == record.object_ids["document"] else one
    what = "a duplicate" if verdict == Verdict.DUPLICATE else "a new version"
    return f"“{titles[aside]}” is {what} of “{kept}”"


def _names(records: list[AuditRecord]) -> dict[str, str]:
    ids = {str(record.actor) for record in records if record.actor}
    for record in records:
        ids |= {record.object_ids[name] for name in ("user", "group") if name in record.object_ids}
        ids |= set(record.facts.get("granted_to", ()))
    named = Group.objects.filter(pk__in=ids).values_list("pk", "name")
    return {str(key): name for key, name in [*names_of_people(ids=ids).items(), *named]}


def _bucket(code: str) -> str:
    return LifeCycle(code).label.partition(" (")[0].lower()


def _subject(record: AuditRecord, names: dict[str, str]) -> str:
    key = record.object_ids.get("group") or record.object_ids.get("user")
    return names.get(str(key), "somebody who is gone")


def _version(words: str) -> Callable[[AuditRecord, dict[str, str]], str]:
    return lambda record, names: f"Version {record.facts.get('number', '')} {words}"


def _in_force(record: AuditRecord, names: dict[str, str]) -> str:
    former = record.facts.get("former")
    instead = f" instead of version {former}" if former else ""
    return f"Version {record.facts['number']} came into force{instead}"


def _created(record: AuditRecord, names: dict[str, str]) -> str:
    readers = [names.get(key, "somebody who is gone") for key in record.facts["granted_to"]]
    to_read = f", readable by {', '.join(sorted(readers))}" if readers else ""
    return f"Created as {_bucket(record.facts['life_cycle'])}{to_read}"


def _moved(record: AuditRecord, names: dict[str, str]) -> str:
    return f"Moved from {_bucket(record.facts['from'])} to {_bucket(record.facts['to'])}"


def _failed(record: AuditRecord, names: dict[str, str]) -> str:
    code = record.facts.get("code", "")
    known = FailureCode(code).label.lower() if code in FailureCode.values else code
    return f"An upload failed: {known}"


_TOLD: dict[str, Callable[[AuditRecord, dict[str, str]], str]] = {
    "document.created": _created,
    "document.updated": lambda record, names: (
        "Changed: " + ", ".join(field.replace("_", " ") for field in record.facts["fields"])
    ),
    "document.life_cycle_set": _moved,
    "document.version_received": _version("was uploaded"),
    "document.version_in_force": _in_force,
    "document.version_failed": _failed,
    "document.version_retried": lambda record, names: "A failed upload was tried again",
    "document.version_reinstated": _version("was put back in force"),
    "document.version_dated": lambda record, names: (
        f"Version {record.facts['number']} holds from {record.facts['to']} "
        f"({record.facts['from'] or 'no date'} before)"
    ),
    "document.version_withdrawn": _version("was withdrawn"),
    "grant.given": lambda record, names: f"“{_subject(record, names)}” may read it",
    "grant.revoked": lambda record, names: f"Access of “{_subject(record, names)}” was revoked",
}
