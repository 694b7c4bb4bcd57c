"""The generator that asks a model behind Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import ollama

from answers.generation.base import GeneratorUnavailable, UnavailableReason
from answers.generation.calls import LIMITS, call, kept, timeouts
from answers.generation.dialogue import (
    CONTEXT_TOKENS,
    MAX_REPLY_TOKENS,
    SEED,
    Messages,
    ModelGenerator,
    Reply,
    bad_output,
)

_TRANSPORT_ERRORS = (ConnectionError, httpx.TransportError)


class OllamaGenerator(ModelGenerator):
    """``host`` is the server's address (default: the client's own, from OLLAMA_HOST).

    ``context_tokens`` is sent as ``num_ctx``: Ollama would cut a longer prompt silently. It counts
    no tokens before a call, so the size is estimated before and compared with its count after.
    """

    def __init__(
        self,
        *,
        model: str,
        host: str | None = None,
        timeout_seconds: float = 60,
        context_tokens: int = CONTEXT_TOKENS,
        entailment: bool = False,
    ) -> None:
        super().__init__(
            kind="ollama",
            model=model,
            timeout_seconds=timeout_seconds,
            context_tokens=context_tokens,
            entailment=entailment,
        )
        self._host = host

    def _ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        response = self._chat(messages, schema)
        return Reply(
            content=response.message.content or "",
            tokens_in=response.prompt_eval_count,
            tokens_out=response.eval_count or 0,
            cut=response.done_reason == "length",
        )

    def _chat(self, messages: Messages, schema: Mapping[str, Any]) -> ollama.ChatResponse:
        for last_try in (False, True):
            try:
                return call(
                    lambda: _client(self._host, self._timeout_seconds).chat(
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
                raise bad_output("the reply is not one that Ollama sends") from error
        raise AssertionError("unreachable")


@kept
def _client(host: str | None, seconds: float) -> ollama.AsyncClient:
    # No redirects: evidence goes to the processor that was admitted, and to no other.
    return ollama.AsyncClient(
        host=host, timeout=timeouts(seconds), limits=LIMITS, follow_redirects=False
    )
