"""Embedding that takes the processor time that others leave, and yet gets done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")

# A piece of work that waited longer than this for its turns is followed by one that need not.
_MOST_SECONDS_WAITED = 10.0


class Background:
    """Runs one piece of work at a time in a thread of the scheduler's idle class.

    A lower priority alone gives way too late: a thread that answers a question has to win the
    processor back at each of its steps. Where others never stop, every second piece runs in the
    caller's own thread. Make it in the process that uses it: threads do not survive a fork.
    """

    def __init__(self) -> None:
        self._idle = ThreadPoolExecutor(1, "background", initializer=_take_what_is_left)
        self._waited = 0.0

    def run(self, work: Callable[[], Result]) -> Result:
        if self._waited > _MOST_SECONDS_WAITED:
            self._waited = 0.0
            return work()
        began = time.monotonic()
        result, used = self._idle.submit(_timed, work).result()
        self._waited = time.monotonic() - began - used
        return result


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """(the result, seconds of processor time)."""
    began = time.thread_time()
    return work(), time.thread_time() - began


def _take_what_is_left() -> None:
    # Where the system has no such class or forbids it, the process's priority has to do.
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # 0: this thread
