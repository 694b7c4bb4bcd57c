"""Run the active evaluation cases and report; fails when a case fails."""

from dataclasses import asdict
from pathlib import Path

from django.core.management.base import CommandError

from answers.configurations import configuration_named
from documents.generations import generation_named
from evaluation.models import EvalResult, RunState
from evaluation.runs import comparing, run_evaluation
from evaluation.runs.junit import junit as as_junit
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--case", action="append", help="key of a case; may be repeated")
        parser.add_argument("--generation", help="name of a candidate to run them through")
        parser.add_argument("--configuration", help="name of a candidate to have them written by")
        parser.add_argument(
            "--compare", action="store_true", help="run them through what serves as well"
        )
        parser.add_argument("--repeat", type=int, default=1, help="how often; tells what varies")
        parser.add_argument("--most-minutes", type=int, help="stop then")
        parser.add_argument("--most-tokens", type=int, help="stop then")
        parser.add_argument(
            "--junit", type=Path, help="write the results to this file as JUnit XML"
        )
        parser.add_argument(
            "--at-least",
            type=float,
            default=1.0,
            help="share of cases that must pass (default: all); violations always fail",
        )

    def run(self, *, case, at_least, generation, compare, repeat, junit: Path | None, **options):
        configuration = options["configuration"]
        if generation and configuration:
            raise CommandError("One thing at a time: a generation or a configuration.")
        run = run_evaluation(
            keys=case,
            generation=generation_named(generation) if generation else None,
            configuration=configuration_named(configuration) if configuration else None,
            compared=compare,
            repeats=repeat,
            most_minutes=options["most_minutes"],
            most_tokens=options["most_tokens"],
            progress=self._progress,
        )
        if junit:
            junit.write_bytes(as_junit(run))
        if run.not_run:
            self.say(f"{run.not_run} cases ask for review and were not run.")
        variant = run.variants[-1]
        failures = EvalResult.objects.filter(run=run, passed=False, variant=variant)
        self.ok = (
            run.state == RunState.FINISHED
            and run.measures["violations"] == 0
            and run.measures["passed"] >= at_least * run.measures["cases"]
        )
        heads = ("cases", "passed", "failed", "violations")
        return {
            "runId": str(run.id),
            "state": run.state,
            **{key: run.measures[key] for key in heads},
            "measures": {k: v for k, v in run.measures.items() if k not in heads},
            **({"differences": _differences(run)} if compare else {}),
            **({"variation": asdict(comparing.variation(run))} if repeat > 1 else {}),
            "failures": [
                {
                    "case": result.case.key,
                    "kind": result.case.kind,
                    "outcome": result.outcome,
                    "why": result.failures + result.violations,
                }
                for result in failures.select_related("case").order_by("case__key", "repeat")
            ],
        }

    def failed(self, result):
        return not self.ok

    def _progress(self, done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            self.say(f"{done} of {total} cases")


def _differences(run) -> dict[str, object]:
    return {
        one.measure.name: {
            "serving": round(one.serving, 4),
            "candidate": round(one.candidate, 4),
            "difference": round(one.interval.mean, 4),
            "low": round(one.interval.low, 4),
            "high": round(one.interval.high, 4),
            "verdict": one.verdict,
        }
        for one in comparing.compare(run).differences
    }
