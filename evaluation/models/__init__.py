"""Evaluation cases bound to a person's permissions, their runs, and the gate that asks for them."""

from .case import CaseState, EvalCase, EvalCaseVersion, Expected, ReviewWhy
from .gate import GateOverride, GatePass, GatePolicy, PassedBy
from .goal import Goal, PilotMeasure
from .persona import PersonaAnswer, PersonaDiff, PersonaDiffPerson
from .report import WeeklyReport
from .run import EvalResult, EvalRun, RunState, Variant
from .spot_check import Cause, CitationVerdict, SpotCheck, Verdict

__all__ = [
    "CaseState",
    "Cause",
    "CitationVerdict",
    "EvalCase",
    "EvalCaseVersion",
    "EvalResult",
    "EvalRun",
    "Expected",
    "GateOverride",
    "GatePass",
    "GatePolicy",
    "Goal",
    "PassedBy",
    "PersonaAnswer",
    "PersonaDiff",
    "PersonaDiffPerson",
    "PilotMeasure",
    "ReviewWhy",
    "RunState",
    "SpotCheck",
    "Variant",
    "Verdict",
    "WeeklyReport",
]
