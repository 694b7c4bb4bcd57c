"""Passages of a version's text: small enough to embed and quote, never across a page."""

from __future__ import annotations

import hashlib
import re
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from documents.ingestion.extracted import ExtractedText, PageSpan
from documents.ingestion.headings import heading_lines
from documents.ingestion.sentences import sentences
from documents.ingestion.templates import section_name

# The last part of a window in which a sentence end is preferred over a full window.
_TAIL_SHARE = 0.2
_NAMESPACE = uuid.UUID("e7705fe0-b272-5fa6-84d1-12eeab8b4535")
# Lines this close to a page's edge that come back on other pages are running titles.
_EDGE_LINES = 2


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A passage. `text == extracted.text[start:end]`; `sha256` is of its UTF-8 bytes, in hex.

    `section` is the heading in force where the passage's new words begin, or "". `context` is what
    stands elsewhere and tells what the passage is about: it helps to find it, and is never quoted.
    """

    ordinal: int
    section: str
    page: int
    start: int
    end: int
    text: str
    sha256: str
    context: str = ""

    @property
    def embedded_text(self) -> str:
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    text: str


def split(
    extracted: ExtractedText, *, max_words: int = 250, overlap_words: int = 40
) -> list[ChunkSpan]:
    """Cut every page into passages of at most `max_words` words (runs without white space).

    Neighbours on a page share up to `overlap_words` words. A passage ends at a sentence end where
    one lies in its last fifth. A page's last passage is never a mere scrap: where what is left is
    little more than the overlap, the last two passages share the words between them. Every
    character that is not white space is in at least one passage.

    Raises ValueError when the overlap leaves no room to advance.
    """
    if overlap_words < 0 or overlap_words * 2 > max_words:
        raise ValueError(
            f"overlap_words is {overlap_words}: choose between 0 and half of max_words "
            f"({max_words})."
        )
    headings = _headings(extracted)
    chunks: list[ChunkSpan] = []
    for page in extracted.pages:
        new_from = page.start
        for start, end in _windows(extracted.text, page, max_words, overlap_words):
            text = extracted.text[start:end]
            chunks.append(
                ChunkSpan(
                    ordinal=len(chunks),
                    section=section_name(
                        _section_at(headings, extracted.text, max(start, new_from))
                    ),
                    page=page.page,
                    start=start,
                    end=end,
                    text=text,
                    sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
                )
            )
            new_from = end
    return chunks


def chunk_id(*, version_id: uuid.UUID, chunking: str, ordinal: int) -> uuid.UUID:
    """The same passage of the same version under the same chunking has the same id, always."""
    return uuid.uuid5(_NAMESPACE, f"{version_id}:{chunking}:{ordinal}")


def _windows(text: str, page: PageSpan, max_words: int, overlap: int) -> Iterator[tuple[int, int]]:
    words = [match.span() for match in re.compile(r"\S+").finditer(text, page.start, page.end)]
    sentence_ends = {
        page.start + sentence.end for sentence in sentences(text[page.start : page.end])
    }
    first = 0
    while first < len(words):
        last = _last_word(words, sentence_ends, first, max_words, overlap)
        yield words[first][0], words[last - 1][1]
        if last == len(words):
            return
        first = max(last - overlap, first + 1)


def _last_word(
    words: list[tuple[int, int]], sentence_ends: set[int], first: int, max_words: int, overlap: int
) -> int:
    """The index after the window's last word."""
    left = len(words) - first
    if left <= max_words:
        return len(words)
    limit = first + max_words
    if left < max_words + overlap:
        limit = first + (left + overlap + 1) // 2
    earliest = limit - int((limit - first) * _TAIL_SHARE)
    for last in range(limit, earliest - 1, -1):
        if words[last - 1][1] in sentence_ends:
            return last
    return limit


def _headings(extracted: ExtractedText) -> list[_Heading]:
    running = running_lines(extracted)
    headings: list[_Heading] = []
    for page in extracted.pages:
        for start, heading in heading_lines(extracted.text[page.start : page.end]):
            if running_key(heading) not in running:
                headings.append(_Heading(page.start + start, heading))
    return headings


def running_key(line: str) -> str:
    return re.sub(r"\d+", "#", line.strip()).casefold()


def running_lines(extracted: ExtractedText) -> set[str]:
    """Lines at the edges of more than one page, page numbers aside: they head no section."""
    seen: Counter[str] = Counter()
    for page in extracted.pages:
        lines = [line for line in extracted.text[page.start : page.end].split("\n") if line.strip()]
        seen.update({running_key(line) for line in lines[:_EDGE_LINES] + lines[-_EDGE_LINES:]})
    return {key for key, pages in seen.items() if pages > 1}


def _section_at(headings: list[_Heading], text: str, position: int) -> str:
    """The heading in force at a position; where headings follow one another, the innermost."""
    position = _after_blank(text, position)
    index = bisect_right(headings, position, key=lambda heading: heading.start) - 1
    if index < 0:
        return ""
    while headings[index].start == position and index + 1 < len(headings):
        position = _after_blank(text, position + len(headings[index].text))
        if headings[index + 1].start != position:
            break
        index += 1
    return headings[index].text


def _after_blank(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
