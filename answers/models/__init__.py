"""Answers with their claims and citations, the authority's permits, and what people said of them."""

from .answer import Answer, AnswerState, Channel, Citation, Claim, Outcome, Purpose, Reason
from .canary import Arm, Canary, CanaryEnding
from .configuration import AnswerConfiguration, ConfigurationStatus
from .permit import ContextPermit, PermitStep, ReleasePermit
from .review import Feedback, FeedbackCategory, ReviewItem, ReviewKind, ReviewState
from .usage import CountedAttempt, UsageCounter, UsageKind

__all__ = [
    "Answer",
    "AnswerConfiguration",
    "AnswerState",
    "Arm",
    "Canary",
    "CanaryEnding",
    "Channel",
    "Citation",
    "Claim",
    "ConfigurationStatus",
    "ContextPermit",
    "CountedAttempt",
    "Feedback",
    "FeedbackCategory",
    "Outcome",
    "PermitStep",
    "Purpose",
    "Reason",
    "ReleasePermit",
    "ReviewItem",
    "ReviewKind",
    "ReviewState",
    "UsageCounter",
    "UsageKind",
]
