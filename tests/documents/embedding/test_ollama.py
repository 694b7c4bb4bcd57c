from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from documents.embedding import EmbedderUnavailable, get_embedder
from documents.embedding.ollama import BATCH_SIZE, OllamaEmbedder
from tests.fakes.ollama_server import FakeOllama


@pytest.fixture
def server() -> Iterator[FakeOllama]:
    with FakeOllama(embed_dims=16) as running:
        yield running


@pytest.fixture
def embedder(server: FakeOllama) -> OllamaEmbedder:
    return OllamaEmbedder(model="nomic-embed-text", host=server.url)


def sent_texts(server: FakeOllama) -> list[str]:
    return [text for body in server.bodies("/api/embed") for text in body["input"]]


def test_the_host_comes_from_the_environment(
    server: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    embedder = get_embedder("ollama:nomic-embed-text")
    assert embedder is get_embedder("ollama:nomic-embed-text")
    assert embedder.embed_query("leave").shape == (16,)
    assert server.bodies("/api/embed")[0]["model"] == "nomic-embed-text"


def test_another_host_is_another_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:1")
    first = get_embedder("ollama:nomic-embed-text")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:2")
    assert get_embedder("ollama:nomic-embed-text") is not first


def test_each_side_has_its_prefix(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    embedder.embed_query("How much leave?")
    embedder.embed_passages(["25 days.", "26 days."])
    assert sent_texts(server) == [
        "search_query: How much leave?",
        "search_document: 25 days.",
        "search_document: 26 days.",
    ]


def test_a_model_trained_without_prefixes_gets_none() -> None:
    with FakeOllama(models=("bge-m3:latest",)) as server:
        OllamaEmbedder(model="bge-m3", host=server.url).embed_query("leave")
    assert sent_texts(server) == ["leave"]


def test_dimensions_are_asked_of_the_model(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    assert embedder.dims == 16
    server.embed_dims = 24
    assert OllamaEmbedder(model="nomic-embed-text", host=server.url).dims == 24


def test_vectors_are_in_order_and_of_length_one(embedder: OllamaEmbedder) -> None:
    passages = [f"passage {number}" for number in range(BATCH_SIZE * 2 + 3)]
    vectors = embedder.embed_passages(passages)
    assert vectors.shape == (len(passages), 16)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[BATCH_SIZE], embedder.embed_passages([passages[BATCH_SIZE]])[0])


def test_many_passages_go_in_batches(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    embedder.embed_passages(["text"] * (BATCH_SIZE + 1))
    assert [len(body["input"]) for body in server.bodies("/api/embed")] == [BATCH_SIZE, 1]


def test_no_passages_need_only_the_dimensions(embedder: OllamaEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 16)


def test_nul_is_never_sent(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    embedder.embed_query("le\x00ave")
    assert sent_texts(server) == ["search_query: leave"]


def test_the_version_names_the_weights(server: FakeOllama, embedder: OllamaEmbedder) -> None:
    assert embedder.version.startswith("ollama:nomic-embed-text@")
    missing = OllamaEmbedder(model="absent", host=server.url)
    with pytest.raises(EmbedderUnavailable, match="ollama pull absent"):
        _ = missing.version


def test_a_missing_model_says_how_to_get_it(server: FakeOllama) -> None:
    with pytest.raises(EmbedderUnavailable, match="ollama pull absent"):
        OllamaEmbedder(model="absent", host=server.url).embed_query("leave")


def test_nobody_listening_is_unavailable() -> None:
    with FakeOllama() as server:
        closed = server.url
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        OllamaEmbedder(model="nomic-embed-text", host=closed).embed_query("leave")


def test_an_error_of_the_server_is_unavailable(
    server: FakeOllama, embedder: OllamaEmbedder
) -> None:
    server.fail_with = 500
    with pytest.raises(EmbedderUnavailable, match="status 500"):
        embedder.embed_query("leave")


def test_text_is_not_carried_to_another_host_by_a_redirect(
    server: FakeOllama, embedder: OllamaEmbedder
) -> None:
    with FakeOllama() as elsewhere:
        server.redirect_to = elsewhere.url
        with pytest.raises(EmbedderUnavailable, match="status 307"):
            embedder.embed_query("leave")
    assert elsewhere.calls == []


def test_a_server_that_never_answers_is_given_up(server: FakeOllama) -> None:
    server.hang = True
    embedder = OllamaEmbedder(model="nomic-embed-text", host=server.url, reply_seconds=0.05)
    with pytest.raises(EmbedderUnavailable, match="did not answer within"):
        embedder.embed_query("leave")


@pytest.mark.parametrize("reply", [b"<html>a proxy's welcome page</html>", b"[1]", b'{"a": 1}'])
def test_a_reply_that_is_not_ollamas_is_unavailable(
    server: FakeOllama, embedder: OllamaEmbedder, reply: bytes
) -> None:
    server.raw_reply = reply
    with pytest.raises(EmbedderUnavailable, match="not Ollama's"):
        embedder.embed_query("leave")


@pytest.mark.parametrize(
    "vectors",
    [
        pytest.param([], id="none"),
        pytest.param([[1.0, 2.0]], id="too few"),
        pytest.param([[1.0, 2.0], [1.0]], id="ragged"),
        pytest.param([[], []], id="empty"),
        pytest.param([[0.0, 0.0], [1.0, 0.0]], id="without direction"),
    ],
)
def test_vectors_of_a_wrong_shape_are_refused(
    server: FakeOllama, embedder: OllamaEmbedder, vectors: list[list[float]]
) -> None:
    server.embed_reply = lambda body: {"model": body["model"], "embeddings": vectors}
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_passages(["one", "two"])


def test_a_model_that_changes_its_dimensions_is_refused(
    server: FakeOllama, embedder: OllamaEmbedder
) -> None:
    embedder.embed_query("leave")
    server.embed_dims = 24
    with pytest.raises(EmbedderUnavailable, match="new index generation"):
        embedder.embed_query("leave")
