"""Fusion by rank and by score."""

from uuid import UUID

import pytest

from documents.retrieval.fuse import fuse
from documents.retrieval.hits import Hit
from documents.retrieval.ranking import Fusion, Ranking

A, B, C = (UUID(int=n) for n in (1, 2, 3))


def test_rank_fusion_sums_the_reciprocals_of_sixty_plus_the_rank():
    fused = fuse(
        keyword=[Hit(A, 9.0), Hit(B, 8.0)],
        vector=[Hit(B, 0.9), Hit(C, 0.8)],
        ranking=Ranking(fusion=Fusion.RRF),
    )
    assert fused[0] == (B, pytest.approx(1 / 62 + 1 / 61))
    assert fused[1] == (A, pytest.approx(1 / 61))
    assert fused[2] == (C, pytest.approx(1 / 62))


def test_the_linear_blend_weighs_scores_scaled_to_the_questions_own_range():
    fused = dict(
        fuse(
            keyword=[Hit(A, 10.0), Hit(B, 5.0), Hit(C, 0.0)],
            vector=[Hit(C, 0.9), Hit(A, 0.7)],
            ranking=Ranking(vector_weight=0.25),
        )
    )
    assert fused == {A: pytest.approx(0.75), B: pytest.approx(0.375), C: pytest.approx(0.25)}


def test_a_leg_with_one_hit_or_equal_scores_counts_in_full():
    fused = dict(fuse(keyword=[Hit(A, 3.0)], vector=[], ranking=Ranking(vector_weight=0.5)))
    assert fused == {A: pytest.approx(0.5)}


def test_no_more_candidates_are_handed_on_than_the_generation_says():
    hits = [Hit(UUID(int=n), 1 / n) for n in range(1, 31)]
    assert len(fuse(keyword=hits, vector=[], ranking=Ranking(max_candidates=7))) == 7


def test_two_empty_legs_give_nothing():
    assert fuse(keyword=[], vector=[], ranking=Ranking()) == []


def test_an_unknown_ranking_field_is_refused():
    with pytest.raises(TypeError):
        Ranking.from_json({"fusion": "rrf", "weight_of_moon": 1})
