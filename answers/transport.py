"""Running an attempt for a caller: as a stream of server-sent events, or to its end."""

import json
import time
from collections.abc import Iterator
from uuid import UUID

from django.utils import timezone

from tenants.camel_case import camel, rename_keys
from tenants.models import User
from tenants.scope import tenant_scope

from .abandoned import ABANDONED_AFTER, end_abandoned
from .generation import Generator
from .models import Answer, AnswerState
from .pipeline import answer_question
from .present import answer_object
from .progress import Status
from .selectors import AnswerView, present_answer
from .services import Started

# How often someone else's running attempt is looked at.
_FOLLOW_EVERY_SECONDS = 0.25


def answer_to_the_end(
    *, user: User, started: Started, generator: Generator | None = None
) -> AnswerView:
    """Run (or follow) the attempt and return what its asker may see."""
    for _ in _progress(started, generator):
        pass
    return present_answer(user=user, answer=started.answer)


def event_stream(*, user: User, started: Started, tenant_id: UUID) -> Iterator[bytes]:
    """`status` events in order, then exactly one `answer`. No answer text before release.

    Runs after the middleware has closed the request's scope, so it opens its own. Closing it early
    (a dropped connection) ends the attempt as interrupted.
    """
    with tenant_scope(tenant_id):
        for event in _progress(started, None):
            if isinstance(event, Status):
                yield _event("status", {"stage": event.stage})
        yield _event("answer", answer_object(present_answer(user=user, answer=started.answer)))


def _progress(started: Started, generator: Generator | None) -> Iterator[object]:
    if started.is_new:
        return answer_question(answer=started.answer, generator=generator)
    return _follow(started.answer)


def _follow(answer: Answer) -> Iterator[Status]:
    """The same attempt, run elsewhere: its stages as they come, until it ends."""
    seen = ""
    while True:
        current = Answer.objects.get(pk=answer.pk)
        if current.state == AnswerState.FINISHED:
            return
        if current.stage not in ("received", seen):
            seen = current.stage
            yield Status(stage=current.stage)
        end_abandoned(older_than=timezone.now() - ABANDONED_AFTER)
        time.sleep(_FOLLOW_EVERY_SECONDS)


def _event(name: str, data: dict[str, object]) -> bytes:
    body = json.dumps(rename_keys(data, camel), ensure_ascii=False)
    return f"event: {name}\ndata: {body}\n\n".encode()
