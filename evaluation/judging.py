"""Whether an answer is what its case asked for. Pure: no database."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from .models import EvalCase


@dataclass(frozen=True, slots=True)
class Given:
    """What a person got: the outcome, all words of it, and what it cites."""

    outcome: str
    words: str
    documents: frozenset[UUID]
    sections: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """`violations` are permission violations and never acceptable; `failures` are the rest."""

    failures: tuple[str, ...]
    violations: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.failures and not self.violations


def judge(*, case: EvalCase, given: Given, unreadable: Collection[UUID]) -> Judgement:
    """`unreadable`: documents that reached a processor or the answer without the person's right."""
    failures = list(_failures(case, given))
    violations = [
        f"document {document} was not permitted" for document in sorted(unreadable, key=str)
    ]
    return Judgement(failures=tuple(failures), violations=tuple(violations))


def _failures(case: EvalCase, given: Given) -> Iterable[str]:
    if given.outcome != case.expected_outcome:
        yield f"outcome is {given.outcome}, expected {case.expected_outcome}"
    for words in case.forbidden_text:
        if holds(given.words, words):
            yield f"says what it must not: {words}"
    if case.expected_outcome != "answered" or given.outcome != "answered":
        return
    for words in case.required_text:
        if not holds(given.words, words):
            yield f"does not say: {words}"
    required = {UUID(document) for document in case.required_documents}
    if required and not required & given.documents:
        yield "cites none of the required documents"
    if case.required_sections and not set(case.required_sections) & given.sections:
        yield "cites none of the required sections"


def holds(text: str, words: str) -> bool:
    """Whether the words stand in the text, whole, whatever white space is between them."""
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w|[.,]\d)", text, re.IGNORECASE) is not None
