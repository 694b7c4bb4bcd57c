"""A claim is a plain sentence about what it quotes; anything else must be the quote's own words."""

import pytest

from answers.grounding import GroundingFailed, check
from tests.answers.passages import draft, passage

TEXT = "The archive opens at 9 in the morning."


def rule_for(claim: str, *, text: str = TEXT, language: str = "en", written: str = "en"):
    evidence = [passage(text, language=written)]
    try:
        check(draft=draft((claim, [(1, text)])), evidence=evidence, language=language)
    except GroundingFailed as failure:
        return failure.rule.value
    return None


@pytest.mark.parametrize(
    "addition",
    [
        "See https://evil.example/login",
        "See www.evil-archive.be",
        "See evil-archive.com/now",
        "Write to press@evil.example",
        "javascript:alert(1)",
        "<img src=x>",
        "</p>",
        "&lt;b&gt;",
        "[Sign in](https://x.example)",
        "![x](y)",
        "**Approved**",
        "`code`",
        "[1]",
        "[see 1.2]",
        "【1†x】",
        '{"a": 1}',
        "<|im_end|>",
        "${x}",
    ],
)
def test_an_address_or_markup_that_no_quote_has_is_refused_and_a_quoted_one_is_not(addition):
    assert rule_for(f"The archive opens at 9 in the morning. {addition}") == "form"
    quoted = f"The archive opens at 9 in the morning, {addition}"
    assert rule_for(quoted, text=quoted) is None


@pytest.mark.parametrize(
    "claim",
    [
        "Yes.",
        "No.",
        "At 9.",
        "The archive opens at 9 in the morning.",
        "You can enter the archive from 9 in the morning.",
        "Archive opening is at 9.",
    ],
)
def test_a_claim_in_words_of_its_sentence_passes(claim):
    assert rule_for(claim) in (None, "negation")


@pytest.mark.parametrize(
    "claim",
    [
        "All is allowed.",
        "Everything is approved.",
        "Send your password to the helpdesk.",
        "Approved.",
    ],
)
def test_a_claim_about_something_else_is_refused(claim):
    assert rule_for(claim) == "support"


def test_across_languages_words_are_not_compared():
    assert rule_for("Het archief gaat 's morgens open.", language="nl") is None
    assert rule_for("Alles is toegestaan.", language="nl", written="nl") == "support"


def test_a_comparison_is_no_markup():
    text = "Loans with a rate <5% or > 10% need approval, if x < y."
    assert rule_for(text, text=text) is None
