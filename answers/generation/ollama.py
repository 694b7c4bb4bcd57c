"""The generator that asks a model behind Ollama.

The model never writes a quote. It sees each sentence of the evidence under an id and names ids,
restricted by the reply's schema to those that exist; the words are looked up here. So a made-up
quote, or one laid at another source's door, cannot be expressed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
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
from answers.terms import words

PROMPT = "answer-2"
SEED = 20240101
MAX_CLAIMS = 3
MAX_SENTENCES_PER_CLAIM = 3
MAX_CLAIM_CHARACTERS = 600
MAX_REPLY_TOKENS = 1024
CONNECT_TIMEOUT_SECONDS = 5.0

# European text runs at 3 to 4.5 bytes a token; 2.5 leaves room for codes and tables.
_BYTES_PER_TOKEN = 2.5
_TEMPLATE_TOKENS = 64
# A word is at least one token. Less than this share of the words means that the rest was cut.
_LEAST_TOKENS_PER_WORD = 0.9
_LEAST_COPIED = 0.95

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
        size = sum(len(message["content"].split()) for message in messages)
        tokens_in = response.prompt_eval_count or 0
        if not size * _LEAST_TOKENS_PER_WORD <= tokens_in < self._context_tokens:
            raise GeneratorUnavailable(
                UnavailableReason.TRUNCATED_PROMPT,
                f"{self.name} read {tokens_in} tokens of a prompt of {size} words, with a context"
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
    """Claims, each with its ids first, and then the verdict; or neither.

    A small model that writes first and looks for support after finds some for anything; and asked
    for the verdict first, it says no to nearly everything.
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

    def reply(fewest: int, most: int, verdict: dict[str, Any]) -> dict[str, Any]:
        claims = {"type": "array", "items": claim, "minItems": fewest, "maxItems": most}
        return {
            "type": "object",
            "properties": {"claims": claims, "answerable": verdict},
            "required": ["claims", "answerable"],
            "additionalProperties": False,
        }

    return {"anyOf": [reply(1, MAX_CLAIMS, {"type": "boolean"}), reply(0, 0, {"const": False})]}


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
    if (answerable and not claims) or len(claims) > MAX_CLAIMS:
        raise _bad_output(f'"answerable" is {answerable} and there are {len(claims)} claims')
    checked = [_claim(claim, quotable, ids) for claim in claims]
    if not answerable:  # it took back what it wrote
        return ()
    return tuple({claim.text: claim for claim in checked}.values())


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
    copied = _copied_from(text, quotable, ids)
    quotes = [copied] if copied else [quotable[name] for name in dict.fromkeys(names)]
    return DraftClaim(text.strip(), tuple(DraftQuote(one.source, one.quote) for one in quotes))


def _copied_from(
    text: str, quotable: Mapping[str, Quotable], ids: frozenset[str]
) -> Quotable | None:
    """The sentence that a claim repeats all but word for word, whatever ids the model gave it.

    Small models copy well and miss the id by one. What they leave out in copying, such as a "not",
    grounding sees when it compares the two.
    """
    said = Counter(words(text))
    best, share = None, _LEAST_COPIED
    for name in (name for name in quotable if name in ids):
        has = Counter(words(quotable[name].text))
        same = 2 * (said & has).total() / max(1, said.total() + has.total())
        if same > share:
            best, share = quotable[name], same
    return best


def _bad_output(message: str) -> GeneratorUnavailable:
    return GeneratorUnavailable(UnavailableReason.BAD_OUTPUT, message)
