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
_MOST_SECONDS_OF_A_STEP = 2.0


def wait_for_people() -> None:
    """Before a case: until nobody of this tenant has been answered for a moment, or long enough."""
    _wait(most=_MOST_SECONDS, quiet=_QUIET)


def wait_between_steps() -> float:
    """In the middle of a case: until nobody is being answered. Returns the seconds it took."""
    return _wait(most=_MOST_SECONDS_OF_A_STEP, quiet=timedelta())


def _wait(*, most: float, quiet: timedelta) -> float:
    began = now = time.monotonic()
    while _somebody_is_asking(quiet) and now < began + most:
        time.sleep(_LOOK_EVERY_SECONDS)
        now = time.monotonic()
    return now - began


def _somebody_is_asking(quiet: timedelta) -> bool:
    just_now = timezone.now() - quiet
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
