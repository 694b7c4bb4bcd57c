"""Has live questions run through a generation in shadow as well, in the worker and never instead."""

from uuid import UUID

import structlog
from django_q.tasks import async_task, queue_size

from documents.retrieval.search import SearchUnavailable
from documents.shadowing import compare, generation_in_shadow

from .models import Answer, Purpose

log = structlog.get_logger("precept.answers")

# A worker that is behind has better things to do: a comparison is a sample, not a duty.
_MOST_WAITING = 50


def compare_later(answer: Answer) -> None:
    """Hand the question, by its id, to the worker when a generation is in shadow. Never raises."""
    try:
        wanted = answer.purpose != Purpose.EVALUATION and generation_in_shadow() is not None
        if wanted and queue_size() < _MOST_WAITING:
            async_task("answers.tasks.compare_in_shadow", str(answer.tenant_id), str(answer.pk))
    except Exception:
        log.exception("shadow", answer=str(answer.pk))


def compare_answer(answer_id: UUID) -> float | None:
    """The overlap, or None when there is nothing to compare (any more)."""
    answer = Answer.objects.select_related("user").filter(pk=answer_id).first()
    if answer is None:
        return None
    try:
        return compare(user=answer.user, question=answer.question)
    except SearchUnavailable as failure:
        log.warning("shadow", answer=str(answer_id), reason=str(failure))
        return None
