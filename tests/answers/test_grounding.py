"""Rule 5: a citation is the source's own words, and one bad claim takes the answer down."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answers.grounding import GroundingFailed, GroundingRule, check, check_each
from documents.ingestion.sentences import sentences
from tests.answers.passages import draft, passage

LEAVE = (
    "3. Leave\n\nEmployees are entitled to 25 days of annual leave.\n"
    "Unused leave must not be carried over, unless the manager\nagrees in writing."
)


def refused(claim, *quotes, text=LEAVE, language="en", **options):
    with pytest.raises(GroundingFailed) as failure:
        check(
            draft=draft((claim, [(1, quote) for quote in quotes])),
            evidence=[passage(text, language=language)],
            **options,
        )
    return failure.value


def accepted(claim, *quotes, text=LEAVE, language="en", **options):
    answer = check(
        draft=draft((claim, [(1, quote) for quote in quotes])),
        evidence=[passage(text, language=language)],
        **options,
    )
    return answer.claims[0]


def test_a_quote_comes_back_as_the_stored_words_with_offsets_in_the_version():
    claim = accepted(
        "You are entitled to 25 days of annual leave.",
        "Employees are entitled to 25 days of annual leave.",
    )
    (citation,) = claim.citations
    assert claim.ordinal == 1
    assert citation.start == 100 + LEAVE.index("Employees")
    assert LEAVE[citation.start - 100 : citation.end - 100] == citation.quote


def test_a_line_break_inside_a_sentence_does_not_hide_it():
    quote = "Unused leave must not be carried over, unless the manager agrees in writing."
    (citation,) = accepted(quote, quote).citations
    assert "manager\nagrees" in citation.quote


def test_a_draft_without_claims_is_an_answer_without_claims():
    assert check(draft=draft(), evidence=[passage(LEAVE)]).claims == ()


def test_the_second_claim_takes_the_whole_answer_down():
    good = "Employees are entitled to 25 days of annual leave."
    with pytest.raises(GroundingFailed) as failure:
        check(
            draft=draft((good, [(1, good)]), ("30 days of leave.", [(1, good)])),
            evidence=[passage(LEAVE)],
        )
    assert failure.value.ordinal == 2
    assert failure.value.rule is GroundingRule.NUMBER


def test_a_claim_without_a_quote_is_refused():
    assert refused("Employees have 25 days.").rule is GroundingRule.NO_QUOTE


@pytest.mark.parametrize("claim", ["", "   ", "…"])
def test_a_claim_that_says_nothing_is_refused(claim):
    quote = "Employees are entitled to 25 days of annual leave."
    assert refused(claim, quote).rule is GroundingRule.EMPTY_CLAIM


def test_a_quote_of_evidence_that_was_not_admitted_is_refused():
    quote = "Employees are entitled to 25 days of annual leave."
    with pytest.raises(GroundingFailed) as failure:
        check(draft=draft((quote, [(2, quote)])), evidence=[passage(LEAVE)])
    assert failure.value.rule is GroundingRule.UNKNOWN_SOURCE


def test_a_quote_laid_at_another_sources_door_is_refused():
    other = passage("Visitors sign the register at the desk.", number=2)
    quote = "Employees are entitled to 25 days of annual leave."
    with pytest.raises(GroundingFailed) as failure:
        check(draft=draft((quote, [(2, quote)])), evidence=[passage(LEAVE), other])
    assert failure.value.rule is GroundingRule.QUOTE_NOT_FOUND


@pytest.mark.parametrize(
    "quote",
    [
        "Employees are entitled to 26 days of annual leave.",
        "Employees are entitled to 25 days of yearly leave.",
        "employees are entitled to 25 days of annual leave.",
        "Employees are entitled to 25 days of annual leave!",
        "Employees are entitled to 25 days of annual leave. agrees in writing.",
        "Employees are entitled to ２５ days of annual leave.",
        "Employees are entitled to 25 days of аnnual leave.",  # the first "a" is Cyrillic
        "Employees are entitled to 2 5 days of annual leave.",
        "Employeesare entitled to 25 days of annual leave.",
        "",
        " \n\t ",
    ],
)
def test_a_quote_that_does_not_stand_in_the_source_is_refused(quote):
    assert refused("There are 25 days.", quote).rule is GroundingRule.QUOTE_NOT_FOUND


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The term is 125 days in all cases.", "25 days in all cases."),
        ("The term is 2.5 days in all cases.", "5 days in all cases."),
        ("The term is 25 days² in all cases.", "The term is 25 days"),
        ("The rate was (-5% in all cases).", "5% in all cases"),
        ("Approval by a nonresident is needed.", "resident is needed."),
    ],
)
def test_a_quote_may_not_start_or_end_inside_a_word_or_a_number(text, quote):
    assert refused("There is a rule.", quote, text=text).rule is GroundingRule.QUOTE_NOT_FOUND


@pytest.mark.parametrize("quote", ["25 days", "leave", "of"])
def test_a_quote_that_covers_too_little_is_refused(quote):
    assert refused("There are 25 days.", quote).rule is GroundingRule.QUOTE_TOO_SHORT


def test_a_short_quote_that_is_a_whole_line_stands():
    text = "Daily limit\nEUR 500\nWeekly limit\nEUR 900"
    assert accepted("The limit is EUR 500.", "EUR 500", text=text).citations[0].quote == "EUR 500"


def test_a_negation_just_outside_the_quote_counts():
    text = "It is not true that employees may accept gifts from suppliers."
    failure = refused(
        "Employees may accept gifts from suppliers.",
        "employees may accept gifts from suppliers.",
        text=text,
    )
    assert failure.rule is GroundingRule.NEGATION


def test_of_equal_words_the_occurrence_that_is_a_sentence_is_cited():
    text = "It is not true that: Staff may go home early.\n\nStaff may go home early."
    (citation,) = accepted(
        "Staff may go home early.", "Staff may go home early.", text=text
    ).citations
    assert citation.start == 100 + text.rindex("Staff")


def test_two_pieces_of_evidence_may_not_share_a_number():
    with pytest.raises(ValueError, match="same number"):
        check(draft=draft(), evidence=[passage("One."), passage("Two.")])


def test_the_reason_holds_no_words_of_the_source():
    quote = "Unused leave must not be carried over, unless the manager agrees in writing."
    failure = refused("Leave of 31 days may be carried over.", quote)
    assert "\n" not in str(failure)
    assert not any(word in failure.reason for word in ("Unused", "manager", "writing"))


_WORDS = st.sampled_from(
    [
        "the",
        "Employees",
        "must",
        "not",
        "never",
        "unless",
        "except",
        "only",
        "25",
        "1,000",
        "1.000",
        "2.5",
        "days",
        "EUR",
        "%",
        "12%",
        "POL-2024-017",
        "geen",
        "tenzij",
        "ne",
        "pas",
        "sauf",
        "nicht",
        "nur",
        "2024-01-31",
        "3.2",
        "(a)",
        "•",
        "-",
        "²",
        "ﬁ",
        "é",
        "17:00",
        "January",
        "may",
        "no.",
        "5",
        "ISO27001",
        "before",
        "after",
        "at",
        "least",
        "most",
        "maximum",
        "\xad",
        "zero\u200bwidth",
        "п",
    ]
)
_GAPS = st.sampled_from([" ", " ", " ", "\n", "\n\n", ". ", "? ", ", ", "; ", "\t", "\u00a0"])
_TEXTS = st.lists(st.tuples(_WORDS, _GAPS), min_size=1, max_size=40).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


_LANGUAGES = st.sampled_from(["en", "nl", "fr", "de"])


@settings(deadline=None)
@given(text=_TEXTS, language=_LANGUAGES, answered_in=st.none() | _LANGUAGES)
def test_every_sentence_that_is_long_enough_bears_itself_out(text, language, answered_in):
    chunk = passage(text, language=language)
    for sentence in sentences(text):
        said = " ".join(sentence.text.split())
        try:
            answer = check(
                draft=draft((said, [(1, sentence.text)])), evidence=[chunk], language=answered_in
            )
        except GroundingFailed as failure:
            if failure.rule in (GroundingRule.QUOTE_TOO_SHORT, GroundingRule.EMPTY_CLAIM):
                continue
            raise
        (citation,) = answer.claims[0].citations
        assert text[citation.start - 100 : citation.end - 100] == citation.quote == sentence.text


@settings(deadline=None)
@given(text=_TEXTS, data=st.data())
def test_whatever_is_quoted_the_returned_words_are_the_stored_ones(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = " ".join(text[start:end].split())
    try:
        answer = check(draft=draft((quote or "x", [(1, quote)])), evidence=[passage(text)])
    except GroundingFailed:
        return
    (citation,) = answer.claims[0].citations
    stored = text[citation.start - 100 : citation.end - 100]
    assert stored == citation.quote
    assert stored.split() == quote.split() or "•" in stored or "\u00ad" in stored or "-" in stored


NOTE = passage("Minimum investment EUR 1,000 per client.", title="ZX-49 Steady Income Note")


def test_a_claim_may_name_the_code_in_the_title_of_the_document_it_quotes():
    said = "The smallest amount for the ZX-49 is EUR 1,000."
    answer = check(draft=draft((said, [(1, NOTE.text)])), evidence=[NOTE])
    assert answer.claims[0].text == said


@pytest.mark.parametrize("code", ["ZX-4819", "ZX-94", "ZX-4"])
def test_a_claim_may_not_name_another_code(code):
    said = f"The smallest amount for the {code} is EUR 1,000."
    with pytest.raises(GroundingFailed) as failure:
        check(draft=draft((said, [(1, NOTE.text)])), evidence=[NOTE])
    assert failure.value.rule is GroundingRule.IDENTIFIER


def test_what_the_next_sentence_takes_back_may_be_said_by_the_next_claim():
    rule = "Traders may hold an account elsewhere."
    limit = "However, they must report it within two days."
    evidence = [passage(f"{rule} {limit}")]
    assert check(draft=draft((rule, [(1, rule)]), (limit, [(1, limit)])), evidence=evidence).claims
    with pytest.raises(GroundingFailed, match="however"):
        check(draft=draft((rule, [(1, rule)])), evidence=evidence)


@pytest.mark.parametrize(
    ("claim", "quote", "language"),
    [
        ("Staff must take two weeks in a row.", "Staff may take two weeks in a row.", "en"),
        ("Branches may keep a record.", "Branches must keep a record of each visit.", "en"),
        ("Kantoren mogen dit melden.", "Kantoren moeten dit melden aan de directie.", "nl"),
        ("Les agences doivent le vendre.", "Les agences peuvent le vendre au client.", "fr"),
    ],
)
def test_a_right_is_no_duty_and_a_duty_no_right(claim, quote, language):
    assert refused(claim, quote, text=quote, language=language).rule == GroundingRule.CONDITION


def test_what_may_not_be_done_must_not_be_done():
    quote = "Interns may not enter the vault."
    claim = draft(("Interns must not enter the vault.", [(1, quote)]))
    assert check(draft=claim, evidence=[passage(quote)]).claims


def test_of_a_draft_only_the_claims_that_fail_are_removed():
    good, bad = "Employees are entitled to 25 days of annual leave.", "30 days of leave."
    answer, failures = check_each(
        draft=draft((bad, [(1, good)]), (good, [(1, good)])), evidence=[passage(LEAVE)]
    )
    assert [claim.text for claim in answer.claims] == [good]
    assert [failure.rule for failure in failures] == [GroundingRule.NUMBER]


def test_a_claim_goes_too_when_the_one_that_limited_it_does():
    rule = "Traders may hold an account elsewhere."
    limit = "However, they must report it within two days."
    wrong = limit.replace("two", "nine")
    answer, failures = check_each(
        draft=draft((rule, [(1, rule)]), (wrong, [(1, limit)])),
        evidence=[passage(f"{rule} {limit}")],
    )
    assert answer.claims == ()
    assert [failure.rule for failure in failures] == [GroundingRule.NUMBER, GroundingRule.CONDITION]
