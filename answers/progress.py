"""What the pipeline yields while it works. A transport decides what to do with it."""

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    SEARCHING = "searching"
    CHECKING_ACCESS = "checking_access"
    RANKING = "ranking"
    WRITING = "writing"
    VERIFYING = "verifying"
    RELEASING = "releasing"


@dataclass(frozen=True, slots=True)
class Status:
    """The attempt reached a stage. Carries no answer text."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class Finished:
    """The attempt ended; the answer is presented from what was stored and authorised."""

    released: bool
