"""The generator that asks a model behind an OpenAI-compatible endpoint: vLLM, llama.cpp's server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

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

DEFAULT_URL = "http://127.0.0.1:8080/v1"


class OpenAICompatibleGenerator(ModelGenerator):
    """``url`` ends in the version, as in ``http://127.0.0.1:8080/v1``.

    Where the server has ``/tokenize`` beside it, the prompt is counted by its own tokeniser; where
    it has none, the size is estimated on the high side. A reply without ``usage`` is refused: nothing
    would show that the prompt was read whole. ``api_key`` goes into a header and nowhere else.
    """

    def __init__(
        self,
        *,
        model: str,
        url: str = DEFAULT_URL,
        api_key: str = "",
        timeout_seconds: float = 60,
        context_tokens: int = CONTEXT_TOKENS,
        entailment: bool = False,
    ) -> None:
        super().__init__(
            kind="openai",
            model=model,
            timeout_seconds=timeout_seconds,
            context_tokens=context_tokens,
            entailment=entailment,
        )
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}

    def _ask(self, messages: Messages, schema: Mapping[str, Any]) -> Reply:
        response = self._post(
            f"{self._url}/chat/completions",
            {
                "model": self.model,
                "messages": messages,
                "temperature": 0,
                "seed": SEED,
                "max_tokens": MAX_REPLY_TOKENS,
                "stream": False,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": schema},
                },
            },
        )
        if response.status_code != httpx.codes.OK:
            raise self._refused(response)
        return _reply(response)

    def _count(self, messages: Messages) -> int | None:
        """vLLM counts ``messages`` with their template, llama.cpp's server counts ``content``."""
        body = {
            "model": self.model,
            "messages": messages,
            "content": "\n".join(message["content"] for message in messages),
        }
        response = self._post(f"{self._url.removesuffix('/v1')}/tokenize", body)
        if response.status_code in (httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED):
            return None
        if response.status_code != httpx.codes.OK:
            raise self._refused(response)
        try:
            counted = response.json()
            count = counted["count"] if "count" in counted else len(counted["tokens"])
        except (ValueError, TypeError, KeyError) as error:
            raise bad_output("the reply of /tokenize holds no count") from error
        if not isinstance(count, int) or count <= 0:
            raise bad_output("the count of /tokenize is no number of tokens")
        return count

    def _post(self, url: str, body: Mapping[str, Any]) -> httpx.Response:
        """Tried once more when the connection fails, and only then."""
        for last_try in (False, True):
            try:
                return call(
                    lambda: _client(self._timeout_seconds).post(
                        url, json=body, headers=self._headers
                    )
                )
            except httpx.TimeoutException as error:
                raise GeneratorUnavailable(
                    UnavailableReason.TIMEOUT,
                    f"{self.name} gave no answer within {self._timeout_seconds:g} seconds",
                ) from error
            except httpx.TransportError as error:
                if last_try:
                    raise GeneratorUnavailable(
                        UnavailableReason.UNREACHABLE,
                        f"no connection to the endpoint of {self.name} ({type(error).__name__}):"
                        " check that it runs and that PRECEPT_OPENAI_URL is right",
                    ) from error
        raise AssertionError("unreachable")

    def _refused(self, response: httpx.Response) -> GeneratorUnavailable:
        """Without the body, which may repeat the evidence."""
        return GeneratorUnavailable(
            UnavailableReason.UNREACHABLE,
            f"the endpoint refused a call of {self.name} with status {response.status_code}: check"
            " its log, the model's name and PRECEPT_OPENAI_API_KEY",
        )


def _reply(response: httpx.Response) -> Reply:
    try:
        body = response.json()
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        return Reply(
            content=choice["message"]["content"] or "",
            tokens_in=int(usage.get("prompt_tokens") or 0),
            tokens_out=int(usage.get("completion_tokens") or 0),
            cut=choice.get("finish_reason") != "stop",
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise bad_output("the reply is not one of /chat/completions") from error


@kept
def _client(seconds: float) -> httpx.AsyncClient:
    # No redirects: evidence goes to the processor that was admitted, and to no other.
    return httpx.AsyncClient(timeout=timeouts(seconds), limits=LIMITS, follow_redirects=False)
