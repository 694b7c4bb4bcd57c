"""A run takes what live questions leave: it waits while people are being answered."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from answers.models import Answer, AnswerState, Purpose

_LOOK_EVERY_SECONDS = 0.05
# Where somebody is always asking, a case is run all the same after this long.
_MOST_SECONDS = 2.0


def wait_for_people() -> None:
    """Until nobody of this tenant is being answered, or long enough."""
    until = time.monotonic() + _MOST_SECONDS
    live = Answer.objects.filter(state=AnswerState.RUNNING, purpose=Purpose.LIVE)
    while live.exists() and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_SECONDS)


@contextmanager
def what_is_left() -> Iterator[None]:
    """This thread in the scheduler's idle class, where the system has one and allows it."""
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    try:
        yield
    finally:
        with suppress(AttributeError, OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
