"""Running an attempt for a caller: as a stream of server-sent events, or to its end.

A stream's attempt runs in a thread of its own, so that a long step keeps the stream neither from
showing that it is there nor from noticing that the caller has gone. An attempt that is running
already is followed in the database, whichever process runs it.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection

from documents.models import IndexGeneration
from tenants.camel_case import camel, rename_keys
from tenants.models import User
from tenants.scope import tenant_scope

from . import services
from .abandoned import end_abandoned
from .generation import Generator
from .models import Answer, AnswerConfiguration, AnswerState
from .pipeline import answer_question
from .present import answer_object
from .progress import Stage, Status
from .selectors import AnswerView, present_answer
from .services import Started

log = structlog.get_logger("precept.answers")

# How often an attempt is looked at that may end, or go on, elsewhere.
_LOOK_EVERY_SECONDS = 0.25
_STAGES = tuple(Stage)
_EVENT_ID = re.compile(r"([1-9]\d?)\.([1-9])", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """How far an attempt is: which try, and how many stages into it. The id of a status event."""

    attempt: int = 0
    stages: int = 0

    @classmethod
    def parse(cls, event_id: str) -> "Place":
        """From a `Last-Event-ID`; the beginning for anything that is none of ours."""
        found = _EVENT_ID.fullmatch(event_id)
        return cls(int(found[1]), int(found[2])) if found else cls()

    @classmethod
    def of(cls, attempt: int, stage: str) -> "Place":
        known = stage in _STAGES
        return cls(attempt, _STAGES.index(stage) + 1) if known else cls()

    def up_to(self, other: "Place") -> Iterator["Place"]:
        """The places after this one; of an earlier try, which is void, nothing is told any more."""
        first = self.stages if self.attempt == other.attempt else 0
        if other > self:
            for stages in range(first + 1, other.stages + 1):
                yield Place(other.attempt, stages)

    def event(self) -> bytes:
        stage = _STAGES[self.stages - 1]
        return _event("status", {"stage": stage}, event_id=f"{self.attempt}.{self.stages}")


def answer_to_the_end(
    *,
    user: User,
    started: Started,
    generator: Generator | None = None,
    generation: IndexGeneration | None = None,
    configuration: AnswerConfiguration | None = None,
) -> AnswerView:
    """Run (or follow) the attempt in this thread and return what its asker may see."""
    if started.is_new:
        progress = answer_question(
            answer=started.answer,
            generator=generator,
            generation=generation,
            configuration=configuration,
        )
    else:
        progress = _follow(started.answer, user.tenant_id, Place())
    for _ in progress:
        pass
    return present_answer(user=user, answer=started.answer)


def event_stream(
    *, user: User, started: Started, tenant_id: UUID, last_event_id: str = ""
) -> Iterator[bytes]:
    """`status` events in order, then exactly one `answer`. No answer text before release.

    Between them come comments while nothing happens. Closing it early (a dropped connection) ends
    the attempt as interrupted, unless another connection follows it. `last_event_id` is the last
    status event that the caller has seen of an attempt which is running already.
    """
    if started.is_new:
        services.note_alive(answer=started.answer)  # before anything can go wrong with the stream
        progress = _run(started.answer, tenant_id)
    else:
        progress = _follow(started.answer, tenant_id, Place.parse(last_event_id))
    return _written(user, started.answer, tenant_id, progress)


def _written(
    user: User, answer: Answer, tenant_id: UUID, progress: Iterator[Place | None]
) -> Iterator[bytes]:
    """Runs after the middleware has closed the request's scope, so each look opens its own."""
    with closing(progress):  # now, not whenever it is collected
        for place in progress:
            yield b": keep-alive\n\n" if place is None else place.event()
    with tenant_scope(tenant_id):
        shown = answer_object(present_answer(user=user, answer=answer))
    yield _event("answer", shown)


def _run(answer: Answer, tenant_id: UUID) -> Iterator[Place | None]:
    """The attempt's places as it reaches them, None as a sign of life; ends when the attempt has."""
    places: SimpleQueue[Place | None] = SimpleQueue()
    worker = Thread(
        target=_work, args=(answer, tenant_id, places), name=f"answer-{answer.pk}", daemon=True
    )
    sign_due = time.monotonic() + settings.STREAM_KEEPALIVE_SECONDS
    try:
        worker.start()
        while True:
            try:
                place = places.get(timeout=_LOOK_EVERY_SECONDS)
            except Empty:
                if not _is_running(answer, tenant_id):
                    return  # cancelled, or ended by a sweep: what the thread still makes is refused
            else:
                if place is None:
                    return
                yield place
            if time.monotonic() >= sign_due:
                with tenant_scope(tenant_id):
                    services.note_alive(answer=answer)
                sign_due = time.monotonic() + settings.STREAM_KEEPALIVE_SECONDS
                yield None
    except BaseException:  # a caller that has gone is a GeneratorExit
        with tenant_scope(tenant_id):
            services.leave_answer(answer=answer, followed_within=_followed_within())
        raise


def _work(answer: Answer, tenant_id: UUID, places: SimpleQueue) -> None:
    """In a thread: its own scope and connection. The last thing it says is None."""
    try:
        with tenant_scope(tenant_id):
            for event in answer_question(answer=answer):
                if isinstance(event, Status):
                    places.put(Place.of(answer.attempt, event.stage))
    except Exception:
        log.exception("attempt", answer=str(answer.pk))  # the sweep ends it
    finally:
        connection.close()
        places.put(None)


def _follow(answer: Answer, tenant_id: UUID, seen: Place) -> Iterator[Place | None]:
    """The same attempt, run elsewhere: its places as they come, until it ends."""
    sign_due = 0.0
    while True:
        with tenant_scope(tenant_id):
            current = Answer.objects.get(pk=answer.pk)
            if current.state == AnswerState.FINISHED:
                return
            is_due = time.monotonic() >= sign_due
            if is_due:
                services.note_followed(answer=answer)
                end_abandoned()
                sign_due = time.monotonic() + settings.STREAM_KEEPALIVE_SECONDS
        reached = Place.of(current.attempt, current.stage)
        news = list(seen.up_to(reached))
        seen = max(seen, reached)
        yield from news
        if is_due and not news:
            yield None
        time.sleep(_LOOK_EVERY_SECONDS)


def _is_running(answer: Answer, tenant_id: UUID) -> bool:
    with tenant_scope(tenant_id):
        return Answer.objects.filter(pk=answer.pk, state=AnswerState.RUNNING).exists()


def _followed_within() -> timedelta:
    return timedelta(seconds=2 * settings.STREAM_KEEPALIVE_SECONDS)


def _event(name: str, data: dict[str, object], *, event_id: str = "") -> bytes:
    body = json.dumps(rename_keys(data, camel), ensure_ascii=False)
    lines = [f"event: {name}", *([f"id: {event_id}"] if event_id else []), f"data: {body}"]
    return ("\n".join(lines) + "\n\n").encode()
