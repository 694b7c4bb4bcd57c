"""What a claim looks like and speaks of: a plain sentence, in words that its quotes have.

A document can talk a model into a form of its own choosing: a link, markup, a made-up citation, an
instruction to the reader. Whatever of that is in a claim must stand in the words it quotes, where
the reader sees whose words they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from answers.terms import content_words, fold, known_language, words

# Each is looked for in the claim, and must then stand in a quote as it is.
_FORMS = re.compile(
    r"\S*://\S*|\bwww\.\S+|\b(?:javascript|data|mailto|tel):\S+"  # addresses
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)*"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|biz|info|example|eu|be|nl|fr|de|uk|ru|cn)\b\S*"
    r"|</?[a-z!][^>\s]*|&(?:#\w+|\w+);"  # markup
    r"|!?\[[^\]]*\]\([^)]*\)?|`+|\*\*|__|~~|\|\s*-{2,}|^#+\s"  # Markdown
    r"|\[\s*[\w:.,\s-]{1,12}\s*\]|【[^】]*】"  # a citation of its own
    r"|[{}]|\\[nu\"]|\$\{|<\|"  # JSON, templates, chat tokens
    r"|^(?:system|assistant|user|developer|tool)\s*:",
    re.IGNORECASE,
)
_LEAST_SHARE = 1 / 3
_YES_AND_NO = frozenset({"yes", "no", "ja", "nee", "nein", "oui", "non"})


def foreign_form(claim: str, quotes: Iterable[str]) -> str | None:
    """Why the claim is not a plain sentence; None when it is, or when its quotes have all of it."""
    quoted = "\n".join(quotes)
    for found in _FORMS.finditer(claim):
        if found[0].strip() not in quoted:
            return "it holds an address, markup or marks that no quote has"
    return None


def unsupported(claim: str, *, language: str, sentences: Iterable[tuple[str, str]]) -> str | None:
    """Why the claim speaks of something else than its sentences, (text, language); None if it does not.

    Only where claim and sentences are of one language: words cannot be compared across languages.
    """
    sentences = list(sentences)
    spoken = known_language(language)
    if any(known_language(written) != spoken for _, written in sentences):
        return None
    said = {fold(word, spoken) for word in content_words(claim, spoken) or words(claim)}
    said -= _YES_AND_NO
    borne = {fold(word, spoken) for text, _ in sentences for word in words(text)}
    if len(said & borne) < len(said) * _LEAST_SHARE:
        return "most of its words are in no sentence that it quotes"
    return None
