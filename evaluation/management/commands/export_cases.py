"""Write all evaluation cases to a JSON or CSV file, with their words: the operator's copy."""

from pathlib import Path

from django.core.management.base import CommandError

from evaluation.exchange import FileFormat, as_file, export_cases
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("file", type=Path)

    def run(self, *, file, **options):
        ending = file.suffix.lstrip(".").lower()
        if ending not in list(FileFormat):
            raise CommandError(f"{file} must end in .json or .csv.")
        rows = export_cases(viewer=None)
        file.write_text(as_file(rows, FileFormat(ending)), encoding="utf-8")
        return {"exported": len(rows)}
