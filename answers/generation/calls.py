"""Calls of model servers: over connections that are kept, and ended when nobody waits any more.

The caller's thread looks from time to time whether the answer is still wanted, while the call runs in
the event loop of a thread of its own. A call that is given up closes its connection, by which the
servers know that they may stop.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeVar

import httpx

T, C, P = TypeVar("T"), TypeVar("C"), ParamSpec("P")

CONNECT_TIMEOUT_SECONDS = 5.0
LOOK_EVERY_SECONDS = 0.25
# Longer than people take between two questions; a connection that the server closed is replaced.
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=60)

_wanted: ContextVar[Callable[[], bool]] = ContextVar("wanted", default=lambda: True)
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
_starting = Lock()


class NoLongerWanted(Exception):
    """Nobody waits for the answer any more. The call was ended."""


@contextmanager
def while_wanted(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Calls inside are ended with NoLongerWanted once ``is_wanted`` gives False."""
    token = _wanted.set(is_wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """All calls inside together may take so long; then the one that runs is ended.

    A limit of the client's is for one silence of one call: a server that trickles is never late.
    """
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def call(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What ``work`` returns or raises. Raises NoLongerWanted, and httpx.TimeoutException."""
    is_wanted, deadline = _wanted.get(), _deadline.get()
    future = asyncio.run_coroutine_threadsafe(work(), _loop())
    try:
        while not wait([future], timeout=_until(deadline)).done:
            if time.monotonic() >= deadline:
                raise httpx.ReadTimeout("the calls took too long together")
            if not is_wanted():
                raise NoLongerWanted
    except BaseException:
        future.cancel()
        raise
    return future.result()


def _until(deadline: float) -> float:
    return max(0.0, min(LOOK_EVERY_SECONDS, deadline - time.monotonic()))


def timeouts(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(CONNECT_TIMEOUT_SECONDS, seconds))


def kept(make: Callable[P, C]) -> Callable[P, C]:
    """One client per process and address: threads and connections do not survive a fork."""

    @cache
    def made(process: int, *args: Any, **kwargs: Any) -> C:
        return make(*args, **kwargs)

    return lambda *args, **kwargs: made(os.getpid(), *args, **kwargs)


def _loop() -> asyncio.AbstractEventLoop:
    with _starting:
        return _loop_of(os.getpid())


@cache
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="model-calls", daemon=True).start()
    return loop
