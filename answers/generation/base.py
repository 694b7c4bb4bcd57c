"""What every generator gives back, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from answers.evidence import Evidence


@dataclass(frozen=True, slots=True)
class DraftQuote:
    """``source`` is the number of an Evidence; ``quote`` should be words of its text."""

    source: int
    quote: str


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """``entailed`` is what a checker found: whether the quotes bear the claim out. None: not asked."""

    text: str
    quotes: tuple[DraftQuote, ...]
    entailed: bool | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed answer, to be checked by grounding. No claims means: abstain.

    ``explanation`` holds the signals the generator decided by, as JSON values and never as
    passages, for the person who asks why.
    """

    claims: tuple[DraftClaim, ...]
    generator: str
    model: str
    prompt_version: str
    tokens_in: int
    tokens_out: int
    explanation: Mapping[str, Any] = field(default_factory=dict, compare=False)


class UnavailableReason(StrEnum):
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TRUNCATED_PROMPT = "truncated_prompt"
    BAD_OUTPUT = "bad_output"
    NOT_APPROVED = "not_approved"


class GeneratorUnavailable(Exception):
    """The generator gave no draft. ``reason`` is stable; the message is for an operator."""

    def __init__(self, reason: UnavailableReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Generator(Protocol):
    """``name`` goes into the answer, ``processor`` into the permit of each call."""

    name: str
    processor: str

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft: ...
