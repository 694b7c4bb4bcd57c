from __future__ import annotations

import hashlib
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.chunk import chunk_id, split
from documents.ingestion.extracted import assemble
from documents.ingestion.normalise import normalise

SENTENCE = "Every employee of the bank may take leave on ten days. "
PAGES = st.lists(
    st.lists(st.sampled_from(["word", "a.", "1. Title\n", "Next", "\n\n", "5", "étage"])).map(
        lambda words: normalise(" ".join(words))
    ),
    min_size=1,
    max_size=4,
).filter(any)


def page_of(words: int) -> str:
    return " ".join(f"w{number}" for number in range(words))


def test_a_short_page_is_one_passage() -> None:
    extracted = assemble(["Leave is 25 days."])
    [chunk] = split(extracted)
    assert (chunk.text, chunk.page, chunk.ordinal) == ("Leave is 25 days.", 1, 0)
    assert chunk.sha256 == hashlib.sha256(chunk.text.encode()).hexdigest()


def test_neighbours_overlap_and_a_passage_keeps_to_its_page() -> None:
    extracted = assemble([page_of(500), "", page_of(10)])
    chunks = split(extracted, max_words=250, overlap_words=40)
    assert [chunk.page for chunk in chunks] == [1, 1, 1, 3]
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2, 3]
    first, second = chunks[0].text.split(), chunks[1].text.split()
    assert len(first) == 250
    assert first[-40:] == second[:40]


def test_a_passage_ends_at_a_sentence_end_near_its_limit() -> None:
    extracted = assemble([(SENTENCE * 60).strip()])
    chunks = split(extracted, max_words=100, overlap_words=10)
    assert len(chunks) > 5
    assert all(chunk.text.endswith("days.") for chunk in chunks)


def test_a_small_remainder_is_shared_out_instead_of_left_as_a_scrap() -> None:
    chunks = split(assemble([page_of(260)]), max_words=250, overlap_words=40)
    assert [len(chunk.text.split()) for chunk in chunks] == [150, 150]


def test_the_section_is_the_innermost_heading_in_force() -> None:
    body = (SENTENCE * 20).strip()
    extracted = assemble([f"ANNUAL LEAVE\n1. Scope\n{body}\n2. Allowance\n{body}", body])
    chunks = split(extracted, max_words=120, overlap_words=10)
    assert chunks[0].section == "1. Scope"
    assert [chunk.section for chunk in chunks if chunk.page == 1][-1] == "2. Allowance"
    assert next(chunk.section for chunk in chunks if chunk.page == 2) == "2. Allowance"


def test_a_running_title_heads_no_section() -> None:
    body = SENTENCE.strip()
    extracted = assemble([f"MERIDIAN BANK\n{body}", f"MERIDIAN BANK\n{body}"])
    assert {chunk.section for chunk in split(extracted)} == {""}


@pytest.mark.parametrize("overlap", [-1, 51])
def test_an_overlap_that_leaves_no_room_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap_words"):
        split(assemble(["text"]), max_words=100, overlap_words=overlap)


@settings(deadline=None)
@given(PAGES, st.integers(1, 12), st.integers(0, 6))
def test_passages_are_exact_bounded_and_cover_everything_but_space(
    pages: list[str], max_words: int, overlap: int
) -> None:
    extracted = assemble(pages)
    chunks = split(extracted, max_words=max_words, overlap_words=min(overlap, max_words // 2))
    spans = {page.page: page for page in extracted.pages}
    covered: set[int] = set()
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text == extracted.text[chunk.start : chunk.end] == chunk.text.strip()
        assert 0 < len(chunk.text.split()) <= max_words
        assert spans[chunk.page].start <= chunk.start < chunk.end <= spans[chunk.page].end
        covered.update(range(chunk.start, chunk.end))
    for position, character in enumerate(extracted.text):
        assert character.isspace() or position in covered


def test_the_id_of_a_passage_depends_on_version_chunking_and_ordinal_alone() -> None:
    version = uuid.UUID(int=7)
    first = chunk_id(version_id=version, chunking="words-250-40", ordinal=0)
    assert first == chunk_id(version_id=version, chunking="words-250-40", ordinal=0)
    assert first.version == 5
    others = {
        chunk_id(version_id=uuid.UUID(int=8), chunking="words-250-40", ordinal=0),
        chunk_id(version_id=version, chunking="words-200-40", ordinal=0),
        chunk_id(version_id=version, chunking="words-250-40", ordinal=1),
    }
    assert len(others | {first}) == 4
