"""Evaluation cases bound to a person's permissions, and their runs."""

from .case import CaseState, EvalCase
from .gate import GateOverride, GatePass, GatePolicy, PassedBy
from .run import EvalResult, EvalRun

__all__ = [
    "CaseState",
    "EvalCase",
    "EvalResult",
    "EvalRun",
    "GateOverride",
    "GatePass",
    "GatePolicy",
    "PassedBy",
]
