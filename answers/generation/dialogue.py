"""What every generator that asks a language model shares: the prompt, its budget, the reply's check.

The model never writes a quote. It sees each sentence of the evidence under an id and names ids,
restricted by the reply's schema to those that exist; the words are looked up here. So a made-up
quote, or one laid at another source's door, cannot be expressed.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from answers.evidence import Evidence
from answers.generation.base import (
    Draft,
    DraftClaim,
    DraftQuote,
    GeneratorUnavailable,
    UnavailableReason,
)
from answers.generation.calls import within
from answers.generation.prompts import load_prompt
from answers.generation.quotable import Quotable, quotable_sentences
from answers.terms import words

PROMPT = "answer-2"
ENTAILMENT_PROMPT = "entail-1"
SEED = 20240101
MAX_CLAIMS = 3
MAX_SENTENCES_PER_CLAIM = 3
MAX_CLAIM_CHARACTERS = 600
MAX_REPLY_TOKENS = 1024
CONTEXT_TOKENS = 8192

# European text runs at 3 to 4.5 bytes a token; 2.5 leaves room for codes and tables.
_BYTES_PER_TOKEN = 2.5
_TEMPLATE_TOKENS = 64
# A word is at least one token. Less than this share of the words means that the rest was cut.
_LEAST_TOKENS_PER_WORD = 0.9
_LEAST_COPIED = 0.95

_LANGUAGES = {"en": "English", "nl": "Dutch", "fr": "French", "de": "German"}

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered. ``tokens_in`` is None when it did not say what it read.

    ``cut`` means that the reply ended because of a limit, not because it was complete.
    """

    content: str
    tokens_in: int | None
    tokens_out: int
    cut: bool


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt that fits. ``counted`` is the server's own count of its text, where it gives one."""

    messages: Messages
    quotable: Mapping[str, Quotable]
    sent: tuple[int, ...]
    dropped: tuple[int, ...]
    counted: int | None

    @property
    def ids(self) -> list[str]:
        return [sentence.id for sentence in self.quotable.values() if sentence.may_be_quoted]


class ModelGenerator(ABC):
    """Asks a model on a server. What differs from server to server is ``_ask`` and ``_count``.

    A prompt that might not fit ``context_tokens`` loses whole passages, the lowest-ranked first,
    and the draft's explanation says which; when the best alone does not fit, nothing is sent.

    With ``entailment`` each claim is put to the model once more, alone with its quotes. What it finds
    goes with the claim, to grounding; no verdict is no draft.
    """

    def __init__(
        self,
        *,
        kind: str,
        model: str,
        timeout_seconds: float,
        context_tokens: int,
        entailment: bool = False,
    ) -> None:
        self.model = model
        self.name = f"{kind}:{model}"
        self.processor = self.name
        self._context_tokens = context_tokens
        self._entailment = entailment
        self._timeout_seconds = timeout_seconds

    @abstractmethod
    def _ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        """One call. Raises GeneratorUnavailable."""

    def _count(self, messages: Messages) -> int | None:
        """Tokens of the messages' text by the server's own tokeniser; None where it has none."""
        return None

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        """A draft in ``language``; one without claims when the model says it cannot answer.

        All calls together take no longer than the time limit. Raises GeneratorUnavailable.
        """
        with within(self._timeout_seconds):
            return self._generate(question, language, evidence)

    def _generate(self, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        if not any(one.may_be_quoted for one in quotable_sentences(evidence).values()):
            return self._draft((), why="no evidence that can be quoted")
        prompt = self._fitting(question, language, evidence)
        if not prompt.ids:
            return self._draft((), why="no evidence that can be quoted", prompt=prompt)
        reply = self._ask(prompt.messages, reply_schema(prompt.ids))
        self._refuse_if_cut(reply, prompt.messages, counted=prompt.counted)
        claims = _claims(_parsed(reply.content), prompt.quotable, frozenset(prompt.ids))
        why = "answered by the model" if claims else "the model found no answer in the evidence"
        draft = self._draft(claims, why=why, prompt=prompt, reply=reply)
        return self._with_verdicts(draft) if self._entailment else draft

    def _with_verdicts(self, draft: Draft) -> Draft:
        schema = {
            "type": "object",
            "properties": {"supported": {"type": "boolean"}},
            "required": ["supported"],
            "additionalProperties": False,
        }
        claims, tokens_in, tokens_out = [], draft.tokens_in, draft.tokens_out
        for claim in draft.claims:
            messages = _entailment_messages(claim)
            if estimate(messages) + _TEMPLATE_TOKENS + MAX_REPLY_TOKENS > self._context_tokens:
                raise GeneratorUnavailable(
                    UnavailableReason.TRUNCATED_PROMPT,
                    f"a claim and its quotes might not fit the context of {self._context_tokens}",
                )
            reply = self._ask(messages, schema)
            self._refuse_if_cut(reply, messages)
            supported = _parsed(reply.content).get("supported")
            if not isinstance(supported, bool):
                raise bad_output("the reply does not say whether the claim is supported")
            claims.append(replace(claim, entailed=supported))
            tokens_in += reply.tokens_in or 0
            tokens_out += reply.tokens_out
        verdicts = [claim.entailed for claim in claims]
        return replace(
            draft,
            claims=tuple(claims),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            explanation={
                **draft.explanation,
                "entailed": verdicts,
                "entailment_prompt": load_prompt(ENTAILMENT_PROMPT).version,
            },
        )

    def _draft(
        self,
        claims: tuple[DraftClaim, ...],
        *,
        why: str,
        prompt: _Prompt | None = None,
        reply: Reply | None = None,
    ) -> Draft:
        trimmed = (
            {"passages_sent": list(prompt.sent), "passages_dropped": list(prompt.dropped)}
            if prompt and prompt.dropped
            else {}
        )
        return Draft(
            claims=claims,
            generator=self.name,
            model=self.model,
            prompt_version=load_prompt(PROMPT).version,
            tokens_in=(reply.tokens_in or 0) if reply else 0,
            tokens_out=reply.tokens_out if reply else 0,
            explanation={"decision": why, **trimmed},
        )

    def _fitting(self, question: str, language: str, evidence: Sequence[Evidence]) -> _Prompt:
        """The prompt with as many of the best passages as fit whole."""
        quotable = quotable_sentences(evidence)
        for kept in range(len(evidence), 0, -1):
            sent = evidence[:kept]
            numbers = tuple(chunk.number for chunk in sent)
            shown = {name: one for name, one in quotable.items() if one.source in numbers}
            messages = _messages(question, language, sent, shown)
            counted = self._count(messages)
            needed = (estimate(messages) if counted is None else counted) + _TEMPLATE_TOKENS
            if needed + MAX_REPLY_TOKENS <= self._context_tokens:
                dropped = tuple(chunk.number for chunk in evidence[kept:])
                return _Prompt(messages, shown, numbers, dropped, counted)
        raise GeneratorUnavailable(
            UnavailableReason.TRUNCATED_PROMPT,
            f"the prompt may take {needed} tokens with the best passage alone, and the reply"
            f" {MAX_REPLY_TOKENS}, more than the context of {self._context_tokens}: raise"
            " PRECEPT_GENERATOR_CONTEXT_TOKENS, or index in shorter passages",
        )

    def _refuse_if_cut(
        self, reply: Reply, messages: Messages, *, counted: int | None = None
    ) -> None:
        """Fails closed unless the whole prompt was read and the reply is whole."""
        spoken = sum(len(message["content"].split()) for message in messages)
        least = max(counted or 0, spoken) * _LEAST_TOKENS_PER_WORD
        tokens_in = reply.tokens_in or 0
        if not least <= tokens_in < self._context_tokens:
            raise GeneratorUnavailable(
                UnavailableReason.TRUNCATED_PROMPT,
                f"{self.name} read {tokens_in} tokens of a prompt of at least {math.ceil(least)},"
                f" with a context of {self._context_tokens}: it was cut",
            )
        if tokens_in + reply.tokens_out > self._context_tokens:
            raise GeneratorUnavailable(
                UnavailableReason.TRUNCATED_PROMPT,
                f"{self.name} read and wrote {tokens_in + reply.tokens_out} tokens in a context of"
                f" {self._context_tokens}: it forgot the beginning while it wrote",
            )
        if reply.cut:
            raise bad_output("the reply was cut at a limit of tokens")


def estimate(messages: Messages) -> int:
    """Tokens that the messages may take, on the high side."""
    size = sum(len(message["content"].encode()) for message in messages)
    return math.ceil(size / _BYTES_PER_TOKEN)


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


def _entailment_messages(claim: DraftClaim) -> list[dict[str, str]]:
    shown = {"quotes": [quote.quote for quote in claim.quotes], "claim": claim.text}
    return [
        {"role": "system", "content": load_prompt(ENTAILMENT_PROMPT).text},
        {"role": "user", "content": json.dumps(shown, ensure_ascii=False)},
    ]


def reply_schema(ids: Sequence[str]) -> dict[str, Any]:
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


def _parsed(content: str) -> Mapping[str, Any]:
    try:
        reply = json.loads(content)
    except ValueError as error:
        raise bad_output("the reply is not JSON") from error
    if not isinstance(reply, dict):
        raise bad_output("the reply is not an object")
    return reply


def _claims(
    reply: Mapping[str, Any], quotable: Mapping[str, Quotable], ids: frozenset[str]
) -> tuple[DraftClaim, ...]:
    """The reply checked by hand against the schema: not every server enforces it."""
    answerable, claims = reply.get("answerable"), reply.get("claims", [])
    if not isinstance(answerable, bool) or not isinstance(claims, list):
        raise bad_output("the reply does not say whether the question is answerable")
    if (answerable and not claims) or len(claims) > MAX_CLAIMS:
        raise bad_output(f'"answerable" is {answerable} and there are {len(claims)} claims')
    checked = [_claim(claim, quotable, ids) for claim in claims]
    if not answerable:  # it took back what it wrote
        return ()
    return tuple({claim.text: claim for claim in checked}.values())


def _claim(claim: Any, quotable: Mapping[str, Quotable], ids: frozenset[str]) -> DraftClaim:
    if not isinstance(claim, dict):
        raise bad_output("a claim is not an object")
    names, text = claim.get("sentences"), claim.get("text")
    if not isinstance(text, str) or not 0 < len(text.strip()) <= MAX_CLAIM_CHARACTERS:
        raise bad_output("a claim has no text, or too much")
    if not isinstance(names, list) or not 0 < len(names) <= MAX_SENTENCES_PER_CLAIM:
        raise bad_output("a claim names no sentences, or too many")
    if not all(isinstance(name, str) and name in ids for name in names):
        raise bad_output("a claim names a sentence that it was not given")
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


def bad_output(message: str) -> GeneratorUnavailable:
    return GeneratorUnavailable(UnavailableReason.BAD_OUTPUT, message)
