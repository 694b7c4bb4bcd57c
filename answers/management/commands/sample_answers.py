"""Draw a week's answers for spot checks, as it happens by itself after each week."""

from datetime import date

from django.core.management.base import CommandError

from answers.sampling import last_week, sample_week, week_of
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--week", help="a day of the week, as 2026-11-30; default: last week")

    def run(self, *, week, **options):
        try:
            monday = week_of(date.fromisoformat(week)) if week else last_week()
        except ValueError:
            raise CommandError("Write the day as 2026-11-30.") from None
        return {"week": monday.isoformat(), "drawn": sample_week(monday=monday)}
