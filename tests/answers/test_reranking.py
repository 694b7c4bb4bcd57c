from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answers.reranking import QuestionTerms, RankingSettings, question_terms, rerank
from tests.answers.passages import passage

QUESTION = question_terms("How many days of annual leave do I have?", "en")


def ranked(*chunks, cosines=None, terms=QUESTION, **settings):
    return rerank(
        terms=terms,
        evidence=chunks,
        cosines=cosines or {},
        settings=RankingSettings(**settings),
    )


def test_the_score_can_be_recomputed_by_hand():
    terms = QuestionTerms(terms=("vault", "kei"), weights={"vault": 3.0, "kei": 1.0})
    chunk = passage("The vault is locked.")
    (only,) = ranked(chunk, terms=terms, cosines={chunk.chunk_id: 0.8})
    assert only.cosine == 0.8
    assert only.score == pytest.approx(0.7 * 0.8 + 0.3 * 0.75)


def test_the_best_comes_first_and_numbers_run_from_one():
    poor = passage("Visitors sign the register.", number=7)
    good = passage("Employees have 25 days of annual leave.", number=9)
    result = ranked(poor, good)
    assert [chunk.text for chunk in result] == [good.text, poor.text]
    assert [chunk.number for chunk in result] == [1, 2]


def test_what_is_below_the_threshold_is_dropped():
    chunk = passage("Visitors sign the register.")
    assert ranked(chunk, cosines={chunk.chunk_id: 0.2}, threshold=0.5) == []


def test_of_two_overlapping_passages_of_a_version_the_better_stays():
    worse = passage("annual leave " * 10, document="d", start=0)
    better = passage("days of annual leave " * 6, document="d", start=40)
    assert ranked(worse, better) == ranked(better)


def test_passages_that_overlap_by_half_both_stay():
    first = passage("x" * 100, document="d", start=0)
    second = passage("y" * 100, document="d", start=50)
    assert len(ranked(first, second)) == 2


def test_the_same_offsets_in_another_version_are_no_overlap():
    assert len(ranked(passage("annual leave"), passage("annual leave", number=2))) == 2


def test_no_more_than_the_wanted_number_stays():
    chunks = [passage(f"annual leave {n}", number=n) for n in range(1, 13)]
    assert len(ranked(*chunks)) == 8
    assert len(ranked(*chunks, max_chunks=3)) == 3


def test_a_negative_similarity_counts_as_none():
    chunk = passage("annual leave")
    (only,) = ranked(chunk, cosines={chunk.chunk_id: -0.4}, threshold=0)
    assert only.cosine == 0


def test_equal_scores_have_an_order_that_does_not_depend_on_the_input():
    chunks = [passage("annual leave", number=n) for n in range(1, 6)]
    order = [chunk.chunk_id for chunk in ranked(*chunks)]
    assert order == [chunk.chunk_id for chunk in ranked(*reversed(chunks))]


def test_settings_survive_the_way_through_json():
    settings = RankingSettings(cosine_weight=0.6, coverage_weight=0.4, max_chunks=5)
    assert RankingSettings.from_json(settings.to_json()) == settings
    assert RankingSettings.from_json({}) == RankingSettings()
    with pytest.raises(ValueError, match="cosine_wieght"):
        RankingSettings.from_json({"cosine_wieght": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        {"cosine_weight": 0.9},
        {"cosine_weight": 1.5, "coverage_weight": -0.5},
        {"max_chunks": 0},
        {"max_overlap": 1.5},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError):
        RankingSettings(**wrong)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 80), st.floats(-1, 1)), max_size=20))
def test_kept_passages_never_overlap_by_more_than_half(spans):
    chunks = [
        passage("z" * length, document="d", start=start, cosine=cosine)
        for start, length, cosine in spans
    ]
    kept = ranked(*chunks, threshold=0, max_chunks=20)
    for one in kept:
        for other in kept:
            shared = min(one.end, other.end) - max(one.start, other.start)
            shorter = min(len(one.text), len(other.text))
            assert one is other or shared <= shorter / 2
    assert [chunk.score for chunk in kept] == sorted((c.score for c in kept), reverse=True)
