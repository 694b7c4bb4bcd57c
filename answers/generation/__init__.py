"""Generators: evidence in, a draft of claims with quotes out."""

from __future__ import annotations

from answers.generation.base import (
    Draft,
    DraftClaim,
    DraftQuote,
    Generator,
    GeneratorUnavailable,
    UnavailableReason,
)
from answers.generation.dialogue import CONTEXT_TOKENS, PROMPT
from answers.generation.extractive import NAME as EXTRACTIVE_VERSION
from answers.generation.extractive import ExtractiveGenerator
from answers.generation.gated import GatedGenerator
from answers.generation.ollama import OllamaGenerator
from answers.generation.openai_compatible import DEFAULT_URL, OpenAICompatibleGenerator
from documents.embedding import Embedder

__all__ = [
    "Draft",
    "DraftClaim",
    "DraftQuote",
    "Generator",
    "GeneratorUnavailable",
    "UnavailableReason",
    "get_generator",
    "version_of",
]


def version_of(name: str) -> str:
    """What of the generator ``name`` is this release's own: its rules, and the prompt if it has one."""
    return EXTRACTIVE_VERSION if name == "extractive" else f"{PROMPT}, {EXTRACTIVE_VERSION}"


def get_generator(
    name: str,
    *,
    ollama_host: str | None = None,
    openai_url: str = DEFAULT_URL,
    openai_api_key: str = "",
    timeout_seconds: float = 60,
    context_tokens: int = CONTEXT_TOKENS,
    entailment: bool = True,
    embedder: Embedder | None = None,
) -> Generator:
    """The generator called ``name``: "extractive", "ollama:MODEL" at ``ollama_host``, or
    "openai:MODEL" at ``openai_url``.

    ``embedder`` lets the extractive generator, which also decides whether a model is asked at all,
    compare meanings as well as words. Raises ValueError for a name it does not know. Building one
    opens no connection.
    """
    extractive = ExtractiveGenerator(embedder=embedder)
    if name == "extractive":
        return extractive
    kind, _, model = name.partition(":")
    if kind == "ollama" and model:
        asked = OllamaGenerator(
            model=model,
            host=ollama_host,
            timeout_seconds=timeout_seconds,
            context_tokens=context_tokens,
            entailment=entailment,
        )
        return GatedGenerator(gate=extractive, model=asked)
    if kind == "openai" and model:
        asked = OpenAICompatibleGenerator(
            model=model,
            url=openai_url,
            api_key=openai_api_key,
            timeout_seconds=timeout_seconds,
            context_tokens=context_tokens,
            entailment=entailment,
        )
        return GatedGenerator(gate=extractive, model=asked)
    raise ValueError(
        f'unknown generator "{name}": use "extractive", "ollama:MODEL" or "openai:MODEL"'
    )
