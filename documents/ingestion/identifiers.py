"""Reference codes, clause numbers and ISINs, for exact matching: whole, part, never near.

A tokeniser breaks "POL-2024-017" into pieces that match the wrong things, so identifiers have
their own terms. The two sides of a match are not symmetric:

- a passage offers `identifier_terms`: its identifiers and their exact parts;
- a question asks with `identifier_query_terms`: its identifiers whole, and fragments that were
  typed as such ("9087", "2024-017").

Match the question's against the passage's. Then "9087" finds PPR-9087, "ZX-49" finds neither
ZX-4819 nor AB-49, and nothing is found by resemblance.
"""

from __future__ import annotations

import re

# Word processors write the hyphen of a code as one of these so that it does not break there.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))

# Letters and digits only: a superscript footnote mark after a code is not part of it.
_START = r"(?<![A-Za-zÀ-ÿ0-9])(?<![A-Za-zÀ-ÿ0-9][-/._])"
_END = r"(?![A-Za-zÀ-ÿ0-9])(?![-/_][A-Za-zÀ-ÿ0-9])"

_CODE = re.compile(
    rf"{_START}[A-Za-z][A-Za-z0-9]{{0,14}}(?:[-/._][A-Za-z0-9]{{1,20}}){{1,6}}{_END}"
)
_SOLID_CODE = re.compile(rf"{_START}[A-Z]{{2,10}}[0-9][A-Z0-9]{{0,20}}{_END}")
_ISIN = re.compile(rf"{_START}[A-Za-z]{{2}}[A-Za-z0-9]{{9}}[0-9]{{1}}{_END}")
_LEGAL_ACT = re.compile(rf"{_START}(?:[0-9]{{4}}/[0-9]{{2,4}}|[0-9]{{2,4}}/[0-9]{{4}}){_END}")
_DOTTED = r"[0-9]{1,3}(?:\.[0-9]{1,3})"
_SUFFIX = r"(?: ?\([A-Za-z0-9]{1,4}\))"
_CLAUSE = re.compile(
    rf"{_START}(?:{_DOTTED}{{2,6}}{_SUFFIX}{{0,4}}|[0-9]{{1,3}}(?:\.[0-9]{{1,3}})?{_SUFFIX}{{1,4}})"
    rf"(?![A-Za-zÀ-ÿ0-9]|[.,][0-9])"
)
# Two levels ("3.2") are a clause only where the text says so: elsewhere they are a decimal.
_NAMED_CLAUSE = re.compile(
    r"(?:§§?|\b(?:clause|section|article|artikel|paragraph|paragraaf|paragraphe|abschnitt|absatz"
    r"|ziffer|chapter|hoofdstuk|chapitre|kapitel|annex|annexe|bijlage|anhang|art\.|sec\.|par\.))"
    r"\s{0,2}([0-9]{1,3}\.[0-9]{1,3})(?![0-9A-Za-z]|[.,][0-9])",
    re.IGNORECASE,
)
_HEADING_CLAUSE = re.compile(r"^([0-9]{1,2}\.[0-9]{1,2})\.?[ ]+(?=[A-ZÀ-Þ][a-zß-ÿ])", re.MULTILINE)
_FRAGMENT = re.compile(rf"{_START}[0-9]{{2,}}(?:-[0-9]{{2,}})+{_END}|{_START}[0-9]{{3,}}{_END}")

_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
_DATE = re.compile(r"[0-3]?[0-9]\.[01]?[0-9]\.(?:[0-9]{2}){1,2}")
# Ordinary words that stand before a hyphen and a number: "mid-2024", "over-65".
_NOT_A_PREFIX = frozenset(
    str.split(
        "MID PRE POST NON TOP DAY AGE OVER UNDER EARLY LATE SINCE SUB PLUS EX ANTI DE LE LA EN ET"
    )
)


def identifiers(text: str) -> set[str]:
    """The identifiers in the text, in upper case without spaces: POL-2024-017, 14.2.3(1)(B).

    An ISIN counts only with a right check digit.
    """
    text = text.translate(_HYPHENS)
    found = {match[0].upper() for match in _CODE.finditer(text) if _is_code(match[0].upper())}
    for match in _ISIN.finditer(text):
        if is_isin(match[0].upper()):
            found.add(match[0].upper())
    for match in _SOLID_CODE.finditer(text):
        if not _ISIN.fullmatch(match[0]):
            found.add(match[0])
    found.update(match[0] for match in _LEGAL_ACT.finditer(text))
    for match in _CLAUSE.finditer(text):
        clause = match[0].replace(" ", "").upper()
        if not (_THOUSANDS.fullmatch(clause) or _DATE.fullmatch(clause)):
            found.add(clause)
    for pattern in (_NAMED_CLAUSE, _HEADING_CLAUSE):
        found.update(match[1] for match in pattern.finditer(text))
    return found


def identifier_terms(text: str) -> set[str]:
    """What a passage can be found by: its identifiers and their exact parts.

    A part is a run of whole segments with a digit and at least two characters in it: of
    POL-2024-017, "POL-2024", "2024-017", "2024" and "017"; of 14.2.3(1)(B), "14.2.3(1)" and
    "14.2.3".
    """
    found = identifiers(text)
    return found.union(*map(_parts, found))


def identifier_query_terms(text: str) -> set[str]:
    """What a question asks for: identifiers whole, and bare numeric fragments of three digits or
    more. Compare with `identifier_terms` of passages.
    """
    return identifiers(text) | {match[0] for match in _FRAGMENT.finditer(text.translate(_HYPHENS))}


def is_isin(code: str) -> bool:
    """Whether an upper-case code has the form of an ISIN and a right check digit (ISO 6166)."""
    if not re.fullmatch(r"[A-Z]{2}[A-Z0-9]{9}[0-9]", code):
        return False
    digits = "".join(str(int(character, 36)) for character in code)
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_code(code: str) -> bool:
    head, *rest = re.split(r"[-/._]", code)
    if not any(character.isdigit() for part in rest for character in part):
        return any(character.isdigit() for character in head) and len(head) > 1
    return head not in _NOT_A_PREFIX


def _parts(identifier: str) -> set[str]:
    if "(" in identifier:
        pieces = identifier.split("(")
        return {"(".join(pieces[:count]) for count in range(1, len(pieces))} - {pieces[0][:1]}
    pieces = re.split(r"([-/_])", identifier)
    runs = set()
    for first in range(0, len(pieces), 2):
        for last in range(first, len(pieces), 2):
            run = "".join(pieces[first : last + 1])
            if len(run) > 1 and any(character.isdigit() for character in run):
                runs.add(run)
    return runs - {identifier}
