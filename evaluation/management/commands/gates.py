"""What stands between each candidate and serving, and what to do next; fails for a named one that is
blocked. With --pass-rate: change what share of the cases a candidate must pass.
"""

from evaluation.gates import (
    candidate_named,
    candidates,
    least_pass_rate,
    set_least_pass_rate,
    standing_of,
)
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("name", nargs="?", help="of one; default: every candidate")
        parser.add_argument("--pass-rate", type=float, help="from 0.5 to 1; needs --reason")
        parser.add_argument("--reason", default="", help="kept in the audit record")

    def run(self, *, name, pass_rate, reason, **options):
        if pass_rate is not None:
            set_least_pass_rate(rate=pass_rate, reason=reason)
        chosen = [candidate_named(name)] if name else candidates()
        standings = [standing_of(one) for one in chosen]
        self.is_blocked = bool(name) and not standings[0].may_serve
        return {
            "passRate": least_pass_rate(),
            "candidates": [
                {
                    "kind": standing.kind,
                    "name": standing.candidate.name,
                    "mayServe": standing.may_serve,
                    "mayReturn": standing.may_return,
                    "lastRun": standing.last_run
                    and {
                        "runId": standing.last_run.run_id,
                        "passed": standing.last_run.passed,
                        "cases": standing.last_run.total,
                    },
                    "overriddenBy": standing.override and str(standing.override.pk),
                    "blockers": [
                        {"code": one.code, "what": one.what, "next": one.next_step}
                        for one in standing.blockers
                    ],
                }
                for standing in standings
            ],
        }

    def failed(self, result):
        return self.is_blocked
