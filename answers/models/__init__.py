"""Answers with their claims and citations, the authority's permits, and what people said of them."""

from .answer import Answer, AnswerState, Citation, Claim, Outcome, Purpose, Reason
from .permit import ContextPermit, PermitStep, ReleasePermit
from .review import Feedback, ReviewItem, ReviewKind, ReviewState

__all__ = [
    "Answer",
    "AnswerState",
    "Citation",
    "Claim",
    "ContextPermit",
    "Feedback",
    "Outcome",
    "PermitStep",
    "Purpose",
    "Reason",
    "ReleasePermit",
    "ReviewItem",
    "ReviewKind",
    "ReviewState",
]
