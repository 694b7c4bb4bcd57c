"""Which lines of a page are headings, judged by their form: extracted text carries no fonts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from documents.ingestion.templates import canonical_name

_MAX_WORDS = 12
_MAX_CHARACTERS = 100

_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.)\s+[^\W\d_]")
_NAMED = re.compile(
    r"(?:article|artikel|art\.|section|chapter|hoofdstuk|chapitre|kapitel|abschnitt|annexe?"
    r"|bijlage|anhang|appendix|part|deel|afdeling|titre|partie|teil|§)\s*"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[IVX]{1,5}|[A-Z])\b",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(
    r"[,;:(\-–—/&]$|(?<!\w)(?:the|an?|of|and|or|to|in|on|by|for|with|at|from|as|is|are|be|than|that"
    r"|de|het|een|van|en|of|in|op|te|met|voor|aan|bij|door|als|dat|die|om|tot"
    r"|le|la|les|un|une|des|du|et|ou|à|au|aux|en|par|pour|sur|dans|que|qui"
    r"|der|die|das|den|dem|des|ein|eine|einer|und|oder|im|am|zu|zur|zum|mit|von|für|auf|bei)$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*$")
_REFERENCE_END = re.compile(
    r"(?<!\w)(?:clauses?|sections?|articles?|artikel(?:en)?|paragraphs?|art\.|nos?\.|nr\.|§|annex"
    r"|bijlage|anhang|hoofdstuk|chapitre|chapter|kapitel|point|punt|lid|step|stap)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MINOR_LENGTH = 3
# What stands under a heading is text: a finished sentence or a line this long. A shorter open
# line is more likely a table row, and the "heading" the names of its columns.
_BODY_LENGTH = 60


def is_heading(line: str, *, previous: str | None, following: str | None) -> bool:
    """Whether a line stands as a heading between its neighbours (None or "" = none there).

    Numbered ("3.2 Carry-over"), named ("Artikel 4 – Toepassing"), capitals, title case, or a
    short line in sentence case between a finished sentence and text. A question that a template
    fixes ("What are the costs?") always is one.
    """
    line = line.strip()
    if canonical_name(line):
        return True
    if not line or len(line) > _MAX_CHARACTERS or len(line.split()) > _MAX_WORDS:
        return False
    if following and following.lstrip()[:1].islower():
        return False
    if previous and (_ENDS_OPEN.search(previous.rstrip()) or ends_in_reference(previous)):
        introduced = previous.rstrip().endswith(":")
        return introduced and bool(_NAMED.match(line)) and _is_closed(line)
    if not _is_closed(line) or ends_open(line):
        return False
    if _NAMED.match(line):
        return True
    if _NUMBERED.match(line):
        return line.split(maxsplit=1)[1][:1].isupper()
    return _is_plain_heading(line, previous=previous, following=following)


def heading_lines(text: str) -> Iterator[tuple[int, str]]:
    """The headings of one page or passage, in order: where each starts, and its words."""
    lines = text.split("\n")
    position = 0
    for index, line in enumerate(lines):
        previous = lines[index - 1] if index else None
        following = lines[index + 1] if index + 1 < len(lines) else None
        if is_heading(line, previous=previous, following=following):
            yield position + len(line) - len(line.lstrip()), line.strip()
        position += len(line) + 1


def section_at(text: str, position: int, *, outer: str = "") -> str:
    """The heading in force at an offset of a passage; `outer` where none stands above it there.

    A passage can run over several sections: this names the one of a quote inside it.
    """
    section = outer
    for start, heading in heading_lines(text):
        if start > position:
            break
        section = heading
    return section


def ends_open(line: str) -> bool:
    """Whether a line breaks off inside a sentence: after a comma, an article, a preposition."""
    return bool(_ENDS_OPEN.search(line.rstrip()))


def ends_in_reference(line: str) -> bool:
    """Whether a line ends in a word that a number must follow: "see clause", "volgens artikel"."""
    return bool(_REFERENCE_END.search(line.rstrip()))


def _is_closed(line: str) -> bool:
    """No sentence ends in it: "Artikel 4." is a heading, "Artikel 4 geldt niet." is not."""
    if line.endswith("."):
        return bool(_NAMED.fullmatch(line[:-1]))
    return line[-1] not in ",;:!?…"


def _is_plain_heading(line: str, *, previous: str | None, following: str | None) -> bool:
    words = _WORD.findall(line)
    if not words or not line[0].isupper() or any(character.isdigit() for character in line):
        return False
    if not following or len(words) > 8:
        return False
    below = following.strip()
    is_body = len(below) >= _BODY_LENGTH or bool(_SENTENCE_END.search(below))
    letters = "".join(words)
    if letters.isupper() and len(letters) > 3:
        return is_body or bool(_NUMBERED.match(below)) or below.isupper()
    capitals = [word for word in words[1:] if len(word) > _MINOR_LENGTH and word[0].isupper()]
    majors = [word for word in words[1:] if len(word) > _MINOR_LENGTH]
    if majors and len(capitals) == len(majors):
        return is_body
    starts_afresh = not previous or bool(_SENTENCE_END.search(previous.rstrip()))
    return starts_afresh and is_body and len(words) <= 6 and len(capitals) <= 1
