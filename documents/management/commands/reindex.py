"""Build an index generation with today's settings beside the serving one, then let it serve."""

from django.core.management.base import CommandError

from documents.building import GenerationConflict
from documents.embedding import EmbedderUnavailable
from documents.ingestion.publish import ValidationFailed
from documents.reindexing import reindex
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("--generation", required=True, help="a name for it")

    def run(self, *, generation, **options):
        try:
            built = reindex(
                name=generation,
                progress=lambda done, total: self.say(f"{done} of {total} versions"),
            )
        except (GenerationConflict, ValidationFailed, EmbedderUnavailable) as failure:
            raise CommandError(str(failure)) from failure
        return {"generation": built.name, "embedder": built.embedder, "status": built.status}
