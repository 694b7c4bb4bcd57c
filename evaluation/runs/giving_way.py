"""A run takes what live questions leave: it waits while people are asking."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from answers.models import Answer, AnswerState, Purpose

_LOOK_EVERY_SECONDS = 0.05
# Who has just been answered often asks again: a case that began meanwhile would be in the way.
_QUIET = timedelta(seconds=0.5)
# Where somebody is always asking, a case is run all the same after this long.
_MOST_SECONDS = 10.0


def wait_for_people() -> None:
    """Until nobody of this tenant has been answered for a moment, or long enough."""
    until = time.monotonic() + _MOST_SECONDS
    while _somebody_is_asking() and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_SECONDS)


def _somebody_is_asking() -> bool:
    just_now = timezone.now() - _QUIET
    return Answer.objects.filter(
        Q(state=AnswerState.RUNNING) | Q(finished_at__gte=just_now), purpose=Purpose.LIVE
    ).exists()


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
