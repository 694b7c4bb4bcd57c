"""Sentences as candidate answers: what each says of the question, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from answers.evidence import Evidence
from answers.generation.quotable import Quotable, quotable_sentences
from answers.grounding.numbers import figures
from answers.grounding.quotes import tidied
from answers.terms import QuestionTerms, strengths
from documents.ingestion import exceptions
from documents.ingestion.headings import is_heading

_ENDED = re.compile(r"[.!?:;…][\"'”’»)\]\u00b9\u00b2\u00b3\u2070-\u2079]*$")
# Titles and footers repeat on every page and answer nothing.
_RUNNING_LINE = re.compile(
    r"\b(?:page|pagina|seite|blz\.?)\s+\d+\s*(?:of|van|sur|von|/)\s*\d+", re.IGNORECASE
)
_CODE = re.compile(r"(?<!\w)[^\W\d_]+[-/]?\d[\w/-]*|(?<!\w)\d+[^\W\d_][\w/-]*\d")
# How a row points to what is said below its table, and how that begins.
_FOOTNOTE = re.compile(r"[\u00b9\u00b2\u00b3\u2070-\u2079]+|\*+|\(\d\)")
_NUMBER = re.compile(r"\d[\d.,]*")
_MOST_HEADER_ROWS = 4
_MOST_FOLLOWERS = 3
_LABEL = re.compile(r"[^\W\d_][\w ]{0,30}\s?: ")


def unmarked(text: str) -> str:
    """Without the mark that opens it. A line without an end may be a table row: "2.5 Days"."""
    return exceptions.MARK.sub("", text) if _ENDED.search(text) else text


@dataclass(frozen=True, slots=True)
class Candidate:
    """``own`` is how well each term stands in the sentence itself, ``around`` near it.

    ``around`` is at least ``own``: it takes in the neighbours, the heading, the section, the title
    and, at the lowest rate, the whole chunk.
    """

    sentence: Quotable
    evidence: Evidence
    place: int
    own: dict[str, float]
    around: dict[str, float]
    anywhere: dict[str, float]
    has_figure: bool
    opens_document: bool
    is_row: bool
    header: Quotable | None
    note: Quotable | None
    follower: Quotable | None
    lead: Quotable | None
    score: float = 0.0

    @property
    def words(self) -> frozenset[str]:
        return frozenset(unmarked(self.sentence.text).lower().split())


@dataclass(frozen=True, slots=True)
class Nearness:
    """What a term is worth that stands not in the sentence but near it."""

    section: float = 0.75
    title: float = 0.65
    neighbour: float = 0.6
    header: float = 0.8
    chunk: float = 0.3
    same_chunk: float = 0.8
    mentioned: float = 0.6


def candidates(
    terms: QuestionTerms, evidence: Sequence[Evidence], nearness: Nearness
) -> list[Candidate]:
    """Every sentence that may be quoted and is no heading, in the order of the evidence."""
    by_source: dict[int, list[Quotable]] = {}
    for sentence in quotable_sentences(evidence).values():
        by_source.setdefault(sentence.source, []).append(sentence)
    found: list[Candidate] = []
    for chunk in evidence:
        found.extend(_of_chunk(terms, chunk, by_source.get(chunk.number, []), nearness))
    return found


def _of_chunk(
    terms: QuestionTerms, chunk: Evidence, listed: list[Quotable], nearness: Nearness
) -> list[Candidate]:
    def strength(text: str) -> dict[str, float]:
        return strengths(terms, text, chunk.language)

    own = [strength(sentence.text) for sentence in listed]
    title, anywhere = strength(label(chunk)), strength(chunk.text)
    anywhere = {term: max(anywhere[term], title[term]) for term in anywhere}
    # All of a document is about the identifier that it carries or, less surely, mentions.
    named = {
        one: 1.0 if title[one] else max(nearness.mentioned, anywhere[one] * nearness.same_chunk)
        for one in terms.identifiers
    }
    heads = _headings(listed, chunk)
    first = next((at for at, one in enumerate(listed) if _ENDED.search(one.text)), len(listed))
    found: list[Candidate] = []
    for at, sentence in enumerate(listed):
        in_title_block = chunk.start == 0 and at < first
        if at in heads or in_title_block or not _may_answer(at, listed, heads, chunk):
            continue
        heading = next((listed[i].text for i in range(at, -1, -1) if i in heads), chunk.section)
        header = _header(at, listed, heads, chunk)
        note = _note(at, listed, chunk) if header else None
        near = [own[i] for i in (at - 1, at + 1) if _same_block(i, at, listed, heads, chunk)]
        worth = (
            (own[at], 1.0),
            (strength(heading), nearness.section),
            (title, nearness.title),
            *((one, nearness.neighbour) for one in near),
            *(((strength(header.text), nearness.header),) if header else ()),
            *(((strength(note.text), nearness.header),) if note else ()),
            (strength(chunk.context), nearness.section),
            (anywhere, nearness.chunk),
        )
        around = {term: max(one[term] * rate for one, rate in worth) for term in terms.wanted}
        around |= {one: max(around[one], named[one]) for one in terms.identifiers}
        found.append(
            Candidate(
                sentence=sentence,
                evidence=chunk,
                place=at,
                own=own[at],
                around=around,
                anywhere=anywhere,
                has_figure=bool(figures(_CODE.sub("", unmarked(sentence.text)), chunk.language)),
                opens_document=chunk.start == 0 and at == first,
                is_row=header is not None,
                header=header,
                note=note,
                follower=_follower(at, listed, heads, chunk),
                lead=_lead(at, listed, heads, chunk),
            )
        )
    return found


def _may_answer(at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence) -> bool:
    """Not what is cut off at the passage's edge, repeats on every page, or heads a table."""
    sentence = listed[at]
    cut_off = at == 0 and sentence.text[0].islower()
    following = at + 1
    header = _header(following, listed, heads, chunk) if following < len(listed) else None
    heads_table = header is not None and header.start <= sentence.start < header.end
    return (
        sentence.may_be_quoted
        and not cut_off
        and not heads_table
        and not _is_note(at, listed, heads, chunk)
        and not _RUNNING_LINE.search(sentence.text)
    )


def label(chunk: Evidence) -> str:
    return f"{chunk.title}\n{chunk.reference}"


def scored(candidate: Candidate, score: float) -> Candidate:
    return replace(candidate, score=score)


def _headings(listed: list[Quotable], chunk: Evidence) -> frozenset[int]:
    found = set()
    for at, sentence in enumerate(listed):
        before = listed[at - 1].text.rsplit("\n")[-1] if at else None
        after = listed[at + 1].text if at + 1 < len(listed) else None
        if "\n" not in sentence.quote and is_heading(
            sentence.text, previous=before, following=after
        ):
            found.add(at)
    return frozenset(found)


def _same_block(
    one: int, other: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence
) -> bool:
    """Whether two neighbours belong to one paragraph: no blank line, heading or mark between."""
    if not 0 <= one < len(listed) or one in heads or other in heads:
        return False
    first, second = sorted((one, other))
    between = chunk.text[listed[first].end : listed[second].start]
    return "\n\n" not in between and not exceptions.MARK.match(listed[second].text)


def _header(
    at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence
) -> Quotable | None:
    """The first row of the table that the sentence is a row of, or all rows that head it."""
    first = at
    while (
        first > 0
        and first - 1 not in heads
        and _is_row(first, listed, chunk)
        and _is_row(first - 1, listed, chunk)
    ):
        if "\n\n" in chunk.text[listed[first - 1].end : listed[first].start]:
            break
        first -= 1
    if first == at:
        return None
    last = _last_header_row(first, at, listed)
    if last > first:
        return _joined(listed[first], listed[last], chunk)
    return listed[first] if listed[first].may_be_quoted else None


def _last_header_row(first: int, at: int, listed: list[Quotable]) -> int:
    """A head that spans columns stands above the columns' own: "Limit a day" above "MIN MAX"."""
    numbered = next((i for i in range(first, at + 1) if _NUMBER.search(listed[i].text)), first)
    last = numbered - 1
    if not first < last < first + _MOST_HEADER_ROWS:
        return first
    columns = len(_NUMBER.findall(_unnoted(listed[numbered].text)))
    names = listed[last].text
    return last if names.isupper() or 1 < len(names.split()) <= columns else first


def _joined(one: Quotable, other: Quotable, chunk: Evidence) -> Quotable:
    quote = chunk.text[one.start : other.end]
    return replace(one, end=other.end, quote=quote, text=tidied(quote), may_be_quoted=True)


def _unnoted(text: str) -> str:
    return _FOOTNOTE.sub("", text)


def _note(at: int, listed: list[Quotable], chunk: Evidence) -> Quotable | None:
    """What is said below the table of the row, when the row points to it."""
    for mark in _FOOTNOTE.findall(listed[at].text):
        for below in listed[at + 1 :]:
            if below.text.startswith(mark) and below.may_be_quoted:
                return below
    return None


def _is_note(at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence) -> bool:
    """Whether a row of this passage points to the sentence: then it is quoted with that row."""
    if not _FOOTNOTE.match(listed[at].text):
        return False
    return any(
        _note(i, listed, chunk) == listed[at] and _header(i, listed, heads, chunk)
        for i in range(at)
    )


def _is_row(at: int, listed: list[Quotable], chunk: Evidence) -> bool:
    sentence = listed[at]
    return not (
        _ENDED.search(sentence.text)
        or exceptions.MARK.match(sentence.text)
        or _LABEL.match(sentence.text)
        or _RUNNING_LINE.search(sentence.text)
    )


def _follower(
    at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence
) -> Quotable | None:
    """What comes next, when it takes back, limits or continues what this one says."""
    first = last = at + 1
    if first >= len(listed) or first in heads or not listed[first].may_be_quoted:
        return None
    sentence = listed[first]
    if _same_block(first, at, listed, heads, chunk):
        said = unmarked(sentence.text)
        limits = exceptions.takes_back(said) or exceptions.INSIDE.search(said)
        if not limits and not exceptions.LEANS_BACK.match(sentence.text):
            return None
        while _goes_on_limiting(last, listed, heads, chunk) and last < at + _MOST_FOLLOWERS:
            last += 1
        return _joined(sentence, listed[last], chunk) if last > first else sentence
    opens = exceptions.OPENS.match(unmarked(sentence.text))
    return sentence if opens and not _is_row(first, listed, chunk) else None


def _goes_on_limiting(
    at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence
) -> bool:
    following = at + 1
    return (
        following < len(listed)
        and _same_block(following, at, listed, heads, chunk)
        and exceptions.takes_back(listed[following].text)
    )


def _lead(
    at: int, listed: list[Quotable], heads: frozenset[int], chunk: Evidence
) -> Quotable | None:
    """The sentence before, when this one cannot be understood without it."""
    previous = at - 1
    if previous < 0 or not _same_block(previous, at, listed, heads, chunk):
        return None
    text = listed[at].text
    leans = exceptions.LEANS_BACK.match(text) or exceptions.OPENS.match(text)
    return listed[previous] if leans and listed[previous].may_be_quoted else None
