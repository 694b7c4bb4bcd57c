from __future__ import annotations

import pytest

from answers.lexicon import LANGUAGES, concepts
from answers.terms import content_words, fold, question_terms, unaccented
from answers.vocabulary import GENERIC_WORDS, STOP_WORDS


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", ("approve", "approves", "approved", "approval", "approving")),
        ("en", ("policy", "policies")),
        ("en", ("submit", "submitted", "submits")),
        ("en", ("expense", "expenses")),
        ("en", ("authorise", "authorised", "authorisation", "authorize", "authorization")),
        ("en", ("process", "processes")),
        ("nl", ("medewerker", "medewerkers")),
        ("nl", ("dag", "dagen")),
        ("nl", ("jaar", "jaren")),
        ("nl", ("termijn", "termijnen")),
        ("nl", ("openen", "opent", "geopend")),
        ("de", ("öffnen", "geöffnet")),
        ("fr", ("employé", "employés", "employée", "employées")),
        ("fr", ("congé", "congés")),
        ("fr", ("approuver", "approuve", "approuvent")),
        ("de", ("Mitarbeiter", "Mitarbeitern")),
        ("de", ("Genehmigung", "Genehmigungen")),
    ],
)
def test_inflections_of_a_word_are_one_word(language, forms):
    assert len({fold(unaccented(form), language) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("leave", "level"), ("card", "care"), ("access", "accent"), ("25", "255"), ("vault", "fault")],
)
def test_different_words_stay_different(one, other):
    assert fold(one, "en") != fold(other, "en")


def test_words_that_say_nothing_about_the_subject_are_no_terms():
    assert content_words("How many days of leave do I get?", "en") == ["days", "leave"]
    assert content_words("Combien de jours l'employé a-t-il ?", "fr") == ["jours", "employe"]
    assert content_words("Hoeveel dagen verlof heb ik?", "nl") == ["dagen", "verlof"]
    assert content_words("Wie viele Tage Urlaub habe ich?", "de") == ["tage", "urlaub"]


def test_an_identifier_is_not_also_words():
    terms = question_terms("What does POL-2024-017 say about gifts?", "en")
    assert terms.identifiers == {"POL-2024-017"}
    assert terms.terms == ("gift",)


def test_words_every_policy_uses_weigh_less():
    terms = question_terms("Which employees may open the vault?", "en")
    assert terms.weight(fold("employees", "en")) < terms.weight("vault")


def test_given_weights_are_used():
    terms = question_terms("open the vault", "en", {"vault": 5.0, "open": 1.0})
    assert terms.coverage("the vault") == pytest.approx(5 / 6)


def test_coverage_of_no_terms_is_none():
    assert question_terms("What is it?", "en").coverage("anything") == 0


def test_a_word_of_the_same_meaning_counts_almost_as_much():
    terms = question_terms("holiday", "en")
    assert 0.5 < terms.coverage("annual leave") < terms.coverage("a holiday") == 1


def test_a_question_in_one_language_finds_words_of_another():
    terms = question_terms("Who opens the vault?", "en")
    assert terms.coverage("De kluis wordt geopend door twee medewerkers", "nl") > 0.4
    assert terms.coverage("De fiets staat buiten", "nl") == 0


def test_a_part_of_a_compound_counts():
    assert question_terms("vakantie", "nl").coverage("vakantiedagen", "nl") > 0.5


@pytest.mark.parametrize("listed", [STOP_WORDS, GENERIC_WORDS])
def test_word_lists_are_written_as_words_are_compared(listed):
    for words in listed.values():
        assert all(word == unaccented(word) for word in words)


def test_every_concept_has_words_in_every_language():
    for concept in concepts():
        assert set(concept) == set(LANGUAGES)
        assert all(concept.values())
        assert all(word == unaccented(word) for words in concept.values() for word in words)
