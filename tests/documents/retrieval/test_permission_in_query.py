"""A reader of one passage finds it among ten thousand, although five hundred forbidden ones match better."""

import numpy as np
import pytest
from django.db import connection

from benchmarks.generated_index import write_document
from documents.generations import serving_generation
from documents.models import (
    Chunk,
    Document,
)
from documents.retrieval.keyword import keyword_leg
from documents.retrieval.ranking import Ranking
from documents.retrieval.terms import question_terms
from documents.retrieval.vector import Plan, vector_leg
from documents.services import grant_access
from tests.bank import Bank

CHUNKS = 10_000
BETTER = 500
QUESTION = "zebra crossing allowance for branch visitors"


@pytest.fixture(scope="module")
def corpus():
    """One document of 10,000 forbidden chunks, 500 of which are the question itself; one of one chunk."""
    bank = Bank.create()
    reader = bank.person("reader")
    with bank.scope():
        generation = serving_generation()
        query = unit(np.random.default_rng(7).normal(size=generation.dims))
        texts = [QUESTION] * BETTER + [f"filler passage number {n}" for n in range(CHUNKS - BETTER)]
        noise = np.random.default_rng(8).normal(size=(CHUNKS, generation.dims))
        vectors = [
            unit(query + 0.01 * unit(noise[n])) if n < BETTER else unit(noise[n])
            for n in range(CHUNKS)
        ]
        add_chunks(generation, texts, vectors)
        mine = add_chunks(
            generation,
            ["The zebra crossing is out of order."],
            [unit(0.3 * query + unit(noise[-1]))],
        )
        grant_access(actor=None, document=mine, subject=reader)
        wanted = Chunk.objects.get(document=mine).id
    return bank, reader, generation, query, wanted


def unit(vector):
    return vector / np.linalg.norm(vector)


def add_chunks(generation, texts, vectors) -> Document:
    """Chunks straight into the index: ten thousand embeddings are not what is tested here."""
    return write_document(
        generation=generation,
        title="Big",
        department="Human Resources",
        texts=texts,
        vectors=vectors,
        term_length=8,
    )


def test_the_keyword_leg_finds_the_one_permitted_passage(corpus):
    bank, reader, generation, _, wanted = corpus
    with bank.scope():
        hits = keyword_leg(
            reader=reader.id,
            generation=generation,
            ranking=Ranking(),
            terms=question_terms(QUESTION, ["en"]),
        )
    assert [hit.chunk_id for hit in hits] == [wanted]


@pytest.mark.parametrize("plan", [Plan.EXACT, Plan.HNSW])
def test_the_vector_leg_finds_the_one_permitted_passage(corpus, plan):
    bank, reader, generation, query, wanted = corpus
    with bank.scope():
        hits = vector_leg(
            reader=reader.id, generation=generation, ranking=Ranking(), query=query, plan=plan
        )
    assert [hit.chunk_id for hit in hits] == [wanted]


def test_the_graph_scan_alone_gets_past_the_five_hundred_forbidden_neighbours(corpus):
    from documents.retrieval.vector import scan_graph

    bank, reader, generation, query, wanted = corpus
    with bank.scope():
        hits = scan_graph(reader=reader.id, generation=generation, limit=30, query=query)
    assert [hit.chunk_id for hit in hits] == [wanted]


def test_the_hnsw_plan_really_uses_the_index_under_row_level_security(corpus):
    from documents.retrieval import vector

    bank, reader, generation, query, _ = corpus
    plans = []

    def explain(execute, sql, params, many, context):
        if "halfvec" in sql and sql.lstrip().startswith("SELECT chunk_id"):
            with context["connection"].cursor() as cursor:
                cursor.cursor.execute("EXPLAIN " + sql, params)
                plans.append("\n".join(row[0] for row in cursor.cursor.fetchall()))
        return execute(sql, params, many, context)

    with bank.scope(), connection.execute_wrapper(explain):
        vector.vector_leg(
            reader=reader.id,
            generation=generation,
            ranking=Ranking(),
            query=query,
            plan=Plan.HNSW,
        )
    assert f"hnsw_{generation.id.hex}" in plans[0]


@pytest.mark.parametrize("plan", [Plan.EXACT, Plan.HNSW])
def test_somebody_with_no_grant_finds_nothing_in_either_leg(corpus, plan):
    bank, _, generation, query, _ = corpus
    stranger = bank.person("stranger")
    with bank.scope():
        common = {"reader": stranger.id, "generation": generation, "ranking": Ranking()}
        assert vector_leg(**common, query=query, plan=plan) == []
        assert keyword_leg(**common, terms=question_terms(QUESTION, ["en"])) == []
