"""Evaluation cases bound to a person's permissions, their runs, and the gate that asks for them."""

from .case import CaseState, EvalCase, EvalCaseVersion, Expected, ReviewWhy
from .gate import GateOverride, GatePass, GatePolicy, PassedBy
from .run import EvalResult, EvalRun, RunState, Variant

__all__ = [
    "CaseState",
    "EvalCase",
    "EvalCaseVersion",
    "EvalResult",
    "EvalRun",
    "Expected",
    "GateOverride",
    "GatePass",
    "GatePolicy",
    "PassedBy",
    "ReviewWhy",
    "RunState",
    "Variant",
]
