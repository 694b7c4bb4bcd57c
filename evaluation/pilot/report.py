"""The pilot's final report: made from what was recorded, with what is missing named as a gap."""

from collections import Counter
from dataclasses import dataclass

from audit.models import AuditRecord
from documents.inventory import inventory_documents, inventory_totals
from evaluation.dashboard.weekly import Series, measured, mondays
from evaluation.models import CaseState, EvalCase, EvalRun, RunState, SpotCheck, WeeklyReport
from evaluation.reports.pdf import build, gap, heading, subheading, table, words
from tenants.selectors import current_tenant

from .leakage import ACTION
from .sheets import FIRST_SET

WEEKS = 6


@dataclass(frozen=True, slots=True)
class PilotReport:
    series: tuple[Series, ...]
    cases: dict[str, int]
    leakage: dict[str, object] | None
    documents: int
    unfit: int
    judged: int
    gaps: tuple[str, ...]


def pilot_report() -> PilotReport:
    series = tuple(measured(mondays(weeks=WEEKS)))
    active = EvalCase.objects.filter(state=CaseState.ACTIVE)
    cases = dict(Counter(active.values_list("expected_outcome", flat=True)))
    run = AuditRecord.objects.filter(action=ACTION).order_by("seq").last()
    totals = inventory_totals(inventory_documents(user=None))
    report = PilotReport(
        series=series,
        cases=cases,
        leakage=run and run.facts,
        documents=totals.documents,
        unfit=totals.unfit,
        judged=SpotCheck.objects.count(),
        gaps=(),
    )
    return PilotReport(
        **{name: getattr(report, name) for name in PilotReport.__slots__ if name != "gaps"},
        gaps=tuple(_gaps(report)),
    )


def _gaps(report: PilotReport):
    for series in report.series:
        weeks = sum(point.value is not None for point in series.points)
        if weeks < WEEKS:
            yield f"{series.definition.label}: measured in {weeks} of {WEEKS} weeks."
        if series.goal is None or series.goal.baseline is None:
            yield f"{series.definition.label}: no baseline, so no improvement can be told."
        elif series.goal.target is None:
            yield f"{series.definition.label}: no target."
    active = sum(report.cases.values())
    if active < FIRST_SET:
        yield f"{active} active cases; the first set has {FIRST_SET}."
    if active and not active - report.cases.get("answered", 0):
        yield "No active case expects a refusal."
    if not EvalRun.objects.filter(state=RunState.FINISHED, keys=[]).exists():
        yield "No run of all cases finished."
    if report.leakage is None:
        yield "No leakage run per role was made."
    elif any(report.leakage["violations"].values()):
        yield "The last leakage run found violations."
    if not report.judged:
        yield "No answer was judged by a reviewer."
    unsigned = WeeklyReport.objects.filter(signed_by=None).count()
    if unsigned:
        yield f"{unsigned} weekly reports are not signed."


def pilot_pdf(report: PilotReport) -> bytes:
    title = f"Pilot of Precept at {current_tenant().name}"
    first, last = report.series[0].points[0].monday, report.series[0].latest.monday
    rows = [["Measure", "Baseline", "First week", "Last value", "Target", "Weeks"]]
    for series in report.series:
        known = [point for point in series.points if point.value is not None]
        goal = series.goal
        rows.append(
            [
                series.definition.label,
                _said(series, goal and goal.baseline),
                _said(series, known[0].value if known else None),
                _said(series, known[-1].value if known else None),
                _said(series, goal and goal.target),
                f"{len(known)} of {WEEKS}",
            ]
        )
    leakage = report.leakage
    content = [
        heading(title),
        words(f"Weeks of {first:%d %B %Y} to {last:%d %B %Y}. Made from what was recorded."),
        gap(),
        subheading("Gaps"),
        *([words(f"• {one}") for one in report.gaps] or [words("None.")]),
        subheading("Measures"),
        table(rows),
        subheading("Cases, documents, judgements"),
        table(
            [
                ["", "Number"],
                *[
                    [f"Active cases that expect: {k}", str(v)]
                    for k, v in sorted(report.cases.items())
                ],
                ["Documents", str(report.documents)],
                ["Documents not fit as a reference", str(report.unfit)],
                ["Answers judged by reviewers", str(report.judged)],
            ]
        ),
        subheading("Leakage run per role"),
        table(
            [
                ["Role", "Violations"],
                *[[role, str(count)] for role, count in sorted(leakage["violations"].items())],
            ]
        )
        if leakage
        else words("None was made."),
    ]
    return build(title, content)


def _said(series: Series, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if series.definition.is_share else f"{value:g}"
