from __future__ import annotations

import pytest

from documents.ingestion.headings import is_heading, section_at

BODY = "This policy sets out how much paid annual leave the employees of the bank have."


@pytest.mark.parametrize(
    "line",
    [
        "3.2 Carry-over of days",
        "1. Purpose and scope",
        "IV. Sanctions",
        "A. General rules",
        "Artikel 4 – Toepassingsgebied",
        "Article 5: Exceptions",
        "Chapitre II Congés",
        "§ 7 Urlaubsanspruch",
        "Artikel 4.",
        "ANNUAL LEAVE",
        "Annual Leave Entitlement",
        "Scope of this policy",
        "Toepassingsgebied",
    ],
)
def test_a_heading_over_text_is_recognised(line: str) -> None:
    assert is_heading(line, previous="The rule before it ends.", following=BODY)


@pytest.mark.parametrize(
    ("line", "previous", "following"),
    [
        pytest.param("25 days of leave", "", BODY, id="a number of things"),
        pytest.param("Article 5 applies to them.", "", BODY, id="a sentence about an article"),
        pytest.param("1. Employees must report", "", "to their manager first.", id="wrapped item"),
        pytest.param("Risk Officer", "is approved by the", BODY, id="rest of a sentence"),
        pytest.param("14.2.3 Exceptions", "as set out in clause", BODY, id="a wrapped reference"),
        pytest.param("Hotel Limit", "", "Brussels 180 EUR", id="names of columns"),
        pytest.param("The following apply:", "", BODY, id="an introduction"),
        pytest.param("Scope", "", None, id="the last line"),
        pytest.param("", "", BODY, id="nothing"),
    ],
)
def test_what_only_resembles_a_heading_is_not_one(
    line: str, previous: str, following: str | None
) -> None:
    assert not is_heading(line, previous=previous, following=following)


def test_a_quote_belongs_to_the_nearest_heading_above_it() -> None:
    passage = f"the days lapse.\n2. Allowance\n{BODY}\n3. Requests\nAsk your manager."

    def section(words: str) -> str:
        return section_at(passage, passage.index(words), outer="1. Scope")

    assert section("the days") == "1. Scope"
    assert section("This policy") == "2. Allowance"
    assert section("Ask") == "3. Requests"
