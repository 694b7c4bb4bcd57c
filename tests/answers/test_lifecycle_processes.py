"""Attempts in a real web server: followed from another process, dropped, and killed with it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from answers.abandoned import end_abandoned_everywhere
from answers.models import Answer
from audit.models import AuditRecord
from tenants import services as people
from tests.fakes.ollama_server import FakeOllama

QUESTION = "How many days of annual leave do I have?"
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOllama]:
    """A model that never answers: whatever is asked stays in its fourth stage."""
    with FakeOllama(hang=True) as ollama:
        yield ollama


@contextmanager
def web_server(database, model) -> Iterator[Server]:
    """gunicorn as `make run` starts it, in a process group of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--no-control-socket"]
    command += ["--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--threads", "4"]
    command += ["--timeout", "0", "--log-level", "error"]
    env = {
        **os.environ,
        **database,
        "PRECEPT_OBJECT_STORE_DIR": str(settings.OBJECT_STORE_DIR),
        "PRECEPT_GENERATOR": "ollama",
        "PRECEPT_STREAM_KEEPALIVE_SECONDS": "1",
        "OLLAMA_HOST": model.url,
    }
    process = subprocess.Popen(command, env=env, cwd=settings.BASE_DIR, start_new_session=True)
    try:
        server = Server(port, process)
        server.wait_until_it_answers()
        yield server
    finally:
        server.kill()


class Server:
    def __init__(self, port: int, process: subprocess.Popen):
        self.port, self.process = port, process

    def wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.request("GET", "/healthz").read()
                return
            except OSError:
                continue
        pytest.fail("the web server does not answer")

    def request(self, method: str, path: str, body: object = None, **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body=body and json.dumps(body), headers=headers)
        response = connection.getresponse()
        response.connection = connection
        return response

    def ask(self, token: str, request_id: str, **headers: str):
        return self.request(
            "POST",
            "/v1/answers",
            {"requestId": request_id, "question": QUESTION},
            Authorization=f"Bearer {token}",
            Accept="text/event-stream",
            **headers,
        )

    def kill(self) -> None:
        """Master and worker at once, as by the kernel when memory runs out."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def server(database, model):
    with web_server(database, model) as server:
        yield server


@pytest.fixture
def token(bank) -> str:
    user = bank.person("asker")
    bank.document("Annual leave", "Annual leave allowance is 25 days.", readers=[bank.everyone])
    with bank.scope():
        return people.issue_token(user=user)[1]


def read_until(response, word: bytes) -> list[bytes]:
    """The lines of a stream, up to the first one with this word."""
    lines = []
    for line in iter(response.readline, b""):
        lines.append(line)
        if word in line:
            return lines
    raise AssertionError(f"the stream ended without {word!r}: {lines}")


def hang_up(response) -> None:
    response.connection.sock.shutdown(socket.SHUT_RDWR)
    response.close()


def attempt(bank, request_id: str) -> Answer:
    with bank.scope():
        return Answer.objects.get(request_id=request_id)


def records_of(bank, answer) -> list[str]:
    with bank.scope():
        found = AuditRecord.objects.filter(
            action="answer.attempted", object_ids__answer=str(answer.pk)
        )
        return [record.facts["outcome"] for record in found]


def test_a_dropped_connection_ends_the_attempt_as_interrupted(bank, server, token):
    request_id = uuid.uuid4().hex
    response = server.ask(token, request_id)
    read_until(response, b"writing")
    hang_up(response)
    client = Client(headers={"authorization": f"Bearer {token}"})
    path = f"/v1/answers/{attempt(bank, request_id).pk}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (answer := client.get(path).json())["state"] == "running":
        assert time.monotonic() < deadline
    assert (answer["outcome"], answer["reason"]) == ("interrupted", "disconnected")
    assert records_of(bank, attempt(bank, request_id)) == ["interrupted"]


def test_a_long_step_is_bridged_and_another_process_follows_and_cancels(bank, server, token):
    request_id = uuid.uuid4().hex
    response = server.ask(token, request_id)
    read_until(response, b"writing")
    read_until(response, b": keep-alive")
    client = Client(headers={"authorization": f"Bearer {token}"})
    followed = client.post(
        "/v1/answers",
        json.dumps({"requestId": request_id, "question": QUESTION}),
        content_type="application/json",
        headers={"accept": "text/event-stream", "last-event-id": "1.2"},
    )
    chunks = iter(followed.streaming_content)
    assert [next(chunks).split(b"\n")[1] for _ in range(2)] == [b"id: 1.3", b"id: 1.4"]
    answer = attempt(bank, request_id)
    assert client.post(f"/v1/answers/{answer.pk}/cancel").json()["outcome"] == "cancelled"
    assert b'"outcome": "cancelled"' in list(chunks)[-1]
    assert b'"outcome": "cancelled"' in read_until(response, b'data: {"answerId"')[-1]
    assert records_of(bank, answer) == ["cancelled"]


def test_an_attempt_killed_with_its_server_is_ended_by_the_sweep(bank, database, model, token):
    request_id = uuid.uuid4().hex
    with web_server(database, model) as doomed:
        read_until(doomed.ask(token, request_id), b"writing")
        doomed.kill()
    answer = attempt(bank, request_id)
    assert answer.state == "running"
    end_abandoned_everywhere()
    assert attempt(bank, request_id).state == "running"  # it may just be slow
    with bank.scope():
        Answer.objects.filter(pk=answer.pk).update(alive_at=timezone.now() - timedelta(minutes=1))
    end_abandoned_everywhere()
    assert attempt(bank, request_id).outcome == "interrupted"
    assert records_of(bank, answer) == ["interrupted"]
