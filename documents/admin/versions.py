"""The versions of one document as its page shows them, and what can be done about each."""

from dataclasses import asdict, dataclass
from uuid import UUID

from ..ingestion.extracted import Repair
from ..models import UNFINISHED, Document, DocumentVersion, FailureCode, VersionStatus

_REPAIRS = {
    Repair.ENCODING: "Wrongly encoded characters were put right; look at accents and signs.",
    Repair.RECOGNISED: "Some pages are pictures; their text was recognised and may have mistakes.",
    Repair.CHANGES: "Tracked changes were taken as accepted.",
    Repair.MACROS: "Its macros were left out.",
    Repair.ATTACHMENTS: "Files attached inside it were left out; upload them on their own.",
    Repair.HIDDEN: "Hidden rows, sheets or slides were left out.",
    Repair.HIDDEN_TEXT: "Hidden text was left out.",
}
# The reason says what is wrong; this says what its owner can do about it here.
_ANOTHER_FILE = "Correct the file and upload it as a new version below."
_ADVICE = {
    FailureCode.GAVE_UP: "Try again; if it fails once more, upload a new export of the file.",
    FailureCode.INVALID: "Try again; if it fails once more, tell the operator.",
    FailureCode.PROCESSOR: "Try again in some minutes; if it fails once more, tell the operator.",
}


@dataclass(frozen=True, slots=True)
class VersionRow:
    """`done` of `total` passages are indexed; total 0 means it is not known yet."""

    id: UUID
    number: int
    status: str
    label: str
    in_force: bool
    working: bool
    done: int
    total: int
    reason: str
    advice: str
    repairs: tuple[str, ...]
    can_retry: bool
    can_reinstate: bool
    can_date: bool
    can_withdraw: bool


def version_rows(document: Document) -> list[tuple[DocumentVersion, VersionRow]]:
    """Newest first."""
    versions = document.versions.select_related("submitted_by").order_by("-number")
    return [(version, _row(document, version)) for version in versions]


def progress_json(document: Document) -> dict[str, object]:
    rows = [asdict(row) for _, row in version_rows(document)]
    return {"versions": rows, "working": any(row["working"] for row in rows)}


def _row(document: Document, version: DocumentVersion) -> VersionRow:
    in_force = document.current_version_id == version.id
    working = version.status in UNFINISHED
    failed = version.status == VersionStatus.FAILED and not version.withdrawn_at
    return VersionRow(
        id=version.id,
        number=version.number,
        status=version.status,
        label=_label(version, in_force),
        in_force=in_force,
        working=working,
        done=version.progress_done if working else 0,
        total=version.progress_total if working else 0,
        reason=version.failure_reason if failed else "",
        advice=_ADVICE.get(version.failure_code, _ANOTHER_FILE) if failed else "",
        repairs=tuple(_REPAIRS[Repair(code)] for code in version.repairs),
        can_retry=failed,
        can_reinstate=version.status == VersionStatus.SEARCHABLE
        and not in_force
        and not version.waits_for_date
        and not version.withdrawn_at,
        can_date=version.effective_date is not None and not version.withdrawn_at,
        can_withdraw=not in_force and not version.withdrawn_at,
    )


def _label(version: DocumentVersion, in_force: bool) -> str:
    if version.withdrawn_at:
        return "Withdrawn"
    if version.status == VersionStatus.SEARCHABLE:
        if in_force:
            return "In force and searchable"
        if version.waits_for_date:
            return f"Ready; in force from {version.effective_date:%d/%m/%Y}"
        return "Former version"
    if version.status == VersionStatus.FAILED:
        return f"Failed: {version.get_failure_code_display().lower()}"
    if version.status == VersionStatus.ACCEPTED:
        return "Being indexed" if in_force else "Accepted, being indexed"
    return "Received, waiting to be read"
