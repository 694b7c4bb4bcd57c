from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.sentences import sentences

PIECES = st.lists(
    st.sampled_from(
        [
            "25 days.",
            "Employees",
            "art. 5",
            "e.g.",
            "\n",
            "\n\n",
            " ",
            "• item",
            "3.2 Title",
            "€ 5",
            "1.500,00",
            "(a) first",
            "z.B.",
            "N.V.",
            "wrapped",
            "…",
            '"Yes."',
            "Table 5 EUR",
            "“",
            "no?",
            "\t",
        ]
    )
).map(" ".join)


def texts(passage: str) -> list[str]:
    return [sentence.text for sentence in sentences(passage)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Leave is 25 days.", "Employees must ask."],
        ["Is it paid?", "Yes!", "It is."],
        ["The limit is 25.", "Employees may ask for more."],
        ["He said “No.”", "Then he left."],
        ["(See art. 5.)", "It applies."],
        ["Leave is 25 days.²", "Employees must ask."],
        ["Costs such as meals etc.", "Employees keep receipts."],
    ],
)
def test_sentences_end_at_a_full_stop_before_a_capital(expected: list[str]) -> None:
    assert texts(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "It applies to all, e.g. Employees on trial, i.e. Staff.",
        "See art. 5, no. 3 and Fig. 2 of the Annex.",
        "The amount is € 1.500,00 or 3.5 % as in 14.2.3. below.",
        "Ask Dr. Peeters or Mr. J. Claes of Meridian Bank N.V. Brussels.",
        "Zie art. 12, bv. Bijlage 3, resp. Hoofdstuk 4, m.b.t. Verlof.",
        "M. Dupont et Mme. Martin, p.ex. Paris, voir art. 3.",
        "Der Urlaub beginnt am 1. Januar, z. B. Montag, gem. Abs. 2 Nr. 3 lit. a.",
        "Vgl. Ziff. 4 bzw. Anlage 2, d.h. Mitarbeiter.",
        "The meeting of No. 10 lasts approx. Two hours.",
    ],
)
def test_an_abbreviation_or_a_number_ends_no_sentence(sentence: str) -> None:
    assert texts(sentence) == [sentence]


def test_a_wrapped_line_does_not_end_a_sentence() -> None:
    passage = (
        "Part-time employees receive the allowance in proportion to the hours of\n"
        "their contract. Employees who join during the year receive one twelfth of the\n"
        "Allowance for every month."
    )
    assert texts(passage) == [
        "Part-time employees receive the allowance in proportion to the hours of\ntheir contract.",
        "Employees who join during the year receive one twelfth of the\nAllowance for every month.",
    ]


def test_headings_stand_alone() -> None:
    passage = "1. Purpose\nThis policy sets out the rules.\n2.1 Allowance\nLeave is 25 days."
    assert texts(passage) == [
        "1. Purpose",
        "This policy sets out the rules.",
        "2.1 Allowance",
        "Leave is 25 days.",
    ]


def test_table_rows_stand_alone() -> None:
    passage = (
        "Long service adds to the allowance as shown below.\n"
        "Years of service Extra days Total allowance\n"
        "Fewer than 5 0 25\n5 to 9 1 26\nup to 19 3 28\n"
        "The ten public holidays are not part of the allowance. They come on top."
    )
    assert texts(passage) == [
        "Long service adds to the allowance as shown below.",
        "Years of service Extra days Total allowance",
        "Fewer than 5 0 25",
        "5 to 9 1 26",
        "up to 19 3 28",
        "The ten public holidays are not part of the allowance.",
        "They come on top.",
    ]


def test_list_items_stand_alone_and_keep_their_marks() -> None:
    passage = (
        "The following is paid:\n• the hotel\n• meals, up to the limit of the city in which the\n"
        "night is spent\n(a) first;\n(b) second.\n1. Ask first.\n2. Book later."
    )
    assert texts(passage) == [
        "The following is paid:",
        "• the hotel",
        "• meals, up to the limit of the city in which the\nnight is spent",
        "(a) first;",
        "(b) second.",
        "1. Ask first.",
        "2. Book later.",
    ]


def test_a_clause_number_at_a_line_start_is_no_item_when_the_sentence_refers_to_it() -> None:
    passage = (
        "The limits of this policy follow from what is set out in clause\n14.2.3 of the rules."
    )
    assert texts(passage) == [passage]


@settings(deadline=None)
@given(PIECES | st.text())
def test_spans_are_ordered_exact_and_cover_everything_but_space(passage: str) -> None:
    position = 0
    for sentence in sentences(passage):
        assert not passage[position : sentence.start].strip()
        assert position <= sentence.start < sentence.end <= len(passage)
        assert sentence.text == passage[sentence.start : sentence.end] == sentence.text.strip()
        position = sentence.end
    assert not passage[position:].strip()
