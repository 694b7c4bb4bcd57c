"""The steps of a pilot: sheets to fill in, a leakage run per role, the final report. See docs/pilot.md."""

from pathlib import Path

from django.core.management.base import CommandError

from documents.inventory import inventory_documents, inventory_totals
from evaluation.pilot.leakage import leakage_run
from evaluation.pilot.report import pilot_pdf, pilot_report
from evaluation.pilot.sheets import question_sheet, take_timing, timing_sheet
from tenants.commands import PreceptCommand

_WITH_FILE = {"timing-sheet", "timing", "question-sheet", "report"}


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument(
            "step",
            choices=["timing-sheet", "timing", "audit", "question-sheet", "leakage", "report"],
        )
        parser.add_argument("file", type=Path, nargs="?")

    def run(self, *, step, file: Path | None, **options):
        if step in _WITH_FILE and file is None:
            raise CommandError(f"Name a file: manage.py pilot {step} FILE --tenant SLUG")
        return getattr(self, f"_{step.replace('-', '_')}")(file)

    def _timing_sheet(self, file):
        file.write_text(timing_sheet(), encoding="utf-8")
        return {"file": str(file)}

    def _question_sheet(self, file):
        file.write_text(question_sheet(), encoding="utf-8")
        return {"file": str(file)}

    def _timing(self, file):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        timing = take_timing(text)
        return {
            "rows": timing.rows,
            "medianSeconds": timing.median_seconds,
            "found": timing.found,
        }

    def _audit(self, file):
        totals = inventory_totals(inventory_documents(user=None))
        return {"documents": totals.documents, "notFitAsReference": totals.unfit}

    def _leakage(self, file):
        leakage = leakage_run(progress=self._progress)
        self.clean = leakage.is_clean
        return {"questions": leakage.questions, "violations": leakage.violations}

    def _report(self, file):
        report = pilot_report()
        file.write_bytes(pilot_pdf(report))
        return {"file": str(file), "gaps": list(report.gaps)}

    def failed(self, result):
        return not getattr(self, "clean", True)

    def _progress(self, done: int, total: int) -> None:
        if done % 50 == 0 or done == total:
            self.say(f"{done} of {total} questions")
