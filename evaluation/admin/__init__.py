"""What reviewers and administrators see of cases and runs."""

from .case import EvalCaseAdmin
from .gate import GateOverrideAdmin
from .run import EvalRunAdmin

__all__ = ["EvalCaseAdmin", "EvalRunAdmin", "GateOverrideAdmin"]
