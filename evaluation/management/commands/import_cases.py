"""Take in evaluation cases from a JSON or CSV file, all of them or none."""

from pathlib import Path

from django.core.management.base import CommandError

from evaluation.exchange import FileFormat, import_cases, parse
from evaluation.models import CaseState
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--state",
            default=CaseState.DRAFT.value,
            choices=[CaseState.DRAFT.value, CaseState.REVIEWED.value, CaseState.ACTIVE.value],
            help="as what (default: drafts)",
        )

    def run(self, *, file, state, **options):
        ending = file.suffix.lstrip(".").lower()
        if ending not in list(FileFormat):
            raise CommandError(f"{file} must end in .json or .csv.")
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        imported = import_cases(rows=parse(text, FileFormat(ending)), state=CaseState(state))
        return {"imported": len(imported.cases)}
