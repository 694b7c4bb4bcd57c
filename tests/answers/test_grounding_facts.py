"""What a claim may not change: figures, codes, negations, conditions, limits, letters."""

from __future__ import annotations

import pytest

from answers.grounding.facts import Discrepancy, FactRule, Quoted, discrepancy


def found(
    claim: str, quote: str, *, language: str = "en", answered_in: str | None = None
) -> Discrepancy | None:
    return discrepancy(
        claim=claim,
        quotes=[Quoted(quote, language)],
        sentences=[quote],
        language=answered_in or language,
    )


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("You have 25 days.", "Employees have 25 days of leave."),
        ("The limit is EUR 1000.", "The limit is EUR 1,000."),
        ("The limit is €1,000.", "The limit is 1000 euro."),
        ("The limit is EUR 1 000.", "The limit is EUR 1,000."),
        ("The limit is EUR 5 million.", "The limit is EUR 5,000,000."),
        ("The fee is 2.50%.", "The fee is 2.5 percent."),
        ("There are twenty-five days.", "There are 25 days."),
        ("There are 25 days.", "There are twenty-five days."),
        ("It applies from 1 January 2024.", "It applies from 2024-01-01."),
        ("It applies from January 2024.", "It applies from 1 January 2024."),
        ("It applies since 2024.", "It applies since 1 January 2024."),
        ("The deadline is 31 March.", "The deadline is March 31, 2025."),
        ("The cut-off is 17:00.", "The cut-off time is 17:00 on working days."),
        ("One of the two approvers signs.", "2 approvers sign; one signs first."),
        ("The limit is EUR 500.", "Limit (EUR) Hotel 500"),
        ("Notice is 30 days.", "Notice is 30 calendar days."),
        ("Keep it 25 days² long.", "Keep it 25 days² long."),
    ],
)
def test_the_same_figure_in_another_form_is_accepted(claim, quote):
    assert found(claim, quote) is None


@pytest.mark.parametrize(
    ("claim", "quote", "language"),
    [
        ("The limit is EUR 1,000.", "De limiet is 1.000 euro.", "nl"),
        ("The rate is 2.5%.", "De rente is 2,5 %.", "nl"),
        ("The limit is EUR 1,000.", "La limite est de 1 000 €.", "fr"),
        ("It takes 3 days.", "Le délai est de trois jours.", "fr"),
        ("It applies from 1 March 2024.", "Geldig vanaf 1 maart 2024.", "nl"),
    ],
)
def test_a_figure_is_read_in_its_own_language(claim, quote, language):
    assert found(claim, quote, language=language, answered_in="en") is None


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("You have 25 days.", "Employees have 125 days."),
        ("You have 25 days.", "Employees have 2.5 days."),
        ("You have 5 days.", "Employees have 2.5 days."),
        ("You have 252 days.", "Employees have 25 days²."),
        ("You have 25² days.", "Employees have 25 days²."),
        ("You have 26 days.", "Employees have 25 days."),
        ("You have 25 weeks.", "Employees have 25 days."),
        ("You pay 25%.", "Employees pay EUR 25."),
        ("You pay 25.", "Employees pay 25%."),
        ("The limit is USD 500.", "The limit is EUR 500."),
        ("The limit is EUR 5.", "The limit is EUR 5 million."),
        ("The limit is EUR 5 million.", "The limit is EUR 5."),
        ("The limit is 2500.", "The limit is 2.500."),
        ("The rate is -5%.", "The rate is 5%."),
        ("There are three approvers.", "There are two approvers."),
        ("It applies from 1 February 2024.", "It applies from 1 January 2024."),
        ("It applies from 1 January 2025.", "It applies from 1 January 2024."),
        ("It applies from 2025.", "It applies from 1 January 2024."),
        ("The cut-off is 17:30.", "The cut-off is 17:00."),
        ("Level 7 applies.", "Levels apply."),
    ],
)
def test_another_figure_is_refused(claim, quote):
    discrepant = found(claim, quote)
    assert discrepant is not None
    assert discrepant.rule in (FactRule.NUMBER, FactRule.CHARACTERS)


def test_an_ambiguous_separator_equals_only_itself():
    assert found("The rate is 2,500.", "Het tarief is 2,500.", language="nl") is None
    assert found("The rate is 2500.", "Het tarief is 2,500.", language="nl") is not None


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("See POL-2024-018.", "See POL-2024-017."),
        ("See POL-2024-0171.", "See POL-2024-017."),
        ("See POL-2024.", "See POL-2024-017."),
        ("Use a P-5 shredder.", "Use a P-4 shredder."),
        ("Settle at T+3.", "Settle at T+2."),
        ("See 14.2.3(1)(c).", "See 14.2.3(1)(b)."),
    ],
)
def test_another_code_is_refused(claim, quote):
    discrepant = found(claim, quote)
    assert discrepant is not None
    assert discrepant.rule in (FactRule.IDENTIFIER, FactRule.NUMBER)


@pytest.mark.parametrize(
    ("claim", "quote", "language"),
    [
        ("Employees may accept cash gifts.", "Employees must not accept cash gifts.", "en"),
        ("Employees accept cash gifts.", "Employees never accept cash gifts.", "en"),
        ("Employees can't take leave.", "Employees can take leave.", "en"),
        ("No approval is needed.", "Approval is needed.", "en"),
        ("Cash gifts are allowed.", "Cash gifts are prohibited.", "en"),
        ("Eligible staff may apply.", "Ineligible staff may apply.", "en"),
        ("Gifts but not cash may be kept.", "Cash may be kept, but not gifts.", "en"),
        ("Medewerkers mogen dit delen.", "Medewerkers mogen dit niet delen.", "nl"),
        ("Er is een uitzondering.", "Er is geen uitzondering.", "nl"),
        (
            "Les employés divulguent ces données.",
            "Les employés ne divulguent pas ces données.",
            "fr",
        ),
        ("Aucun accord est requis.", "Un accord est requis.", "fr"),
        ("L'employé n'accepte pas de cadeau.", "L'employé accepte un cadeau.", "fr"),
        ("Das ist erlaubt.", "Das ist nicht erlaubt.", "de"),
    ],
)
def test_a_dropped_or_added_negation_is_refused(claim, quote, language):
    discrepant = found(claim, quote, language=language)
    assert discrepant is not None
    assert discrepant.rule is FactRule.NEGATION


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("You must not accept cash gifts.", "Employees must not accept cash gifts."),
        ("Accepting cash gifts is not allowed.", "Employees must not accept cash gifts."),
        ("Employees cannot accept cash.", "No employee may accept cash."),
        ("At most 5 days are carried over.", "No more than 5 days are carried over."),
        ("Up to 5 days are carried over.", "The carry-over may not exceed 5 days."),
    ],
)
def test_a_negation_said_another_way_is_accepted(claim, quote):
    assert found(claim, quote) is None


@pytest.mark.parametrize(
    ("claim", "quote", "language"),
    [
        ("Leave lapses.", "Leave lapses unless the manager agrees.", "en"),
        ("All staff have access.", "All staff except trainees have access.", "en"),
        ("Managers may approve.", "Only managers may approve.", "en"),
        ("Only managers may approve.", "Managers may approve.", "en"),
        ("Taxis are refunded.", "Taxis are refunded if no train runs after 22:00.", "en"),
        ("Taxis are refunded.", "Taxis are refunded, provided that a receipt is shown.", "en"),
        ("No employee may trade.", "No employee may trade without prior approval.", "en"),
        ("Verlof vervalt.", "Verlof vervalt, tenzij de leidinggevende akkoord gaat.", "nl"),
        ("Iedereen heeft toegang.", "Iedereen behalve stagiairs heeft toegang.", "nl"),
        ("Le congé expire.", "Le congé expire, à moins que le responsable accepte.", "fr"),
        ("Tous ont accès.", "Tous ont accès, sauf les stagiaires.", "fr"),
        ("Urlaub verfällt.", "Urlaub verfällt, es sei denn, die Leitung stimmt zu.", "de"),
        ("Keep it at most 5 years.", "Keep it at least 5 years.", "en"),
        ("Amounts below EUR 50 are reported.", "Amounts above EUR 50 are reported.", "en"),
        ("It is signed after the visit.", "It is signed before the visit.", "en"),
    ],
)
def test_a_dropped_invented_or_reversed_condition_is_refused(claim, quote, language):
    discrepant = found(claim, quote, language=language)
    assert discrepant is not None
    assert discrepant.rule in (FactRule.CONDITION, FactRule.NEGATION)


@pytest.mark.parametrize(
    "claim",
    [
        "Employees must nоt accept gifts.",  # Cyrillic "о": no check would see the "not"
        "Employees ｍust accept gifts.",
        "Employees must\u202e accept gifts.",
        "Employees must accept\u200b gifts.",
        "Employees must accept g\u0131fts.",
    ],
)
def test_look_alike_and_invisible_characters_are_refused(claim):
    discrepant = found(claim, "Employees must accept gifts.")
    assert discrepant is not None
    assert discrepant.rule is FactRule.CHARACTERS


@pytest.mark.parametrize("word", ["café", "Straße", "naïve", "Łódź", "œuvre", "“quoted”", "€"])
def test_letters_of_european_languages_are_not_unusual(word):
    assert found(f"See the {word} rule.", "See the rule.") is None


def test_the_reason_names_the_claims_own_figure():
    assert found("You have 26 days.", "Employees have 25 days.").reason == (
        '"26 day" is not in the quotes of the claim'
    )
