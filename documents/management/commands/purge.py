"""Purge what is past its retention: deleted documents, and questions and answers of long ago."""

from documents.retention import purge_due, remove_orphans
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__ + " The dispatcher does the same once an hour."

    def add_command_arguments(self, parser):
        parser.add_argument(
            "--orphans",
            action="store_true",
            help="also remove files older than a day that no document names; not beside a database"
            " that was restored from an older backup than the files",
        )

    def run(self, *, orphans, **options):
        removed = purge_due()
        return removed | {"orphans": remove_orphans()} if orphans else removed
