"""Take in a document, ask about it, delete and purge it, and look for what is left of it anywhere."""

from django.core.management.base import CommandError

from answers.deletion_drill import DrillFailed, hold_drill
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__ + " Exit code 1 when anything is."
    needs_tenant = False

    def run(self, **options):
        try:
            drill = hold_drill(say=self.say)
        except DrillFailed as error:
            raise CommandError(str(error)) from None
        return {
            "word": drill.word,
            "documentId": str(drill.document.id),
            "lookedAt": {
                "tables": drill.after.tables,
                "columns": drill.after.columns,
                "rows": drill.after.rows,
                "files": drill.after.files,
            },
            "before": drill.before.found,
            "removed": drill.removed,
            "left": drill.left,
        }

    def describe(self, result):
        looked = result["lookedAt"]
        lines = [f"Before: {place}, {count}" for place, count in result["before"].items()]
        lines += [
            f"Looked at {looked['columns']} columns of {looked['tables']} tables"
            f" ({looked['rows']} rows) and {looked['files']} files."
        ]
        lines += [f"Left: {place}, {count}" for place, count in result["left"].items()]
        return "\n".join([*lines, *([] if result["left"] else ["Nothing is left."])])

    def failed(self, result):
        return bool(result["left"])
