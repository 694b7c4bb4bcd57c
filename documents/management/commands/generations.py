"""Index generations beside the serving one: list, build, shadow, promote, rollback, retire."""

from django.core.management.base import CommandError

from documents.building import start_generation
from documents.embedding import EmbedderUnavailable
from documents.generations import CHUNKING
from documents.ingestion.chunkings import CHUNKERS
from documents.ingestion.publish import ValidationFailed
from documents.models import IndexGeneration
from documents.reindexing import promote, put_in_shadow, retire, roll_back
from documents.serving import PromotionConflict
from documents.shadowing import with_comparisons
from tenants.commands import PreceptCommand

ACTIONS = {
    "list": "every generation, its state, progress and cost",
    "build": "build one in the background, or go on with it",
    "shadow": "run live questions through it as well, and record how alike it finds",
    "promote": "let it serve",
    "rollback": "let the one serve again that served last",
    "retire": "delete its vectors, terms and index",
}


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument(
            "action", choices=ACTIONS, help="; ".join(map(": ".join, ACTIONS.items()))
        )
        parser.add_argument("name", nargs="?", help="of the generation; not for list and rollback")
        parser.add_argument("--embedder", help="to build with; default: PRECEPT_EMBEDDER")
        parser.add_argument("--chunking", choices=sorted(CHUNKERS), default=CHUNKING)

    def run(self, *, action, **options):
        try:
            return self._run(action, options)
        except (PromotionConflict, ValidationFailed, EmbedderUnavailable) as failure:
            raise CommandError(str(failure)) from failure

    def _run(self, action, options):
        if action == "list":
            return [_summary(generation) for generation in _generations()]
        if action == "rollback":
            return _summary(_generations().get(pk=roll_back().pk))
        if not options["name"]:
            raise CommandError(f"Say which: manage.py generations {action} NAME.")
        if action == "build":
            start_generation(
                name=options["name"], embedder=options["embedder"], chunking=options["chunking"]
            )
        else:
            generation = _named(options["name"])
            if action == "shadow":
                put_in_shadow(generation=generation)
            elif action == "promote":
                promote(generation=generation, progress=self._progress)
            else:
                retire(generation=generation)
        return _summary(_named(options["name"]))

    def _progress(self, done, total):
        self.say(f"{done} of {total} versions")


def _generations():
    return with_comparisons(IndexGeneration.objects.order_by("created_at"))


def _named(name):
    generation = _generations().filter(name=name).first()
    if generation is None:
        raise CommandError(f"There is no generation named {name}. See: manage.py generations list.")
    return generation


def _summary(generation):
    return {
        "generation": generation.name,
        "status": "reclaimed" if generation.reclaimed_at else generation.status,
        "chunking": generation.chunking,
        "embedder": generation.embedder,
        "versionsDone": generation.progress_done,
        "versionsTotal": generation.progress_total,
        "passagesEmbedded": generation.passages_embedded,
        "secondsSpent": round(generation.seconds_spent, 1),
        "failure": generation.failure_reason,
        "questionsCompared": generation.compared,
        "overlap": None if generation.overlap is None else round(generation.overlap, 3),
    }
