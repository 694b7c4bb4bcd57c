"""A generation in shadow is asked what people ask, and only how alike the findings are is kept."""

from uuid import UUID

from django.db.models import Avg, Count, QuerySet

from tenants.models import User

from .models import Chunk, GenerationStatus, IndexGeneration, ShadowComparison
from .retrieval.search import search

TOP = 8


def generation_in_shadow() -> IndexGeneration | None:
    return (
        IndexGeneration.objects.filter(status=GenerationStatus.SHADOW)
        .defer("probe")
        .order_by("created_at")
        .first()
    )


def with_comparisons(generations: QuerySet[IndexGeneration]) -> QuerySet[IndexGeneration]:
    """Each with `compared`, the live questions it was also asked, and their mean `overlap`."""
    return generations.annotate(compared=Count("comparisons"), overlap=Avg("comparisons__overlap"))


def compare(*, user: User, question: str) -> float | None:
    """Search both, now, with this person's own permission; record the overlap of the best passages.

    None when no generation is in shadow or nothing was found to compare. Raises SearchUnavailable.
    """
    generation = generation_in_shadow()
    if generation is None:
        return None
    shown = search(user=user, question=question).chunk_ids[:TOP]
    found = search(user=user, question=question, generation=generation).chunk_ids[:TOP]
    if not shown:
        return None
    overlap = _overlap(shown, found)
    ShadowComparison.objects.create(generation=generation, overlap=overlap)
    return overlap


def _overlap(shown: list[UUID], found: list[UUID]) -> float:
    """The share of what is shown that shares words with what was found; chunkings may differ."""
    rows = Chunk.objects.filter(pk__in={*shown, *found}).values_list(
        "pk", "version_id", "start", "end"
    )
    spans = {pk: (version, start, end) for pk, version, start, end in rows}
    others = [spans[pk] for pk in found if pk in spans]
    met = [pk for pk in shown if pk in spans and any(_meet(spans[pk], one) for one in others)]
    return len(met) / len(shown)


def _meet(one: tuple, other: tuple) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
