"""Words that mean the same thing in a bank's policies, within and across four languages.

It lets a question about "holiday" find "leave", and one in English find a sentence in Dutch, in a
way that anyone can read and correct: the words are in ``lexicon.txt``. They are matched folded
(`answers.terms.fold`), so one form of each is enough.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

LANGUAGES = ("en", "nl", "fr", "de")


@cache
def concepts() -> tuple[dict[str, tuple[str, ...]], ...]:
    """One mapping from language to words for each concept."""
    lines = (Path(__file__).parent / "lexicon.txt").read_text("utf-8").splitlines()
    rows = (line.split("|") for line in lines if line and not line.startswith("#"))
    return tuple(
        {language: tuple(cell.split()) for language, cell in zip(LANGUAGES, row, strict=True)}
        for row in rows
    )
