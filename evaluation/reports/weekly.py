"""The weekly compliance report: made from the dashboard's numbers, sent, and signed off.

Numbers only: it goes by e-mail, and what is on paper asks nobody for permission.
"""

import hashlib
from datetime import date

from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from answers.models import ReviewItem, ReviewState
from answers.sampling import last_week
from audit.services import record_action
from evaluation.dashboard.weekly import DEFINITIONS, bounds, measured, mondays
from evaluation.models import CaseState, EvalCase, EvalRun, GateOverride, RunState, WeeklyReport
from evaluation.models.goal import PilotMeasure
from tenants.models import Role, User
from tenants.scope import tenant_scope
from tenants.selectors import all_tenant_ids, current_tenant, roles_of

from .pdf import build, gap, heading, subheading, table, words

REPORT_ROLES = frozenset({Role.TENANT_ADMIN, Role.AUDITOR})


@transaction.atomic
def make_report(*, monday: date) -> WeeklyReport:
    """The week's report; one that is there already stays as it is. Raises ValidationError."""
    if monday.weekday() != 0:
        raise ValidationError("A report is of a week: name its Monday.")
    existing = WeeklyReport.objects.filter(monday=monday).first()
    if existing is not None:
        return existing
    report = WeeklyReport(monday=monday, numbers=_numbers(monday))
    report.digest = hashlib.sha256(report_pdf(report)).hexdigest()
    report.save(force_insert=True)
    record_action(
        action="report.made",
        actor=None,
        object_ids={"report": report.pk},
        facts={"week": monday.isoformat(), "digest": report.digest},
    )
    return report


def send_report(*, report: WeeklyReport) -> int:
    """To every active administrator and auditor; how many. 0 where e-mail is switched off."""
    people = User.objects.filter(
        is_active=True, role_assignments__role__in=[role.value for role in REPORT_ROLES]
    ).distinct()
    addresses = sorted(people.values_list("email", flat=True))
    if not settings.EMAIL_IS_ON or not addresses:
        return 0
    link = settings.PUBLIC_URL + reverse("admin:evaluation_weeklyreport_change", args=[report.pk])
    for address in addresses:  # one each: nobody learns who else gets it
        message = EmailMessage(
            subject=f"Compliance report of Precept, week of {report.monday:%d %B %Y}",
            body="The report is attached; it holds numbers only. Read the details behind them, and "
            f"sign it off, at {link}\n",
            to=[address],
        )
        message.attach(f"report-{report.monday}.pdf", report_pdf(report), "application/pdf")
        message.send()
    with transaction.atomic():
        WeeklyReport.objects.filter(pk=report.pk).update(sent_at=timezone.now())
        record_action(
            action="report.sent",
            actor=None,
            object_ids={"report": report.pk},
            facts={"recipients": len(addresses)},
        )
    return len(addresses)


@transaction.atomic
def sign_report(*, report: WeeklyReport, actor: User, comment: str) -> None:
    """Once. Raises ValidationError, PermissionDenied."""
    if not roles_of(actor) & REPORT_ROLES:
        raise PermissionDenied("Only administrators and auditors sign reports.")
    comment = comment.replace("\x00", "").strip()[:2000]
    if not comment:
        raise ValidationError({"comment": "Write what you conclude from it."})
    signed = WeeklyReport.objects.filter(pk=report.pk, signed_by=None).update(
        signed_by=actor, signed_at=timezone.now(), comment=comment
    )
    if not signed:
        raise ValidationError("Somebody else has signed it already.")
    report.refresh_from_db()
    record_action(
        action="report.signed",
        actor=actor.pk,
        object_ids={"report": report.pk},
        facts={"digest": report.digest},
    )


def make_reports_everywhere() -> None:
    """For the dispatcher: the last whole week of each tenant, once."""
    monday = last_week()
    for tenant_id in all_tenant_ids():
        with tenant_scope(tenant_id):
            if not WeeklyReport.objects.filter(monday=monday).exists():
                send_report(report=make_report(monday=monday))


def report_pdf(report: WeeklyReport) -> bytes:
    """From the numbers that were kept, so that it is the same whenever it is made."""
    numbers = report.numbers
    title = f"Compliance report, week of {report.monday:%d %B %Y}"
    content = [
        heading(title),
        words(numbers["tenant"]),
        gap(),
        subheading("Measures"),
        table(
            [
                ["Measure", "This week", "Of", "Week before", "Baseline", "Target"],
                *(
                    [
                        PilotMeasure(row["measure"]).label,
                        _said(row, "value"),
                        str(row["of"]),
                        _said(row, "before"),
                        _said(row, "baseline"),
                        _said(row, "target"),
                    ]
                    for row in numbers["measures"]
                ),
            ]
        ),
        subheading("What needs somebody"),
        table(
            [
                ["", "Number"],
                *([label, str(numbers[key])] for key, label in _COUNTS),
            ]
        ),
        subheading("How the measures are defined"),
        *(words(f"{one.label}: {one.definition}", quiet=True) for one in DEFINITIONS.values()),
    ]
    return build(title, content)


_COUNTS = [
    ("runs", "Evaluation runs that finished"),
    ("cases_active", "Active cases"),
    ("cases_waiting", "Cases that ask for review"),
    ("queue_open", "Open items of the review queue"),
    ("overrides", "Approved overrides of the gate in the week"),
]


def _numbers(monday: date) -> dict[str, object]:
    first, after = bounds(monday)
    series = measured(mondays(weeks=2, until=monday))
    return {
        "tenant": current_tenant().name,
        "measures": [
            {
                "measure": one.definition.measure.value,
                "value": one.latest.value,
                "of": one.latest.of,
                "before": one.points[0].value,
                "baseline": one.goal and one.goal.baseline,
                "target": one.goal and one.goal.target,
            }
            for one in series
        ],
        "runs": EvalRun.objects.filter(
            state=RunState.FINISHED, finished_at__gte=first, finished_at__lt=after
        ).count(),
        "cases_active": EvalCase.objects.filter(state=CaseState.ACTIVE).count(),
        "cases_waiting": EvalCase.objects.filter(state=CaseState.NEEDS_REVIEW).count(),
        "queue_open": ReviewItem.objects.filter(state=ReviewState.OPEN).count(),
        "overrides": GateOverride.objects.filter(
            approved_at__gte=first, approved_at__lt=after
        ).count(),
    }


def _said(row: dict, key: str) -> str:
    value = row[key]
    if value is None:
        return "–"
    is_share = DEFINITIONS[PilotMeasure(row["measure"])].is_share
    return f"{value:.1%}" if is_share else f"{value:g}"
