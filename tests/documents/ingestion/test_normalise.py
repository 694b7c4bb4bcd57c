from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.normalise import normalise, search_form

AWKWARD = st.text(
    st.sampled_from(
        "ab zéßA1²½٣ -\u2010\u00ad\n\r\t\x00\x7f\u200b\u200d\ufeff\ufb01\ufb03•.()\u0301"
    )
)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        pytest.param("o\ufb03ce \ufb02oor \ufb01le \ufb05", "office floor file st", id="ligatures"),
        pytest.param("\uf001nal", "final", id="private-use ligature"),
        pytest.param("e\u0301te\u0301", "été", id="NFC"),
        pytest.param("com\u00adpen\u00adsation", "compensation", id="soft hyphens"),
        pytest.param("com\u00ad\npensation", "compensation", id="soft hyphen at the line end"),
        pytest.param("annual\u200bleave", "annual leave", id="zero-width space between words"),
        pytest.param("annual \u200bleave", "annual leave", id="zero-width space beside a space"),
        pytest.param("\ufeffle\u200da\u2060ve", "leave", id="joiners and byte order mark"),
        pytest.param("of\x00ce", "ofce", id="NUL inside a word"),
        pytest.param("a\x07b\x1bc", "abc", id="control characters"),
        pytest.param("a\ud83d b", "a\ufffd b", id="lone surrogate"),
        pytest.param("a \t b  \n  c\u00a0d ", "a b\nc d", id="white space"),
        pytest.param("a\r\nb\rc\x0cd\u2028e", "a\nb\nc\nd\ne", id="line breaks of all kinds"),
        pytest.param("a\n\n \n\n\nb", "a\n\nb", id="one blank line between paragraphs"),
        pytest.param("\x7f\nBook early", "• Book early", id="bullet on a line of its own"),
        pytest.param("\uf0b7 Book early", "• Book early", id="bullet of the Symbol font"),
        pytest.param("(a)\nBook early", "(a) Book early", id="item mark on a line of its own"),
    ],
)
def test_layout_noise_goes_and_letters_are_repaired(raw: str, kept: str) -> None:
    assert normalise(raw) == kept


@pytest.mark.parametrize("text", ["25 days²", "½ day", "€ 1.500,00", "№ 5", "H₂O", "x⁻¹", "Ⅳ"])
def test_characters_that_carry_meaning_stay(text: str) -> None:
    assert normalise(text) == text


def test_a_lost_minus_sign_is_shown_as_unknown_and_not_as_a_positive_number() -> None:
    assert normalise("from \x004 to 4") == "from \ufffd4 to 4"


@pytest.mark.parametrize(
    ("broken", "joined"),
    [
        ("compen-\nsation", "compensation"),
        ("vergoe- \n dingen", "vergoedingen"),
        ("Arbeits-\nverhältnis", "Arbeitsverhältnis"),
        ("cross-\nborder", "cross-border"),
        ("non-\ncompliance", "non-compliance"),
        ("e-\nmail", "e-mail"),
        ("up-to-\ndate", "up-to-date"),
        ("c'est-\nà-dire", "c'est-à-dire"),
        ("anti-money and anti-\nmoney", "anti-money and anti-money"),
        ("antibody and anti-\nbody", "antibody and antibody"),
        ("POL-2024-\n017", "POL-2024-017"),
    ],
)
def test_a_word_broken_at_the_line_end_is_joined(broken: str, joined: str) -> None:
    assert normalise(broken) == joined


@pytest.mark.parametrize(
    "text", ["in-\nen uitvoer", "Ein-\nund Ausgang", "Brussels-\nAntwerp", "5-\n10", "–\n45 EUR"]
)
def test_a_hyphen_that_breaks_no_word_is_left(text: str) -> None:
    assert normalise(text) == text


@settings(deadline=None)
@given(AWKWARD | st.text())
def test_normalising_twice_changes_nothing(raw: str) -> None:
    once = normalise(raw)
    assert normalise(once) == once


@settings(deadline=None)
@given(AWKWARD | st.text())
def test_no_digit_and_no_superscript_is_ever_changed(raw: str) -> None:
    def numbers(text: str) -> list[str]:
        return re.findall(r"[^\D]|[²³¹½]", unicodedata.normalize("NFC", text))

    assert numbers(normalise(raw)) == numbers(raw)


@settings(deadline=None)
@given(AWKWARD | st.text())
def test_kept_text_is_tidy_and_can_be_stored(raw: str) -> None:
    text = normalise(raw)
    text.encode("utf-8")
    assert "\x00" not in text
    assert unicodedata.is_normalized("NFC", text)
    assert text == text.strip()
    assert not re.search(r"[^\S\n]{2}|[^\S\n]\n|\n[^\S\n]|\n{3}|[^\S \n]", text)


def test_the_search_form_folds_what_the_kept_text_must_not() -> None:
    assert search_form("25 Days² Ⅳ") == "25 days2 iv"
