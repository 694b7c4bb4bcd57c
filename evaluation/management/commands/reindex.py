"""Build an index generation with today's settings beside the serving one, run the evaluation cases
through it, and let it serve when the gate lets it.
"""

from django.core.management.base import CommandError

from documents.embedding import EmbedderUnavailable
from documents.ingestion.publish import ValidationFailed
from documents.serving import PromotionConflict
from evaluation.gates import reindex
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--generation", required=True, help="a name for it")

    def run(self, *, generation, **options):
        try:
            serving = reindex(
                name=generation, progress=lambda done, total: self.say(f"{done} of {total}")
            )
        except (PromotionConflict, ValidationFailed, EmbedderUnavailable) as failure:
            raise CommandError(str(failure)) from failure
        return {
            "generation": serving.name,
            "embedder": serving.embedder,
            "status": serving.status,
        }
