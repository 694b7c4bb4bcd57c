"""Evaluation cases bound to a person's permissions, and their runs."""

from .case import CaseState, EvalCase
from .run import EvalResult, EvalRun

__all__ = ["CaseState", "EvalCase", "EvalResult", "EvalRun"]
