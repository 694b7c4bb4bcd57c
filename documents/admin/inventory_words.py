"""The inventory's findings in words, and for each the step that settles it."""

from django.urls import reverse

from ..inventory import InventoryRow, Unfit
from ..models import FailureCode, LifeCycle, Likeness, VersionStatus

STATES = {
    VersionStatus.RECEIVED: "waiting to be read",
    VersionStatus.ACCEPTED: "being indexed",
    VersionStatus.SEARCHABLE: "searchable",
    VersionStatus.FAILED: "failed",
}

_REASONS = {
    Unfit.NOT_VETTED: "Not vetted",
    Unfit.WITHDRAWN: "Withdrawn",
    Unfit.SET_ASIDE: "Set aside as a duplicate",
    Unfit.NOTHING_IN_FORCE: "No version is in force",
    Unfit.NOT_SEARCHABLE: "The version in force cannot be searched",
    Unfit.NEWEST_FAILED: "The newest upload failed",
    Unfit.MAYBE_DUPLICATE: "May be a duplicate",
    Unfit.SAME_REFERENCE: "Another document has its reference code",
    Unfit.SAME_DAY: "Two versions hold from the same day",
}

_LIKE = {
    Likeness.BYTES: "the same file",
    Likeness.TEXT: "the same text",
    Likeness.NEAR: "nearly the same text",
}

# These may pass by themselves; for all others a corrected file is needed.
_WORTH_A_RETRY = {FailureCode.GAVE_UP, FailureCode.INVALID, FailureCode.PROCESSOR}


def reason_in_words(reason: Unfit) -> str:
    return _REASONS[reason]


def age_in_words(days: int) -> str:
    if days < 60:
        return f"{days} day{'' if days == 1 else 's'}"
    if days < 730:
        return f"{days // 30} months"
    return f"{int(days / 365.25)} years"


def to_do(row: InventoryRow, *, page: str) -> list[tuple[str, str]]:
    """(what, address) of the steps that make the document fit, or reachable, again."""
    steps = []
    if row.newest and row.newest.status == VersionStatus.FAILED:
        again = row.newest.failure_code in _WORTH_A_RETRY
        steps.append(("Try the upload again" if again else "Upload a corrected file", page))
    for twin in row.twins:
        address = reverse("admin:documents_duplicatefinding_change", args=[twin.finding_id])
        steps.append((f"Decide: {_LIKE[twin.kind]} as “{twin.title}”", address))
    for rival in row.rivals:
        address = reverse("admin:documents_document_change", args=[rival.document_id])
        steps.append((f"Change one code: “{rival.title}” has it too", address))
    for day, numbers in row.same_day:
        named = " and ".join(str(number) for number in numbers)
        steps.append((f"Versions {named} hold from {day:%d/%m/%Y}: date or withdraw one", page))
    if row.life_cycle in (LifeCycle.DRAFT, LifeCycle.UNKNOWN_PROVENANCE):
        steps.append(("Vet it, or delete it", page))
    if row.newest is None:
        steps.append(("Upload a file", page))
    if not row.owner:
        steps.append(("Set an owner", page))
    if not row.has_readers and row.life_cycle == LifeCycle.VETTED:
        steps.append(("Say who may read it", page))
    return steps
