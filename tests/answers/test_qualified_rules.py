"""No answer turns a qualified yes into an unqualified one: rules in EN, NL and FR, each with a limit.

`keeps` are the words that must stand in whatever is answered; `bare` is the rule without them, which
a generator must not get past the gate, whatever it quotes.
"""

import json
from pathlib import Path

import pytest

from answers.generation.quotable import quotable_sentences
from answers.grounding import GroundingFailed, GroundingRule, check
from tests.answers.passages import draft, passage

RULES = json.loads((Path(__file__).parent / "data" / "qualified_rules.json").read_text("utf-8"))
by_title = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["title"])


def test_there_are_at_least_forty_in_three_languages():
    assert len(RULES) >= 40
    assert {rule["language"] for rule in RULES} == {"en", "nl", "fr"}


@by_title
def test_a_claim_without_the_qualification_is_refused(rule):
    """By the words alone, with the least quote that could bear it."""
    evidence = passage(rule["text"], title=rule["title"], language=rule["language"])
    first = next(iter(quotable_sentences([evidence]).values()))
    with pytest.raises(GroundingFailed) as refused:
        check(draft=draft((rule["bare"], [(1, first.quote)])), evidence=[evidence])
    assert refused.value.rule in (GroundingRule.CONDITION, GroundingRule.NEGATION)


@by_title
def test_the_rule_as_it_stands_is_accepted(rule):
    evidence = passage(rule["text"], title=rule["title"], language=rule["language"])
    whole = draft((rule["text"], [(1, rule["text"])]))
    assert check(draft=whole, evidence=[evidence]).claims


def test_the_bundled_generator_answers_with_the_qualification(bank):
    reader = bank.person("reader")
    for rule in RULES:
        bank.document(rule["title"], rule["text"], readers=[reader])
    answered, bare = 0, []
    for rule in RULES:
        view = bank.ask(reader, rule["question"])
        said = " ".join(claim.text for claim in view.claims).lower()
        if rule["bare"].lower().rstrip(".")[:30] in said:
            answered += 1
            bare += [rule["title"]] * (not all(word in said for word in rule["keeps"]))
    assert bare == []
    assert answered >= 36
