"""Terms of the keyword leg: lexemes per language and exact identifiers, made by PostgreSQL.

A term is prefixed with its language (`en:leav`), so a question is matched against each passage in
the passage's own language, and a stop word of one language is not a term of another.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection

from documents.ingestion.identifiers import identifier_query_terms
from documents.ingestion.normalise import search_form

IDENTIFIER = "id:"

CONFIGURATIONS = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "sv": "swedish",
}

_LEXEMES = """
SELECT texts.place, languages.language, found.lexeme
FROM unnest(%s::text[]) WITH ORDINALITY AS texts (text, place)
CROSS JOIN unnest(%s::text[], %s::regconfig[]) AS languages (language, configuration)
CROSS JOIN LATERAL unnest(to_tsvector(languages.configuration, unaccent(texts.text))) AS found
"""


def configuration(language: str) -> str:
    """The PostgreSQL text-search configuration of a language; `simple` where there is none."""
    return CONFIGURATIONS.get(language, "simple")


def question_terms(question: str, languages: Iterable[str]) -> list[str]:
    """The terms to look up, in every language the tenant keeps documents in."""
    terms = {IDENTIFIER + code for code in identifier_query_terms(question)}
    return sorted(terms.union(*lexeme_terms([question], languages)[0].values()))


def lexeme_terms(texts: Sequence[str], languages: Iterable[str]) -> list[dict[str, set[str]]]:
    """For each text, {language: its lexemes as terms}; a text of stop words only has none there."""
    languages = sorted(set(languages))
    found: list[dict[str, set[str]]] = [defaultdict(set) for _ in texts]
    with connection.cursor() as cursor:
        cursor.execute(
            _LEXEMES,
            [
                [search_form(text) for text in texts],
                languages,
                [configuration(language) for language in languages],
            ],
        )
        for place, language, lexeme in cursor.fetchall():
            found[place - 1][language].add(f"{language}:{lexeme[:100]}")
    return found
