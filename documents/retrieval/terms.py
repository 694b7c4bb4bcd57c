"""Terms of the keyword leg: lexemes per language and exact identifiers, made by PostgreSQL.

A term is prefixed with its language (`en:leav`), so a question is matched against each passage in
the passage's own language, and a stop word of one language is not a term of another.
"""

from collections.abc import Iterable

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


def configuration(language: str) -> str:
    """The PostgreSQL text-search configuration of a language; `simple` where there is none."""
    return CONFIGURATIONS.get(language, "simple")


def question_terms(question: str, languages: Iterable[str]) -> list[str]:
    """The terms to look up, in every language the tenant keeps documents in."""
    text = search_form(question)
    terms = {IDENTIFIER + code for code in identifier_query_terms(question)}
    with connection.cursor() as cursor:
        for language in sorted(set(languages)):
            cursor.execute(
                "SELECT lexeme FROM unnest(to_tsvector(%s::regconfig, unaccent(%s)))",
                [configuration(language), text],
            )
            terms.update(f"{language}:{row[0][:100]}" for row in cursor.fetchall())
    return sorted(terms)
