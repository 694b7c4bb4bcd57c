"""What kind of thing a question wants: a figure, a person, and how many things at once."""

from __future__ import annotations

import re

from answers.terms import unaccented

_WANTS_FIGURE = re.compile(
    r"\bhow (?:many|much|long|often|far|old|soon|late|early|high|large|big|fast|quickly)\b"
    r"|\b(?:the )?(?:most|least|smallest|largest|highest|lowest|shortest|longest)\b"
    r"|\bwhat (?:share|percentage|part|rate|tax|discount)\b|\bcosts?\b"
    r"|\bwhen\b|\bby what (?:time|date)\b|\bwhat(?:'s| is| are)? (?:the |my |our )?"
    r"(?:\w+ ){0,3}(?:amount|limit|percentage|rate|maximum|minimum|deadline|threshold|period"
    r"|ceiling|cap|price|time|date|number|age|duration)\b"
    r"|\bhoeveel\b|\bhoe ?(?:lang|vaak|laat|hoog|ver|snel|groot)\b|\bwanneer\b"
    r"|\b(?:welk|wat is het|wat is de) (?:\w+ ){0,2}(?:bedrag|percentage|limiet|maximum|minimum"
    r"|termijn|grens|datum)\b"
    r"|\bcombien\b|\bquand\b|\ba quelle (?:heure|date)\b"
    r"|\bque(?:l|lle) (?:est |sont )?(?:le |la |l')?(?:\w+ ){0,2}(?:montant|delai|pourcentage"
    r"|plafond|limite|duree|taux|maximum|minimum|date|heure|seuil)\b"
    r"|\bwie ?(?:viele?|lange|oft|hoch|spat|schnell)\b|\bwann\b"
)
_WANTS_PERSON = re.compile(r"\b(?:who|whom|whose|wie|qui|wer|wem|wen)\b")
_PERSON = re.compile(
    r"\b(?:head|officer|manager|director|committee|board|team|desk|department|owner|colleague"
    r"|employee|hoofd|leidinggevende|directeur|comite|dienst|afdeling|eigenaar|chef|responsable"
    r"|directrice|service|conseil|equipe|leiter|vorgesetzte|ausschuss|abteilung)s?\b"
)
_JOINT = re.compile(
    r"[?;]+\s*|,?\s+\b(?:and also|and|as well as|en ook|en|evenals|et aussi|et|ainsi que|und auch"
    r"|und|sowie)\b\s+|,\s+",
    re.IGNORECASE,
)


def wants_figure(question: str) -> bool:
    return bool(_WANTS_FIGURE.search(unaccented(question)))


def wants_person(question: str, language: str) -> bool:
    found = _WANTS_PERSON.search(unaccented(question))
    # "wie" is "who" in Dutch and "how" in German.
    return bool(found) and not (found[0] == "wie" and language != "nl")


def names_person(sentence: str) -> bool:
    return bool(_PERSON.search(unaccented(sentence)))


def parts(question: str) -> list[str]:
    """The questions inside a question; one element when it cannot be taken apart."""
    found = [part.strip() for part in _JOINT.split(question) if part and part.strip()]
    return found if len(found) > 1 else [question]
