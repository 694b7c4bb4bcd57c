"""A number as a spreadsheet shows it: "5%", "1,250.00", "€ 40". What is read must mean the same."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]")
_QUOTED = re.compile(r"\"([^\"]*)\"")
_PADDING = re.compile(r"[_*].")
_ESCAPED = re.compile(r"\\(.)")
_PLACES = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?|\.[#0?]+")


def shown(value: float, form: str) -> str:
    """Decimals, thousands, percent and units as the format says; dates are not given here."""
    sections = form.split(";")
    section = sections[1] if value < 0 and len(sections) > 1 and sections[1] else sections[0]
    if section in ("General", "@", "") or "/" in section or "E+" in section.upper():
        return _plain(value)
    section = _IN_BRACKETS.sub(lambda found: found[1] or "", section)
    section = _QUOTED.sub(lambda found: found[1], section)
    section = _ESCAPED.sub(r"\1", _PADDING.sub("", section))
    places = _PLACES.search(section)
    if places is None:
        return _plain(value)
    if value < 0 and len(sections) > 1 and sections[1]:
        value = -value  # the format writes the sign itself
    if "%" in section:
        value *= 100
    _, _, fraction = places[0].partition(".")
    least = fraction.count("0")
    most = len(fraction)
    written = f"{value:,.{most}f}" if "," in places[0] else f"{value:.{most}f}"
    if most > least:
        head, _, tail = written.partition(".")
        tail = tail[:least] + tail[least:].rstrip("0")
        written = f"{head}.{tail}" if tail else head
    before, after = section[: places.start()], section[places.end() :]
    return f"{before}{written}{after}".strip()


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
