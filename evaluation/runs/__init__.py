"""Runs of cases, in order: `starting` one, `running` it case by case (`one_case`), `comparing`."""

from .running import run_evaluation, work_on
from .starting import RunRefused, cancel_run, start_run

__all__ = ["RunRefused", "cancel_run", "run_evaluation", "start_run", "work_on"]
