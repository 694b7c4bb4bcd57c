"""Retrieval: both legs, fused. Returns ids the reader may use, and no text."""

from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError

from documents.embedding import EmbedderUnavailable
from documents.generations import pinned_embedder, serving_generation
from documents.models import IndexGeneration
from tenants.models import User
from tenants.selectors import current_tenant

from .fuse import fuse
from .hits import Candidate
from .keyword import keyword_leg
from .near_codes import without_near_codes
from .ranking import Ranking
from .terms import question_terms
from .vector import cosines, vector_leg


class SearchUnavailable(Exception):
    """The search could not be made. Never an empty result instead."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Up to `max_candidates` candidates, best first, and the generation that found them."""

    generation: IndexGeneration
    ranking: Ranking
    candidates: tuple[Candidate, ...]

    @property
    def chunk_ids(self) -> list[UUID]:
        return [candidate.chunk_id for candidate in self.candidates]


def search(*, user: User, question: str, generation: IndexGeneration | None = None) -> SearchResult:
    """Find passages for the question among those this person may use now.

    `generation` is for a comparison; people are served by the one that serves. Raises
    SearchUnavailable when a leg, the embedder or the database fails.
    """
    try:
        found = _search(user, question, generation or serving_generation())
        if _is_reclaimed(found.generation):
            # It served when the search began and was emptied under it.
            found = _search(user, question, serving_generation())
        return found
    except (EmbedderUnavailable, DatabaseError) as error:
        raise SearchUnavailable(str(error)) from error


def _is_reclaimed(generation: IndexGeneration) -> bool:
    return IndexGeneration.objects.filter(pk=generation.pk, reclaimed_at__isnull=False).exists()


def _search(user: User, question: str, generation: IndexGeneration) -> SearchResult:
    ranking = Ranking.from_json(generation.ranking)
    terms = question_terms(question, current_tenant().languages)
    query = pinned_embedder(generation).embed_query(question)
    keyword = keyword_leg(reader=user.id, generation=generation, ranking=ranking, terms=terms)
    vector = vector_leg(reader=user.id, generation=generation, ranking=ranking, query=query)
    fused = without_near_codes(
        question=question,
        generation=generation,
        fused=fuse(keyword=keyword, vector=vector, ranking=ranking),
    )

    bm25 = {hit.chunk_id: hit.score for hit in keyword}
    cosine = {hit.chunk_id: hit.score for hit in vector}
    missing = [chunk_id for chunk_id, _ in fused if chunk_id not in cosine]
    cosine |= cosines(reader=user.id, generation=generation, query=query, chunk_ids=missing)
    return SearchResult(
        generation=generation,
        ranking=ranking,
        candidates=tuple(
            Candidate(
                chunk_id=chunk_id,
                score=score,
                keyword=bm25.get(chunk_id),
                cosine=cosine.get(chunk_id, 0.0),
            )
            for chunk_id, score in fused
        ),
    )
