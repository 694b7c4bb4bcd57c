"""Passages that follow sections: whole where they fit, exact, and nothing but running lines left out."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.chunkings import UnknownChunking, chunker
from documents.ingestion.extracted import Block, BlockKind, ExtractedText, assemble
from documents.ingestion.normalise import normalise
from documents.ingestion.sections import split_sections

SENTENCE = "Every employee of the bank may take leave on ten days."


def built(*pages: list[tuple[BlockKind, str]]) -> ExtractedText:
    """A text whose blocks are known, one line each."""
    extracted = assemble(["\n".join(text for _, text in page) for page in pages])
    blocks: list[Block] = []
    for span, page in zip(extracted.pages, pages, strict=True):
        position = span.start
        for kind, text in page:
            level = 1 if kind == BlockKind.HEADING else 0
            blocks.append(Block(kind, position, position + len(text), level))
            position += len(text) + 1
    return dataclasses.replace(extracted, blocks=tuple(blocks))


def test_a_passage_never_runs_over_two_sections() -> None:
    chunks = split_sections(
        assemble([f"1. Leave\n{SENTENCE}\n2. Sickness\n{SENTENCE}\n2.1 Notes\n{SENTENCE}"])
    )
    assert [chunk.section for chunk in chunks] == ["1. Leave", "2. Sickness", "2.1 Notes"]
    assert [chunk.text.splitlines()[0] for chunk in chunks] == [c.section for c in chunks]


def test_the_headings_above_go_along_as_context() -> None:
    chunks = split_sections(assemble([f"2. Sickness\n{SENTENCE}\n2.1 Notes\n{SENTENCE * 40}"]))
    assert [chunk.context for chunk in chunks][:2] == ["", "2. Sickness"]
    assert {chunk.context for chunk in chunks[2:]} == {"2. Sickness › 2.1 Notes"}


def test_a_rule_stays_with_its_exception() -> None:
    rule = "Gifts above 50 euro are refused."
    exception = "Unless the compliance officer agreed in writing, no gift is kept."
    page = " ".join([SENTENCE] * 3 + [rule, exception] + [SENTENCE] * 3)
    for most in range(18, 40):
        chunks = split_sections(assemble([page]), max_words=most)
        assert any(f"{rule} {exception}" in chunk.text for chunk in chunks)


def test_a_table_stays_whole_where_it_fits() -> None:
    row = BlockKind.TABLE_ROW
    page = [
        (BlockKind.PARAGRAPH, SENTENCE),
        (BlockKind.CAPTION, "Table 1: limits"),
        (BlockKind.TABLE_HEADER, "Channel MIN MAX"),
        *((row, f"Channel {number} 10 20") for number in range(4)),
        (BlockKind.NOTE, "¹ Not at night."),
    ]
    chunks = split_sections(built(page), max_words=33)
    assert [chunk.text.splitlines()[0] for chunk in chunks] == [SENTENCE, "Table 1: limits"]
    assert chunks[1].text.endswith("¹ Not at night.")


def test_a_larger_table_is_cut_between_rows_and_takes_its_head_along() -> None:
    rows = [(BlockKind.TABLE_ROW, f"Channel {number} 10 20") for number in range(9)]
    head = [(BlockKind.CAPTION, "Table 1: limits"), (BlockKind.TABLE_HEADER, "Channel MIN MAX")]
    running = [(BlockKind.RUNNING, "Meridian Bank")]
    chunks = split_sections(built([*head, *rows[:6]], [*running, *rows[6:]]), max_words=14)
    assert all(line.endswith("10 20") for c in chunks[1:] for line in c.text.splitlines())
    assert {chunk.context for chunk in chunks[1:]} == {"Table 1: limits Channel MIN MAX"}
    assert (chunks[0].context, chunks[-1].page) == ("", 2)


def test_running_lines_are_in_no_passage() -> None:
    page = [(BlockKind.RUNNING, "Meridian Bank"), (BlockKind.PARAGRAPH, SENTENCE)]
    assert {chunk.text for chunk in split_sections(built(page, page))} == {SENTENCE}


LINES = st.sampled_from(
    [
        "1. Scope",
        "2.1 Allowance",
        "ANNUAL LEAVE",
        "Channel MIN MAX",
        "Cash 10 20",
        "• one item",
        SENTENCE,
        "Unless agreed, none.",
        "It follows:",
        "",
        "word",
        SENTENCE * 4,
    ]
)
PAGES = st.lists(
    st.lists(LINES, max_size=12).map(lambda lines: normalise("\n".join(lines))),
    min_size=1,
    max_size=4,
).filter(any)
BLOCKED = st.lists(
    st.lists(
        st.tuples(st.sampled_from(list(BlockKind)), LINES.filter(bool)), min_size=1, max_size=12
    ),
    min_size=1,
    max_size=4,
).map(lambda pages: built(*pages))


@settings(deadline=None)
@given(PAGES.map(assemble) | BLOCKED, st.integers(4, 40))
def test_passages_are_exact_bounded_in_order_and_leave_out_nothing_but_running_lines(
    extracted: ExtractedText, max_words: int
) -> None:
    chunks = split_sections(extracted, max_words=max_words)
    covered: set[int] = set()
    for ordinal, chunk in enumerate(chunks):
        page = extracted.pages[chunk.page - 1]
        assert chunk.ordinal == ordinal
        assert page.start <= chunk.start < chunk.end <= page.end
        assert chunk.text == extracted.text[chunk.start : chunk.end] == chunk.text.strip()
        assert len(chunk.text.split()) <= max_words
        assert not covered & set(range(chunk.start, chunk.end))
        covered |= set(range(chunk.start, chunk.end))
    running = {
        at
        for block in extracted.blocks
        if block.kind == BlockKind.RUNNING
        for at in range(block.start, block.end)
    }
    assert not covered & running
    assert all(
        at in covered or at in running or character.isspace()
        for at, character in enumerate(extracted.text)
    )


def test_a_chunking_is_chosen_by_the_name_that_a_generation_keeps() -> None:
    extracted = assemble([f"1. Leave\n{SENTENCE}\n2. Sickness\n{SENTENCE}"])
    assert len(chunker("fixed-250-40")(extracted)) == 1
    assert len(chunker("sections-1")(extracted)) == 2
    with pytest.raises(UnknownChunking, match="fixed-250-40, sections-1"):
        chunker("paragraphs-9")
