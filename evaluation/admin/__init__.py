"""What reviewers and administrators see of cases and runs."""

from .case import EvalCaseAdmin
from .run import EvalRunAdmin

__all__ = ["EvalCaseAdmin", "EvalRunAdmin"]
