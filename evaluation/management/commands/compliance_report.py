"""Make the compliance report of a week, write it to a file or send it, as happens by itself each week."""

from datetime import date
from pathlib import Path

from django.core.management.base import CommandError

from answers.sampling import last_week, week_of
from evaluation.reports.weekly import make_report, report_pdf, send_report
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--week", help="a day of the week, as 2026-11-30; default: last week")
        parser.add_argument("--file", type=Path, help="write the PDF here")
        parser.add_argument("--send", action="store_true", help="by e-mail, to those who sign")

    def run(self, *, week, file: Path | None, send, **options):
        try:
            monday = week_of(date.fromisoformat(week)) if week else last_week()
        except ValueError:
            raise CommandError("Write the day as 2026-11-30.") from None
        report = make_report(monday=monday)
        if file:
            file.write_bytes(report_pdf(report))
        sent = send_report(report=report) if send else 0
        if send and not sent:
            self.say("Nothing was sent: set PRECEPT_EMAIL_URL, and give somebody the role.")
        return {"week": monday.isoformat(), "digest": report.digest, "sent": sent}
