"""Numbers, percentages, amounts, dates and times in a text, in a form that can be compared.

"1,000", "1000", "1.000" and "1 000" are one number; "25", "125" and "2.5" are three. Where a
separator cannot be read with certainty ("2.500" in an English text) the number equals only itself
as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from answers.terms import unaccented

_GAP = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?<![\w.,])[+−-]?\d{{1,3}}(?:[{_GAP}'’]\d{{3}})+(?:[.,]\d+)?(?!\w)"
    r"|(?<!\w)(?<!\d[.,])[+−-]?\d+(?:[.,]\d+)*(?=[kKmM]?(?!\w))"
)
_TIME = re.compile(r"(?<![\w.,])(\d{1,2})[:hH](\d{2})(?!\w)")
_ISO_DATE = re.compile(r"(?<!\w)(\d{4})-(\d{2})-(\d{2})(?!\w)")
_NUMERIC_DATE = re.compile(r"(?<!\w)(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\w)")

_MONTH_NAMES = (
    "january jan januari janvier januar",
    "february feb februari fevrier februar",
    "march mar maart mars marz",
    "april apr avril",
    "may mei mai",
    "june jun juni juin",
    "july jul juli juillet",
    "august aug augustus aout",
    "september sep sept septembre",
    "october oct oktober octobre okt",
    "november nov novembre",
    "december dec decembre dezember dez",
)
_MONTHS = {name: n for n, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_MONTH = rf"({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY_MONTH = re.compile(
    rf"(?<![\w.,])(\d{{1,2}})(?:st|nd|rd|th|er|e|\.)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(\d{{4}}))?(?!\w)"
)
_MONTH_DAY = re.compile(
    rf"(?<!\w){_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(\d{{4}}))?(?![\w.])"
)
_MONTH_YEAR = re.compile(rf"(?<!\w){_MONTH}\s+(\d{{4}})(?!\w)")

_SCALES: Mapping[str, int] = {
    **dict.fromkeys(("k", "thousand", "duizend", "mille", "tausend"), 10**3),
    **dict.fromkeys(
        ("m", "mn", "mln", "mio", "million", "millions", "miljoen", "millionen"), 10**6
    ),
    **dict.fromkeys(("bn", "billion", "miljard", "mld", "mrd", "milliard", "milliards"), 10**9),
}
_UNITS: Mapping[str, tuple[str, ...]] = {
    "percent": ("%", "percent", "procent", "pourcent", "prozent", "pct", "pour cent", "per cent"),
    "EUR": ("€", "eur", "euro", "euros"),
    "USD": ("$", "usd", "dollar", "dollars"),
    "GBP": ("£", "gbp", "pound", "pounds"),
    "CHF": ("chf",),
    "minute": ("minute", "minutes", "minuut", "minuten"),
    "hour": ("hour", "hours", "uur", "uren", "heure", "heures", "stunde", "stunden"),
    "day": ("day", "days", "dag", "dagen", "jour", "jours", "tag", "tage", "tagen", "werkdag",
            "werkdagen", "arbeitstag", "arbeitstage", "arbeitstagen", "kalenderdagen"),
    "week": ("week", "weeks", "weken", "semaine", "semaines", "woche", "wochen"),
    "month": ("month", "months", "maand", "maanden", "mois", "monat", "monate", "monaten"),
    "quarter": ("quarter", "quarters", "kwartaal", "kwartalen", "trimestre", "trimestres"),
    "year": ("year", "years", "jaar", "jaren", "ans", "annee", "annees", "jahr", "jahre",
             "jahren"),
}  # fmt: skip
_UNIT_OF = {word: unit for unit, written in _UNITS.items() for word in written}
_BEFORE = re.compile(r"(€|\$|£|(?<!\w)(?:eur|usd|gbp|chf))\s*$", re.IGNORECASE)
_AFTER = re.compile(r"\s*(?:(%|€|\$|£)|((?:pour|per) cent)(?!\w)|([^\W\d_]+))")

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_VALUES: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    **{f"{ten}{gap}{one}": 10 * t + o for t, ten in enumerate(_TENS, 2) for o, one in
       enumerate(_ONES[1:10], 1) for gap in ("-", " ")},
    "one hundred": 100, "two hundred": 200, "three hundred": 300, "five hundred": 500,
    # Only words that mean nothing else in another of the four languages.
    "twee": 2, "drie": 3, "vijf": 5, "zes": 6, "zeven": 7, "negen": 9, "tien": 10, "twaalf": 12,
    "vijftien": 15, "twintig": 20, "dertig": 30, "zestig": 60, "negentig": 90,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "dix": 10, "douze": 12,
    "quinze": 15, "vingt": 20, "trente": 30, "soixante": 60,
    "zwei": 2, "drei": 3, "funf": 5, "sechs": 6, "sieben": 7, "neun": 9, "zehn": 10, "zwolf": 12,
}  # fmt: skip
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_WORD_VALUES, key=len, reverse=True))})(?![\w-])"
)
# "one of them" is no count; the word is read as a number only where a unit follows.
_PRONOUNS = frozenset({"one", "zero"})


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` is canonical: equal figures have equal values. ``unit`` is "" where none is."""

    written: str
    value: str
    unit: str = ""

    def supported_by(self, other: Figure) -> bool:
        """Whether ``other``, a figure of a quote, says this figure's value (units aside)."""
        if self.value == other.value:
            return True
        if self.value.startswith("date ") and other.value.startswith("date "):
            pairs = zip(self.value[5:].split("-"), other.value[5:].split("-"), strict=False)
            return "*" in self.value and all(mine in ("*", theirs) for mine, theirs in pairs)
        if other.value.startswith(f"date {self.value}-"):
            return len(self.value) == 4
        ambiguous = self.value.startswith("~") or other.value.startswith("~")
        return ambiguous and self.written == other.written


def figures(text: str, language: str) -> list[Figure]:
    """Every figure of a text, in the order dates, times, numbers, number words."""
    plain = unaccented_in_place(text)
    found: list[Figure] = []
    for match, figure in _dated(plain):
        found.append(figure)
        plain = _blanked(plain, match)
    for match in _TIME.finditer(plain):
        value = f"time {int(match[1])}:{match[2]}"
        found.append(Figure(match[0], value))
        plain = _blanked(plain, match)
    for match in _NUMBER.finditer(plain):
        found.append(_measured(plain, match, _value(match[0], language)))
    for match in _NUMBER_WORD.finditer(plain):
        figure = _measured(plain, match, str(_WORD_VALUES[match[1]]))
        if match[1] not in _PRONOUNS or figure.unit:
            found.append(figure)
    return found


def units_without_number(text: str) -> frozenset[str]:
    """Units that stand alone, as in a table's header: "Limit (EUR)", "Days"."""
    plain = unaccented_in_place(text)
    for match in _NUMBER.finditer(plain):
        end = match.end() + 24
        plain = plain[: match.start()] + "#" * (match.end() - match.start()) + plain[match.end() :]
        for unit in _AFTER.finditer(plain, match.end(), end):
            plain = _blanked(plain, unit)
            break
    tokens = re.findall(r"[%€$£]|[^\W\d_]+", plain)
    return frozenset(_UNIT_OF[token] for token in tokens if token in _UNIT_OF)


def unaccented_in_place(text: str) -> str:
    """Lower case without accents, keeping every character's place."""
    return "".join(
        plain if len(plain := unaccented(char)) == 1 and not char.isdigit() else char
        for char in text
    )


def _dated(plain: str) -> Iterator[tuple[re.Match[str], Figure]]:
    for match in _ISO_DATE.finditer(plain):
        yield match, _date(match, int(match[1]), int(match[2]), int(match[3]))
    for match in _NUMERIC_DATE.finditer(plain):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        if second > 12 >= first:
            yield match, _date(match, year, first, second)
        elif first > 12 >= second:
            yield match, _date(match, year, second, first)
        else:
            yield match, Figure(match[0], f"date {match[0]}")
    taken: list[tuple[int, int]] = []
    for pattern, (day, month, year) in (
        (_DAY_MONTH, (1, 2, 3)),
        (_MONTH_DAY, (2, 1, 3)),
        (_MONTH_YEAR, (None, 1, 2)),
    ):
        for match in pattern.finditer(plain):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            yield (
                match,
                _date(
                    match,
                    int(match[year]) if match[year] else None,
                    _MONTHS[match[month]],
                    int(match[day]) if day else None,
                ),
            )


def _date(match: re.Match[str], year: int | None, month: int, day: int | None) -> Figure:
    return Figure(match[0], f"date {year or '*'}-{month}-{day or '*'}")


def _measured(plain: str, match: re.Match[str], value: str) -> Figure:
    unit = ""
    if before := _BEFORE.search(plain[max(0, match.start() - 8) : match.start()]):
        unit = _UNIT_OF[before[1].lower()]
    position = match.end()
    for step in range(3):
        after = _AFTER.match(plain, position)
        if not after:
            break
        word = after[1] or after[2] or after[3]
        if step == 0 and word in _SCALES and not value.startswith("~"):
            value = _plain(Decimal(value) * _SCALES[word])
        elif word in _UNIT_OF:
            unit = unit or _UNIT_OF[word]
            break
        elif step == 2 or not after[3]:
            break
        position = after.end()
    return Figure(match[0], value, unit)


def _value(written: str, language: str) -> str:
    """The canonical decimal of a written number, or "~" and the number where it is ambiguous."""
    sign = "-" if written[0] in "-−" else ""
    bare = written.lstrip("+-−")
    bare = re.sub(rf"[{_GAP}'’]", "", bare)
    marks = [char for char in bare if char in ".,"]
    if not marks:
        return _plain(Decimal(sign + bare))
    parts = re.split(r"[.,]", bare)
    if len(set(marks)) == 1:
        grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3
        if len(marks) > 1:
            return _plain(Decimal(sign + "".join(parts))) if grouped else f"~{written}"
        if grouped and parts[0] != "0":
            thousands = "," if language == "en" else "."
            joined = _plain(Decimal(sign + "".join(parts)))
            return joined if marks[0] == thousands else f"~{written}"
        return _plain(Decimal(f"{sign}{parts[0]}.{parts[1]}"))
    if marks[-1] in marks[:-1]:
        return f"~{written}"
    return _plain(Decimal(f"{sign}{''.join(parts[:-1])}.{parts[-1]}"))


def _plain(number: Decimal) -> str:
    return format(number.normalize(), "f")


def _blanked(plain: str, match: re.Match[str]) -> str:
    return plain[: match.start()] + " " * (match.end() - match.start()) + plain[match.end() :]
