"""Another generation takes over in one step, and vectors of two embedders never meet."""

from documents.models import Chunk, ChunkEmbedding, IndexGeneration
from documents.reindexing import reindex


def test_a_generation_with_another_embedder_takes_over_and_answers(bank, settings):
    user = bank.person("reader")
    bank.document("Leave", readers=[user])
    with bank.scope():
        chunks = Chunk.objects.count()
        settings.EMBEDDER = "use-multilingual"
        second = reindex(name="second")
        assert second.status == "serving"
        assert IndexGeneration.objects.get(name="first").status == "retired"
        assert Chunk.objects.count() == chunks
        assert {e.generation.dims for e in ChunkEmbedding.objects.all()} == {384, 512}
    view = bank.ask(user, "How many days of annual leave do I have?")
    assert "25 days" in view.claims[0].text
    assert view.answer.generation_id_used == second.id


def test_reindexing_again_builds_nothing_twice(bank):
    bank.document("Leave")
    with bank.scope():
        reindex(name="second")
        before = ChunkEmbedding.objects.count()
        reindex(name="second")
        assert ChunkEmbedding.objects.count() == before
