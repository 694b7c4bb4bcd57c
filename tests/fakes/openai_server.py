"""An OpenAI-compatible server for tests: the wire protocol on loopback, replies the test chooses.

    with FakeOpenAI(chat_reply={"claims": [], "answerable": False}) as server:
        OpenAICompatibleGenerator(model="qwen", url=server.url)

``chat_reply``   the assistant's text: a string, a dict (sent as JSON text), or a callable taking the
                 request body and returning either.
``chat_fields``  top-level fields that replace those of the reply, such as ``{"usage": None}``.
``finish``       the choice's ``finish_reason``.
``tokenize``     None: no such endpoint (404). Otherwise a callable taking the request body and
                 returning the reply: ``{"count": 7}`` as vLLM, ``{"tokens": [...]}`` as llama.cpp.
``status``       an HTTP status: every POST is answered with it and repeats the request.
``api_key``      when set, any other bearer gets 401.
``drops``        so many connections are closed without an answer first.
``calls``        what was asked: ``(path, headers, body)``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class FakeOpenAI:
    def __init__(
        self,
        *,
        chat_reply: Any = "{}",
        chat_fields: dict[str, Any] | None = None,
        finish: str = "stop",
        tokenize: Callable[[dict], Any] | None = None,
        status: int | None = None,
        api_key: str = "",
        drops: int = 0,
    ) -> None:
        self.chat_reply = chat_reply
        self.chat_fields = chat_fields or {}
        self.finish = finish
        self.tokenize = tokenize
        self.status = status
        self.api_key = api_key
        self.drops = drops
        self.calls: list[tuple[str, dict[str, str], dict]] = []

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def bodies(self, path: str) -> list[dict]:
        return [body for asked, _, body in self.calls if asked == path]

    def completion(self, body: dict) -> dict:
        reply = self.chat_reply(body) if callable(self.chat_reply) else self.chat_reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        read = sum(len(message["content"].split()) for message in body["messages"])
        message = {"role": "assistant", "content": text}
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": {"prompt_tokens": read, "completion_tokens": len(text.split())},
            **self.chat_fields,
        }


def _handler_for(fake: FakeOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            fake.calls.append((self.path, dict(self.headers.items()), body))
            if fake.drops:
                fake.drops -= 1
                self.close_connection = True
            elif fake.api_key and self.headers.get("Authorization") != f"Bearer {fake.api_key}":
                self._send(401, {"error": {"message": "bad key"}})
            elif fake.status is not None:
                self._send(fake.status, {"error": {"message": json.dumps(body)}})
            elif self.path == "/tokenize" and fake.tokenize is not None:
                self._send(200, fake.tokenize(body))
            elif self.path == "/v1/chat/completions":
                self._send(200, fake.completion(body))
            else:
                self._send(404, {"error": {"message": "not found"}})

        def _send(self, status: int, reply: Any) -> None:
            payload = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    return Handler
