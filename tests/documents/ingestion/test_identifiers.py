from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.identifiers import (
    identifier_query_terms,
    identifier_terms,
    identifiers,
    is_isin,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See POL-2024-017.", {"POL-2024-017"}),
        ("see pol-2024-017?", {"POL-2024-017"}),
        ("POL\u20112024\u2011017 applies", {"POL-2024-017"}),
        ("(PPR-9087), ZX-49/A", {"PPR-9087", "ZX-49/A"}),
        ("the ZX-49² note", {"ZX-49"}),
        ("form FIN-F-12 and MT940", {"FIN-F-12", "MT940"}),
        ("Regulation (EU) No 575/2013 and 2016/679", {"575/2013", "2016/679"}),
        ("clause 14.2.3(1)(b)", {"14.2.3(1)(B)"}),
        ("clause 14.2.3 (1) (b)", {"14.2.3(1)(B)"}),
        ("Article 5(1)", {"5(1)"}),
        ("section 3.2 and § 7.1", {"3.2", "7.1"}),
        ("3.2 Carry-over\ntext", {"3.2"}),
        ("ISIN US0378331005", {"US0378331005"}),
        ("isin be0003796134", {"BE0003796134"}),
    ],
)
def test_identifiers_are_found_in_their_normal_form(text: str, found: set[str]) -> None:
    assert identifiers(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "25 days, 1.500,00 or 1.500.000 EUR, 3.5 %",
        "on 01.02.2024 or 1.2.24",
        "a full-time, cross-border, up-to-date job",
        "mid-2024 and post-2020",
        "ISIN US0378331006",
        "between 22:00 and 06:00, 24/7",
        "e.g. the N.V. in question",
        "Dinner €42",
    ],
)
def test_numbers_dates_and_compounds_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == set()


def test_a_passage_is_found_by_exact_parts_with_a_digit_in_them() -> None:
    assert identifier_terms("POL-2024-017") == {
        "POL-2024-017",
        "POL-2024",
        "2024-017",
        "2024",
        "017",
    }
    assert identifier_terms("PPR-9087") == {"PPR-9087", "9087"}
    assert identifier_terms("14.2.3(1)(b)") == {"14.2.3(1)(B)", "14.2.3(1)", "14.2.3"}


@pytest.mark.parametrize(
    ("question", "passage", "matches"),
    [
        ("What does PPR-9087 say?", "Form PPR-9087 is used.", True),
        ("What does 9087 say?", "Form PPR-9087 is used.", True),
        ("policy 2024-017", "POL-2024-017", True),
        ("policy 017", "POL-2024-017", True),
        ("What is ZX-49?", "The ZX-4819 note", False),
        ("What is ZX-4819?", "The ZX-49 note", False),
        ("What is ZX-49?", "The AB-49 note", False),
        ("What is ZX-49?", "The ZX-49 note", True),
        ("Do I get 49 days?", "The ZX-49 note", False),
        ("policy 17", "POL-2024-017", False),
        ("clause 14.2.3", "Under 14.2.3(1)(b) it is", True),
        ("clause 14.2.3(1)(a)", "Under 14.2.3(1)(b) it is", False),
    ],
)
def test_a_question_matches_whole_or_part_and_never_near(
    question: str, passage: str, matches: bool
) -> None:
    assert bool(identifier_query_terms(question) & identifier_terms(passage)) is matches


@pytest.mark.parametrize("isin", ["US0378331005", "BE0003796134", "NL0000009165", "AU0000XVGZA3"])
def test_an_isin_is_accepted_only_with_its_own_check_digit(isin: str) -> None:
    assert is_isin(isin)
    for digit in set("0123456789") - {isin[-1]}:
        assert not is_isin(isin[:-1] + digit)


@settings(deadline=None)
@given(st.text())
def test_identifiers_are_among_the_terms_and_in_upper_case(text: str) -> None:
    found = identifiers(text)
    assert found <= identifier_terms(text)
    assert found <= identifier_query_terms(text)
    assert all(identifier == identifier.upper().strip() for identifier in found)
