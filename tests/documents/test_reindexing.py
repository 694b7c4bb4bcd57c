"""Another generation takes over in one step, and vectors of two embedders never meet."""

import threading

import psycopg
from django.db import connection

from documents import services
from documents.generations import create_generation
from documents.models import Chunk, ChunkEmbedding, IndexGeneration
from documents.reindexing import build_beside, promote
from tests.overrides import let_pass


def test_a_generation_with_another_embedder_takes_over_and_answers(bank, settings):
    user = bank.person("reader")
    bank.document("Leave", readers=[user])
    with bank.scope():
        chunks = Chunk.objects.count()
        settings.EMBEDDER = "use-multilingual"
        second = build_beside(name="second")
    let_pass(bank, second)
    with bank.scope():
        promote(generation=second)
        second.refresh_from_db()
        assert second.status == "serving"
        assert IndexGeneration.objects.get(name="first").status == "retired"
        assert Chunk.objects.count() == chunks
        assert {e.generation.dims for e in ChunkEmbedding.objects.all()} == {384, 512}
    view = bank.ask(user, "How many days of annual leave do I have?")
    assert "25 days" in view.claims[0].text
    assert view.answer.generation_id_used == second.id


def test_building_again_builds_nothing_twice(bank):
    bank.document("Leave")
    with bank.scope():
        build_beside(name="second")
        before = ChunkEmbedding.objects.count()
        build_beside(name="second")
        assert ChunkEmbedding.objects.count() == before


def test_a_document_cannot_change_between_the_birth_of_a_vector_and_its_commit(bank, database):
    """Else the new generation would keep for good what `live` was in the middle of the change."""
    document = bank.document("Leave")
    with bank.scope():
        vector = ChunkEmbedding.objects.get(document=document)
        second = create_generation(name="second", embedder_name=vector.generation.embedder)
    with psycopg.connect(database["SUPERUSER_URL"]) as writer:
        writer.execute(
            "INSERT INTO documents_chunkembedding"
            " (tenant_id, generation_id, chunk_id, document_id, version_id, live, vector)"
            " SELECT tenant_id, %s, chunk_id, document_id, version_id, live, vector"
            " FROM documents_chunkembedding WHERE id = %s",
            [second.id, vector.id],
        )
        deletion = threading.Thread(target=_delete, args=(bank, document))
        deletion.start()
        deletion.join(timeout=0.5)
        waits = deletion.is_alive()
        writer.commit()
        deletion.join()
    assert waits
    with bank.scope():
        assert not ChunkEmbedding.objects.filter(document=document, live=True).exists()


def _delete(bank, document) -> None:
    try:
        with bank.scope():
            services.delete_document(actor=None, document=document)
    finally:
        connection.close()
