"""The language a question is asked in, among those its tenant uses."""

from documents.ingestion.language import detect_language
from tenants.selectors import current_tenant


def detect_question_language(question: str, *, default: str) -> str:
    return detect_language(
        question, among=current_tenant().languages, default=default, fewest_words=4
    )
