"""Questions that mean the same, asked several times: what a policy should say more plainly.

Grouped by meaning: each question joins the first group whose first question it is close to (cosine
of the serving embedder at least CLOSE), oldest first. Only questions the viewer may see take part at
all, so that no count tells of another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

import numpy as np

from answers.models import Answer, Purpose
from documents.access import readable_documents
from documents.embedding import get_embedder
from documents.generations import serving_generation
from tenants.models import Role, User
from tenants.selectors import roles_of

from .weekly import TOLD, bounds, normalised

CLOSE = 0.92
MOST_QUESTIONS = 300
_DAYS = 28


@dataclass(frozen=True, slots=True)
class Cluster:
    """`question` is the first that was asked of them."""

    question: str
    times: int
    people: int


def repeated_questions(*, viewer: User, monday: date) -> list[Cluster]:
    """Of the four weeks that end with this one, most asked first; empty for who is no reviewer."""
    if Role.REVIEWER not in roles_of(viewer):
        return []
    _, after = bounds(monday)
    rows = (
        Answer.objects.filter(
            purpose=Purpose.LIVE,
            outcome__in=TOLD,
            purged_at=None,
            created_at__gte=after - timedelta(days=_DAYS),
            created_at__lt=after,
        )
        .prefetch_related("permits")
        .order_by("-created_at")[:MOST_QUESTIONS]
    )
    seen = sorted(_visible(viewer, rows), key=lambda answer: (answer.created_at, answer.pk))
    groups = _grouped(seen)
    clusters = [
        Cluster(group[0].question, len(group), len({answer.user_id for answer in group}))
        for group in groups
        if len(group) > 1
    ]
    return sorted(clusters, key=lambda one: (-one.times, one.question))


def _visible(viewer: User, answers: Sequence[Answer]) -> list[Answer]:
    """Those about nothing but documents that the viewer may read: all that any permit of them names."""
    about = {
        answer.pk: {
            UUID(key) for permit in answer.permits.all() for key in permit.document_versions
        }
        for answer in answers
    }
    named = set().union(*about.values()) if about else set()
    readable = set(
        readable_documents(user=viewer).filter(id__in=named).values_list("id", flat=True)
    )
    return [answer for answer in answers if about[answer.pk] and about[answer.pk] <= readable]


def _grouped(answers: Sequence[Answer]) -> list[list[Answer]]:
    by_words: dict[str, list[Answer]] = {}
    for answer in answers:
        by_words.setdefault(normalised(answer.question), []).append(answer)
    if not by_words:
        return []
    embedder = get_embedder(serving_generation().embedder)
    vectors = np.asarray([embedder.embed_query(rows[0].question) for rows in by_words.values()])
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    groups: list[list[Answer]] = []
    leaders: list[np.ndarray] = []
    for rows, vector in zip(by_words.values(), vectors, strict=True):
        close = [float(vector @ leader) for leader in leaders]
        if close and max(close) >= CLOSE:
            groups[int(np.argmax(close))].extend(rows)
        else:
            groups.append(list(rows))
            leaders.append(vector)
    return groups
