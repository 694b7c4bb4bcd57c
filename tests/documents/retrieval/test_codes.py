"""A code finds itself, whole and by part, and never one that is only like it."""

import pytest

from documents.models import Chunk
from documents.retrieval.search import search


@pytest.fixture
def reader(bank):
    return bank.person("reader")


@pytest.fixture
def notes(bank, reader):
    """Two notes of one series, alike but for the code, and a general text."""
    texts = {
        "ZX-49": "The note ZX-49 has a minimum subscription of 5,000 euro and a term of 4 years.",
        "ZX-4819": "The note ZX-4819 has a minimum subscription of 9,000 euro and a term of 6 years.",
        "PPR-9087": "Procedure PPR-9087 says how a complaint is registered.",
        "General": "Every note has a minimum subscription, which its information sheet names.",
    }
    return {
        name: bank.document(f"About {name.split('-')[0]}", text, readers=[reader])
        for name, text in texts.items()
    }


def found(bank, reader, question: str) -> list[str]:
    """The texts of the candidates, best first."""
    with bank.scope():
        ids = search(user=reader, question=question).chunk_ids
        rows = Chunk.objects.in_bulk(ids)
        return [rows[one].text for one in ids]


@pytest.mark.parametrize("question", ["What is in PPR-9087?", "What does 9087 say?"])
def test_a_code_finds_itself_whole_and_by_part(bank, reader, notes, question):
    assert "PPR-9087" in found(bank, reader, question)[0]


@pytest.mark.parametrize(("asked", "other"), [("ZX-49", "ZX-4819"), ("ZX-4819", "ZX-49")])
def test_a_code_never_finds_one_that_is_only_like_it(bank, reader, notes, asked, other):
    texts = found(bank, reader, f"What is the minimum subscription of {asked}?")
    assert asked in texts[0]
    assert not [text for text in texts if f"{other} " in text]
    assert any(text.startswith("Every note") for text in texts)  # what names no code stays


def test_a_code_that_there_is_not_finds_no_other(bank, reader, notes):
    texts = found(bank, reader, "What is the minimum subscription of ZX-48?")
    assert not [text for text in texts if "ZX-4" in text]


def test_a_passage_that_names_both_stays(bank, reader, notes):
    bank.document("Both", "ZX-49 was replaced by ZX-4819 in March.", readers=[reader])
    texts = found(bank, reader, "What replaced ZX-49?")
    assert any("replaced by ZX-4819" in text for text in texts)


def test_the_code_of_a_document_counts_for_its_passages(bank, reader):
    text = "A gift above 100 euro is declared within 5 days."
    ours = bank.document("Gifts", text, readers=[reader], reference="CMP-2024-003")
    bank.document("Gifts abroad", text + " Abroad too.", readers=[reader], reference="CMP-2024-030")
    with bank.scope():
        chunks = search(user=reader, question="What does CMP-2024-003 say on gifts?").chunk_ids
        assert set(Chunk.objects.filter(id__in=chunks).values_list("document", flat=True)) == {
            ours.pk
        }
