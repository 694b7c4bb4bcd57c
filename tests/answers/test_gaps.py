"""An abstention names the word that nothing its asker may read has, and tells of nothing else."""

import pytest

from answers.models import Outcome
from answers.present import message_for

QUESTION = "On which barrier does the desk call back an autocallable note?"
NAMED = "no document available to you had the word “autocallable”."


@pytest.fixture
def reader(bank):
    person = bank.person("reader")
    for title, text in {
        "Garage": "The barrier of the garage stays closed at night.",
        "Parking": "Parking spaces are given out by the facility desk each January.",
        "Complaints": "Clients receive a call back within two days, with a note for the file.",
    }.items():
        bank.document(title, text, readers=[person])
    return person


def told(bank, person, question=QUESTION) -> str:
    view = bank.ask(person, question)
    assert view.outcome == Outcome.ABSTAINED
    return message_for(view)


def test_the_missing_word_is_named(bank, reader):
    assert told(bank, reader).endswith(NAMED)


def test_the_same_is_said_when_a_document_that_they_may_not_read_has_the_word(bank, reader):
    before = told(bank, reader)
    insider = bank.person("insider")
    text = "The desk calls back an autocallable note on the barrier of 80 percent."
    bank.document("Autocallable notes", text, readers=[insider])
    assert told(bank, reader) == before
    assert bank.ask(insider, QUESTION).outcome == Outcome.ANSWERED


def test_a_word_that_stands_in_a_readable_text_or_title_is_not_named(bank, reader):
    bank.document("Glossary", "Autocallables are explained in the course.", readers=[reader])
    assert "autocallable" not in told(bank, reader)
    bank.document("Quanto handbook", "It is being written.", readers=[reader])
    assert "quanto" not in told(bank, reader, QUESTION.replace("autocallable", "quanto"))


def test_nothing_is_named_where_most_words_are_missing(bank, reader):
    assert "had the word" not in told(bank, reader, "Hoeveel verlofdagen krijgt iemand dit jaar?")


def test_what_the_question_says_is_not_kept_with_the_scores(bank, reader):
    answer = bank.ask(reader, QUESTION).answer
    assert answer.signals["missing_words"] == [[QUESTION.index("auto"), QUESTION.index(" note?")]]
    answer.question = ""  # purged
    assert "autocallable" not in str(answer.signals)
