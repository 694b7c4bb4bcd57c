"""Move a document to another life-cycle bucket."""

from documents import services
from documents.commands import DocumentCommand
from documents.models import LifeCycle


class Command(DocumentCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        super().add_command_arguments(parser)
        parser.add_argument("life_cycle", choices=[str(value) for value in LifeCycle])
        parser.add_argument("--reason", default="")

    def run_on(self, document, *, life_cycle, reason, **options):
        changed = services.set_life_cycle(
            actor=None, document=document, life_cycle=LifeCycle(life_cycle), reason=reason
        )
        return {"documentId": str(document.id), "lifeCycle": life_cycle, "changed": changed}
