"""What did not change from one version to the next is not embedded again."""

import numpy as np
import pytest

from documents import generations
from documents.embedding import get_embedder
from documents.models import Chunk, ChunkEmbedding, IndexGeneration


class Counting:
    """The bundled embedder, noting what it was asked to embed."""

    def __init__(self, real):
        self._real = real
        self.passages: list[str] = []

    def __getattr__(self, name):
        return getattr(self._real, name)

    def embed_passages(self, texts):
        self.passages += texts
        return self._real.embed_passages(texts)


@pytest.fixture
def counting(monkeypatch):
    """Use-multilingual, as it is the faster one."""
    embedder = Counting(get_embedder("use-multilingual"))
    monkeypatch.setattr(generations, "get_embedder", lambda name: embedder)
    return embedder


def sections(changed: int | None = None) -> list[str]:
    """Forty sections, four a page."""
    bodies = [
        f"{number}. Subject number {number}\n"
        f"The limit of subject {number} is {number + (1000 if number == changed else 0)} euro a day."
        for number in range(1, 41)
    ]
    return ["\n".join(bodies[first : first + 4]) for first in range(0, 40, 4)]


@pytest.fixture
def by_section(bank, settings):
    settings.EMBEDDER = "use-multilingual"
    with bank.scope():
        generations.create_generation(
            name="by section",
            embedder_name="use-multilingual",
            chunking="sections-1",
            status="serving",
        )


def test_changing_one_section_of_forty_embeds_that_section_alone(bank, counting, by_section):
    document = bank.document("Limits", sections())
    assert len([text for text in counting.passages if "Subject number" in text]) == 40
    counting.passages.clear()
    version = bank.new_version(document, sections(changed=17))
    embedded = [text for text in counting.passages if text != generations.PROBE]
    assert len(embedded) == 1
    assert "1017 euro" in embedded[0]
    with bank.scope():
        vectors = ChunkEmbedding.objects.filter(version=version).select_related("chunk")
        fresh = {one.chunk.text: np.array(one.vector) for one in vectors}
    assert len(fresh) == 40
    some = next(text for text in fresh if "Subject number 8" in text)
    made = counting.embed_passages([some])[0]
    assert float(fresh[some] @ made) > 0.999


def test_another_document_or_generation_lends_no_vectors(bank, counting, by_section):
    bank.document("Limits", sections())
    counting.passages.clear()
    bank.document("The same limits", sections())
    assert len([text for text in counting.passages if text != generations.PROBE]) == 40
    with bank.scope():
        assert Chunk.objects.count() == 80
        assert IndexGeneration.objects.get().chunking == "sections-1"
