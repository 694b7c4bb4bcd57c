"""Evaluation cases bound to a person's permissions, their runs, and the gate that asks for them."""

from .case import CaseState, EvalCase
from .gate import GateOverride, GatePass, GatePolicy, PassedBy
from .run import EvalResult, EvalRun, RunState, Variant

__all__ = [
    "CaseState",
    "EvalCase",
    "EvalResult",
    "EvalRun",
    "GateOverride",
    "GatePass",
    "GatePolicy",
    "PassedBy",
    "RunState",
    "Variant",
]
