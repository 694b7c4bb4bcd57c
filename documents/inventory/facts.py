"""What the inventory says of one document, and of all of them together."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from ..models import LifeCycle, Likeness


class Unfit(StrEnum):
    """Why a document cannot be relied on as a reference today."""

    NOT_VETTED = "not_vetted"
    WITHDRAWN = "withdrawn"
    SET_ASIDE = "set_aside"
    NOTHING_IN_FORCE = "nothing_in_force"
    NOT_SEARCHABLE = "not_searchable"
    NEWEST_FAILED = "newest_failed"
    MAYBE_DUPLICATE = "maybe_duplicate"
    SAME_REFERENCE = "same_reference"
    SAME_DAY = "same_day"


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """`since` is the day from which it holds; `waits` says that this day has not come."""

    number: int
    status: str
    since: date | None
    waits: bool = False
    failure_code: str = ""
    failure_reason: str = ""


@dataclass(frozen=True, slots=True)
class Twin:
    """Another document that this one may be a duplicate of. Only ever one the caller oversees."""

    finding_id: UUID
    document_id: UUID
    title: str
    kind: Likeness
    similarity: int


@dataclass(frozen=True, slots=True)
class Rival:
    """Another vetted document with the same reference code."""

    document_id: UUID
    title: str


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """One document. `age_days` counts from the day its version in force holds."""

    document_id: UUID
    title: str
    reference: str
    life_cycle: LifeCycle
    department: str
    owner: str
    source: str
    withdrawn_date: date | None
    in_force: VersionFacts | None
    newest: VersionFacts | None
    age_days: int
    has_readers: bool
    is_scan: bool
    empty_pages: int
    recognised_pages: int
    twins: tuple[Twin, ...]
    rivals: tuple[Rival, ...]
    same_day: tuple[tuple[date, tuple[int, ...]], ...]
    unfit: tuple[Unfit, ...]

    @property
    def fit(self) -> bool:
        return not self.unfit


@dataclass(frozen=True, slots=True)
class Totals:
    documents: int
    unfit: int
    failed: int
    working: int
    duplicates: int
    conflicts: int
    shared_references: int
    shared_days: int
    scans: int
    with_recognised_text: int
    without_owner: int
    without_readers: int

    @property
    def unfit_percent(self) -> int:
        """Rounded up: one in a thousand is not none."""
        return -(-100 * self.unfit // self.documents) if self.documents else 0
