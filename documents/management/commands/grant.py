"""Let a group or a person read a document."""

from documents import services
from documents.commands import DocumentCommand
from tenants.selectors import subject_by_name


class Command(DocumentCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        super().add_command_arguments(parser)
        parser.add_argument("--to", required=True, help="group:NAME or user:E-MAIL")

    def run_on(self, document, *, to, **options):
        changed = services.grant_access(actor=None, document=document, subject=subject_by_name(to))
        return {"documentId": str(document.id), "to": to, "changed": changed}
