"""Grounding: a claim is released only with the stored words that bear it out."""

from __future__ import annotations

from answers.grounding.check import (
    GroundedAnswer,
    GroundedClaim,
    GroundedQuote,
    GroundingFailed,
    GroundingRule,
    check,
    check_each,
)

__all__ = [
    "GroundedAnswer",
    "GroundedClaim",
    "GroundedQuote",
    "GroundingFailed",
    "GroundingRule",
    "check",
    "check_each",
]
