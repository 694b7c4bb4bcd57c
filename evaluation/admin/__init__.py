"""What reviewers and administrators see of cases, runs, judgements and the gate."""

from .canary import CanaryAdmin
from .case import EvalCaseAdmin
from .dashboard import DashboardAdmin
from .gate import GateOverrideAdmin
from .reports import PersonaDiffAdmin, WeeklyReportAdmin
from .run import EvalRunAdmin
from .spot_check import SpotCheckAdmin

__all__ = [
    "CanaryAdmin",
    "DashboardAdmin",
    "EvalCaseAdmin",
    "EvalRunAdmin",
    "GateOverrideAdmin",
    "PersonaDiffAdmin",
    "SpotCheckAdmin",
    "WeeklyReportAdmin",
]
