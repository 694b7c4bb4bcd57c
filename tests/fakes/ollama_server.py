"""An Ollama server for tests: the real wire protocol on loopback, with replies the test chooses.

Use it as a context manager and point the code under test at ``.url``::

    with FakeOllama(embed_dims=16, chat_reply='{"claims": []}') as ollama:
        client = ollama_client.Client(host=ollama.url)
        ...
    assert ollama.requests[-1]["options"]["num_ctx"] == 8192

What can be set, at construction or later on the instance (read anew for each request):

``chat_reply``      the assistant's text for ``/api/chat`` and ``/api/generate``: a string, a dict
                    (sent as JSON text), or a callable taking the request body and returning either.
``chat_fields``     extra or overriding top-level fields of the chat reply, for example
                    ``{"prompt_eval_count": 12, "done_reason": "length"}``.
``embed_dims``      length of each vector of ``/api/embed``; vectors depend on the text only, share
                    mass between texts with common words, and are not normalised.
``embed_reply``     a callable taking the request body and returning the whole reply, for wrong
                    shapes (too few vectors, ragged vectors, no vectors).
``models``          names listed by ``/api/tags``; any other name gets Ollama's 404. A name without
                    a tag means ``:latest``, as Ollama does.
``fail_with``       an HTTP status: every POST is answered with it and ``fail_message``.
``redirect_to``     a URL: every POST is answered with a redirect (307) to it.
``raw_reply``       bytes sent as the body of every POST with status 200, for replies not in JSON.
``hang``            when true, POSTs are accepted and never answered until the server stops; a
                    client with a timeout sees it expire. ``asked`` is set when one waits, and
                    ``left`` when it closes its connection.
``drops``           so many POSTs are answered by closing the connection first.

What can be read afterwards:

``requests``        the parsed JSON bodies of all POSTs, in order of arrival.
``bodies(path)``    the same for one path, for example ``bodies("/api/chat")``.
``connections``     the clients' addresses: as many as there were connections.
``calls``           every request, GETs too, as ``{"method", "path", "headers", "body"}``.
"""

from __future__ import annotations

import hashlib
import json
import re
import select
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

ChatReply = str | dict | Callable[[dict], "str | dict"]

DEFAULT_MODELS = ("nomic-embed-text:latest", "llama3.2:latest")


class FakeOllama:
    def __init__(
        self,
        *,
        chat_reply: ChatReply = "{}",
        chat_fields: dict[str, Any] | None = None,
        embed_dims: int = 8,
        embed_reply: Callable[[dict], Any] | None = None,
        models: tuple[str, ...] = DEFAULT_MODELS,
        fail_with: int | None = None,
        fail_message: str = "the fake server was told to fail",
        redirect_to: str | None = None,
        raw_reply: bytes | None = None,
        hang: bool = False,
        drops: int = 0,
        version: str = "0.0.0-fake",
    ) -> None:
        self.chat_reply = chat_reply
        self.chat_fields = chat_fields or {}
        self.embed_dims = embed_dims
        self.embed_reply = embed_reply
        self.models = tuple(models)
        self.fail_with = fail_with
        self.fail_message = fail_message
        self.redirect_to = redirect_to
        self.raw_reply = raw_reply
        self.hang = hang
        self.drops = drops
        self.asked, self.left = threading.Event(), threading.Event()
        self.connections: set[tuple[str, int]] = set()
        self.version = version
        self.calls: list[dict[str, Any]] = []
        self._stopping = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._stopping.clear()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host}:{port}"

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [call["body"] for call in self.calls if call["method"] == "POST"]

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [
            call["body"] for call in self.calls if call["method"] == "POST" and call["path"] == path
        ]

    def knows(self, model: str) -> bool:
        return (model if ":" in model else f"{model}:latest") in self.models

    def reply_to_embed(self, body: dict) -> Any:
        if self.embed_reply is not None:
            return self.embed_reply(body)
        given = body.get("input", [])
        texts = [given] if isinstance(given, str) else given
        return {
            "model": body["model"],
            "embeddings": [self.vector(text) for text in texts],
            "total_duration": 1000,
            "load_duration": 100,
            "prompt_eval_count": sum(len(text.split()) for text in texts),
        }

    def vector(self, text: str) -> list[float]:
        """A bag-of-words vector by hashing, so that texts with common words are near."""
        values = [0.25] * self.embed_dims
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            values[int.from_bytes(digest[:4], "big") % self.embed_dims] += 1.0
        return values

    def reply_to_chat(self, body: dict, *, generate: bool) -> dict:
        reply = self.chat_reply(body) if callable(self.chat_reply) else self.chat_reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        said = (
            {"response": text} if generate else {"message": {"role": "assistant", "content": text}}
        )
        return {
            "model": body["model"],
            "created_at": "2024-01-01T00:00:00Z",
            **said,
            "done": True,
            "done_reason": "stop",
            "total_duration": 1000,
            "load_duration": 100,
            "prompt_eval_count": len(_prompt_text(body).split()),
            "prompt_eval_duration": 100,
            "eval_count": len(text.split()),
            "eval_duration": 100,
            **self.chat_fields,
        }


def _prompt_text(body: dict) -> str:
    messages = " ".join(message.get("content", "") for message in body.get("messages", []))
    return f"{messages} {body.get('prompt', '')}"


def _handler_for(fake: FakeOllama) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            return

        def do_GET(self) -> None:
            self._record(None)
            if self.path == "/api/version":
                self._send(200, {"version": fake.version})
            elif self.path == "/api/tags":
                self._send(200, {"models": [_model_entry(name) for name in fake.models]})
            elif self.path == "/":
                self._send_bytes(200, b"Ollama is running", "text/plain")
            else:
                self._send(404, {"error": "404 page not found"})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else {}
            self._record(body)
            if fake.hang:
                self._wait_until_it_leaves()
                self.close_connection = True
            elif fake.drops:
                fake.drops -= 1
                self.close_connection = True
            elif fake.fail_with is not None:
                self._send(fake.fail_with, {"error": fake.fail_message})
            elif fake.redirect_to is not None:
                self.send_response(307)
                self.send_header("Location", fake.redirect_to + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif fake.raw_reply is not None:
                self._send_bytes(200, fake.raw_reply, "application/json")
            elif self.path not in ("/api/embed", "/api/chat", "/api/generate"):
                self._send(404, {"error": "404 page not found"})
            elif not fake.knows(body.get("model", "")):
                message = f"model '{body.get('model', '')}' not found"
                self._send(404, {"error": message})
            elif self.path == "/api/embed":
                self._send(200, fake.reply_to_embed(body))
            else:
                self._reply_to_chat(body, generate=self.path == "/api/generate")

        def _wait_until_it_leaves(self) -> None:
            fake.asked.set()
            while not fake._stopping.is_set():
                readable, _, _ = select.select([self.connection], [], [], 0.02)
                if readable and not self.connection.recv(1, socket.MSG_PEEK):
                    fake.left.set()
                    return

        def _reply_to_chat(self, body: dict, *, generate: bool) -> None:
            reply = fake.reply_to_chat(body, generate=generate)
            if body.get("stream", True) is False:
                self._send(200, reply)
                return
            lines = "".join(json.dumps(part) + "\n" for part in _stream_parts(reply))
            self._send_bytes(200, lines.encode(), "application/x-ndjson")

        def _record(self, body: dict | None) -> None:
            fake.connections.add(self.client_address)
            fake.calls.append(
                {
                    "method": self.command,
                    "path": self.path,
                    "headers": dict(self.headers.items()),
                    "body": body,
                }
            )

        def _send(self, status: int, reply: Any) -> None:
            self._send_bytes(status, json.dumps(reply).encode(), "application/json")

        def _send_bytes(self, status: int, payload: bytes, content_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    return Handler


def _stream_parts(reply: dict) -> list[dict]:
    """The reply as Ollama streams it: text in pieces, then one last part with the counts."""
    key = "message" if "message" in reply else "response"
    text = reply[key]["content"] if key == "message" else reply[key]
    pieces = re.findall(r"\S+\s*|\s+", text)
    wrap = (lambda piece: {"role": "assistant", "content": piece}) if key == "message" else str
    head = {"model": reply["model"], "created_at": reply["created_at"]}
    parts = [{**head, key: wrap(piece), "done": False} for piece in pieces]
    return [*parts, {**reply, key: wrap("")}]


def _model_entry(name: str) -> dict:
    return {
        "name": name,
        "model": name,
        "modified_at": "2024-01-01T00:00:00Z",
        "size": 1,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": {
            "format": "gguf",
            "family": "fake",
            "parameter_size": "1",
            "families": None,
            "quantization_level": "none",
            "parent_model": "",
        },
    }
