"""What an abstention may name: words of the question that nothing its asker may read has.

Only what the asker may read is looked at, so the same is said whether a document that has the word
exists elsewhere or not.
"""

import re

from documents.access import readable_documents
from documents.models import IndexGeneration
from documents.retrieval.presence import present_terms
from documents.retrieval.terms import lexeme_terms
from tenants.models import User
from tenants.selectors import current_tenant

from .terms import content_words, known_language
from .vocabulary import GENERIC_WORDS

_WORD = re.compile(r"[^\W\d_]{4,}")
_MOST_NAMED = 2

Span = tuple[int, int]


def missing_words(
    *, user: User, question: str, language: str, generation: IndexGeneration
) -> list[Span]:
    """Where they stand in the question, at most two.

    None where most of the question's words are missing: then it was asked in a language, or about a
    subject, that a single word would not explain.
    """
    spans = _telling(question, language)
    words = [question[slice(*span)] for span in spans]
    lexemes = lexeme_terms(words, {language, *current_tenant().languages})
    terms = {
        span: set().union(*own.values())
        for span, own in zip(spans, lexemes, strict=True)
        # Not what the question's own language passes over; another's list has it as a word.
        if own[language]
    }
    wanted = set().union(*terms.values())
    present = present_terms(reader=user.pk, generation=generation, terms=wanted)
    missing = [span for span, own in terms.items() if not own & present]
    missing = [span for span in missing if not _in_a_title(user, question[slice(*span)])]
    return missing[:_MOST_NAMED] if 2 * len(missing) <= len(terms) else []


def _telling(question: str, language: str) -> list[Span]:
    generic = GENERIC_WORDS[known_language(language)]
    return [
        match.span()
        for match in _WORD.finditer(question)
        if (words := content_words(match[0], language)) and not generic.intersection(words)
    ]


def _in_a_title(user: User, word: str) -> bool:
    return readable_documents(user=user).filter(title__icontains=word).exists()


def name_gap(question: str, spans: list[Span]) -> str:
    """A sentence; empty where there is nothing to name, or the question is no longer kept."""
    words = [f"“{question[start:end]}”" for start, end in spans if question[start:end]]
    if not words:
        return ""
    return f"When you asked, no document available to you had the word {' or '.join(words)}."
