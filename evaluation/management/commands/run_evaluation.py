"""Run the active evaluation cases and report; fails when a case fails."""

from documents.generations import generation_named
from evaluation.models import EvalResult
from evaluation.runs import run_evaluation
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--case", action="append", help="key of a case; may be repeated")
        parser.add_argument("--generation", help="name of a candidate to run them through")
        parser.add_argument(
            "--at-least",
            type=float,
            default=1.0,
            help="share of cases that must pass (default: all); violations always fail",
        )

    def run(self, *, case, at_least, generation, **options):
        run = run_evaluation(
            keys=case,
            generation=generation and generation_named(generation),
            progress=self._progress,
        )
        failures = EvalResult.objects.filter(run=run, passed=False).select_related("case")
        self.ok = (
            run.measures["violations"] == 0
            and run.measures["passed"] >= at_least * run.measures["cases"]
        )
        heads = ("cases", "passed", "failed", "violations")
        return {
            "runId": str(run.id),
            **{key: run.measures[key] for key in heads},
            "measures": {k: v for k, v in run.measures.items() if k not in heads},
            "failures": [
                {
                    "case": result.case.key,
                    "kind": result.case.kind,
                    "outcome": result.outcome,
                    "why": result.failures + result.violations,
                }
                for result in failures
            ],
        }

    def failed(self, result):
        return not self.ok

    def _progress(self, done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            self.say(f"{done} of {total} cases")
