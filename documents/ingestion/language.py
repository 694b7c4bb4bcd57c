"""The language of a passage, among those the tenant keeps documents in."""

import threading
from collections.abc import Sequence
from functools import lru_cache

from lingua import IsoCode639_1, LanguageDetector, LanguageDetectorBuilder

# Shorter passages (a table row, a title) follow their document.
_FEWEST_WORDS = 8
_lock = threading.Lock()


def detect_language(
    text: str, *, among: Sequence[str], default: str, fewest_words: int = _FEWEST_WORDS
) -> str:
    """An ISO 639-1 code from `among`; `default` for short or undecided text."""
    if len(among) < 2 or len(text.split()) < fewest_words:
        return default
    with _lock:
        found = _detector(tuple(sorted(among))).detect_language_of(text)
    return found.iso_code_639_1.name.lower() if found else default


@lru_cache(maxsize=16)
def _detector(languages: tuple[str, ...]) -> LanguageDetector:
    codes = [getattr(IsoCode639_1, language.upper()) for language in languages]
    builder = LanguageDetectorBuilder.from_iso_codes_639_1(*codes)
    return builder.with_low_accuracy_mode().build()
