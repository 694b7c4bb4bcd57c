"""The generator that asks a model behind Ollama.

The model never writes a quote. It sees each sentence of the evidence under an id and names ids,
restricted by the reply's schema to those that exist; the words are looked up here. So a made-up
quote, or one laid at another source's door, cannot be expressed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import ollama

from answers.evidence import Evidence
from answers.generation.base import (
    Draft,
    DraftClaim,
    DraftQuote,
    GeneratorUnavailable,
    UnavailableReason,
)
from answers.generation.prompts import load_prompt
from answers.generation.quotable import Quotable, quotable_sentences

PROMPT = "answer-1"
SEED = 20240101
MAX_CLAIMS = 4
MAX_SENTENCES_PER_CLAIM = 4
MAX_CLAIM_CHARACTERS = 600
MAX_REPLY_TOKENS = 1024
CONNECT_TIMEOUT_SECONDS = 5.0

# European text runs at 3 to 4.5 bytes a token; 2.5 leaves room for codes and tables.
_BYTES_PER_TOKEN = 2.5
_TEMPLATE_TOKENS = 64
# A word is at least one token. Less than this share of the words means that the rest was cut.
_LEAST_TOKENS_PER_WORD = 0.9

_LANGUAGES = {"en": "English", "nl": "Dutch", "fr": "French", "de": "German"}
_TRANSPORT_ERRORS = (ConnectionError, httpx.TransportError)


class OllamaGenerator:
    """``host`` is the server's address (default: the client's own, from OLLAMA_HOST).

    ``context_tokens`` is sent as ``num_ctx``. A prompt that might not fit is refused before it is
    sent, for Ollama would cut it silently.
    """

    def __init__(
        self,
        *,
        model: str,
        host: str | None = None,
        timeout_seconds: float = 60,
        context_tokens: int = 8192,
    ) -> None:
        self.model = model
        self.name = f"ollama:{model}"
        self.processor = self.name
        self._context_tokens = context_tokens
        self._timeout_seconds = timeout_seconds
        timeout = httpx.Timeout(
            timeout_seconds, connect=min(CONNECT_TIMEOUT_SECONDS, timeout_seconds)
        )
        # No redirects: evidence goes to the processor that was admitted, and to no other.
        self._client = ollama.Client(host=host, timeout=timeout, follow_redirects=False)

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        """A draft in ``language``; one without claims when the model says it cannot answer.

        Raises GeneratorUnavailable.
        """
        quotable = quotable_sentences(evidence)
        ids = [sentence.id for sentence in quotable.values() if sentence.may_be_quoted]
        if not ids:
            return self._draft((), tokens_in=0, tokens_out=0, why="no evidence that can be quoted")
        messages = _messages(question, language, evidence, quotable)
        self._refuse_if_too_long(messages)
        response = self._ask(messages, _reply_schema(ids))
        tokens_in, tokens_out = self._counted(response, messages)
        claims = _claims(_parsed(response), quotable, frozenset(ids))
        why = "answered by the model" if claims else "the model found no answer in the evidence"
        return self._draft(claims, tokens_in=tokens_in, tokens_out=tokens_out, why=why)

    def _draft(
        self, claims: tuple[DraftClaim, ...], *, tokens_in: int, tokens_out: int, why: str
    ) -> Draft:
        return Draft(
            claims=claims,
            generator=self.name,
            model=self.model,
            prompt_version=load_prompt(PROMPT).version,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            explanation={"decision": why},
        )

    def _refuse_if_too_long(self, messages: Sequence[Mapping[str, str]]) -> None:
        size = sum(len(message["content"].encode()) for message in messages)
        estimate = math.ceil(size / _BYTES_PER_TOKEN) + _TEMPLATE_TOKENS
        if estimate + MAX_REPLY_TOKENS > self._context_tokens:
            raise GeneratorUnavailable(
                UnavailableReason.TRUNCATED_PROMPT,
                f"the prompt may take {estimate} tokens and the reply {MAX_REPLY_TOKENS}, more than"
                f" the context of {self._context_tokens}: raise it, or send fewer passages",
            )

    def _ask(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]
    ) -> ollama.ChatResponse:
        for last_try in (False, True):
            try:
                return self._client.chat(
                    model=self.model,
                    messages=messages,
                    format=schema,
                    stream=False,
                    options={
                        "temperature": 0,
                        "seed": SEED,
                        "num_ctx": self._context_tokens,
                        "num_predict": MAX_REPLY_TOKENS,
                    },
                )
            except httpx.TimeoutException as error:
                raise GeneratorUnavailable(
                    UnavailableReason.TIMEOUT,
                    f"{self.name} gave no answer within {self._timeout_seconds:g} seconds",
                ) from error
            except _TRANSPORT_ERRORS as error:
                if last_try:
                    raise GeneratorUnavailable(
                        UnavailableReason.UNREACHABLE,
                        f"no connection to Ollama for {self.model} ({type(error).__name__}): check"
                        " that it runs and that OLLAMA_HOST is right",
                    ) from error
            except ollama.ResponseError as error:
                raise GeneratorUnavailable(
                    UnavailableReason.UNREACHABLE,
                    f"Ollama refused a call of {self.model} with status {error.status_code}: check"
                    " its log, and that the model is installed",
                ) from error
            except ValueError as error:
                raise _bad_output("the reply is not one that Ollama sends") from error
        raise AssertionError("unreachable")

    def _counted(
        self, response: ollama.ChatResponse, messages: Sequence[Mapping[str, str]]
    ) -> tuple[int, int]:
        """Tokens in and out. Fails closed unless the whole prompt was read."""
        words = sum(len(message["content"].split()) for message in messages)
        tokens_in = response.prompt_eval_count or 0
        if not words * _LEAST_TOKENS_PER_WORD <= tokens_in < self._context_tokens:
            raise GeneratorUnavailable(
                UnavailableReason.TRUNCATED_PROMPT,
                f"{self.name} read {tokens_in} tokens of a prompt of {words} words, with a context"
                f" of {self._context_tokens}: it was cut",
            )
        if response.done_reason == "length":
            raise _bad_output(f"the reply was cut at {MAX_REPLY_TOKENS} tokens")
        return tokens_in, response.eval_count or 0


def _messages(
    question: str,
    language: str,
    evidence: Sequence[Evidence],
    quotable: Mapping[str, Quotable],
) -> list[dict[str, str]]:
    sources = [
        {
            "source": chunk.number,
            "title": chunk.title,
            "section": chunk.section,
            "withdrawn": chunk.withdrawn_date.isoformat() if chunk.withdrawn_date else None,
            "sentences": {
                # What may not be quoted is shown for its sense, under no id.
                (sentence.id if sentence.may_be_quoted else f"heading {sentence.id}"): sentence.text
                for sentence in quotable.values()
                if sentence.source == chunk.number
            },
        }
        for chunk in evidence
    ]
    system = load_prompt(PROMPT).text.replace("{language}", _LANGUAGES.get(language[:2], "English"))
    user = json.dumps({"sources": sources, "question": question}, ensure_ascii=False)
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _reply_schema(ids: Sequence[str]) -> dict[str, Any]:
    """Either answerable with at least one claim, or not answerable and nothing else.

    In a claim the ids come first: a small model that writes first and looks for support after
    finds some for anything.
    """
    claim = {
        "type": "object",
        "properties": {
            "sentences": {
                "type": "array",
                "items": {"type": "string", "enum": list(ids)},
                "minItems": 1,
                "maxItems": MAX_SENTENCES_PER_CLAIM,
            },
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_CLAIM_CHARACTERS},
        },
        "required": ["sentences", "text"],
        "additionalProperties": False,
    }
    claims = {"type": "array", "items": claim, "minItems": 1, "maxItems": MAX_CLAIMS}
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"answerable": {"const": True}, "claims": claims},
                "required": ["answerable", "claims"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"answerable": {"const": False}},
                "required": ["answerable"],
                "additionalProperties": False,
            },
        ]
    }


def _parsed(response: ollama.ChatResponse) -> Mapping[str, Any]:
    try:
        reply = json.loads(response.message.content or "")
    except ValueError as error:
        raise _bad_output("the reply is not JSON") from error
    if not isinstance(reply, dict):
        raise _bad_output("the reply is not an object")
    return reply


def _claims(
    reply: Mapping[str, Any], quotable: Mapping[str, Quotable], ids: frozenset[str]
) -> tuple[DraftClaim, ...]:
    """The reply checked by hand against the schema: not every server enforces it."""
    answerable, claims = reply.get("answerable"), reply.get("claims", [])
    if not isinstance(answerable, bool) or not isinstance(claims, list):
        raise _bad_output("the reply does not say whether the question is answerable")
    if answerable != bool(claims) or len(claims) > MAX_CLAIMS:
        raise _bad_output(f'"answerable" is {answerable} and there are {len(claims)} claims')
    return tuple(_claim(claim, quotable, ids) for claim in claims)


def _claim(claim: Any, quotable: Mapping[str, Quotable], ids: frozenset[str]) -> DraftClaim:
    if not isinstance(claim, dict):
        raise _bad_output("a claim is not an object")
    names, text = claim.get("sentences"), claim.get("text")
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_CLAIM_CHARACTERS:
        raise _bad_output("a claim has no text, or too much")
    if not isinstance(names, list) or not 0 < len(names) <= MAX_SENTENCES_PER_CLAIM:
        raise _bad_output("a claim names no sentences, or too many")
    if not all(isinstance(name, str) and name in ids for name in names):
        raise _bad_output("a claim names a sentence that it was not given")
    quotes = [quotable[name] for name in dict.fromkeys(names)]
    return DraftClaim(text.strip(), tuple(DraftQuote(one.source, one.quote) for one in quotes))


def _bad_output(message: str) -> GeneratorUnavailable:
    return GeneratorUnavailable(UnavailableReason.BAD_OUTPUT, message)
