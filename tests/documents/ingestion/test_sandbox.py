"""The process that reads files: what it cannot do, and what becomes of work when it dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from documents.ingestion import sandbox
from documents.ingestion.extract import extract
from documents.ingestion.extracted import ExtractionFailed, FailureCode
from tests.pdf import make_pdf

RULE = "Annual leave allowance is 25 days."
PROBE = """
import json, os, socket, subprocess, sys, threading
from pathlib import Path
from documents.ingestion.extraction import confine
from documents.ingestion.extraction.__main__ import _PROGRAMS_AND_FONTS
scratch, secret = Path(sys.argv[1]), sys.argv[2]
confine.keep_only_files(readable=_PROGRAMS_AND_FONTS, writable=[scratch, Path("/dev/null")])
confine.forbid_calls(**json.loads(sys.argv[3]))
def attempt(name, act):
    try: act()
    except (OSError, RuntimeError): print(name, "refused")
    else: print(name, "done")
attempt("write", lambda: (scratch / "x").write_text("x"))
attempt("socket", lambda: socket.socket())
attempt("local socket", lambda: socket.socket(socket.AF_UNIX))
attempt("thread", lambda: threading.Thread(target=lambda: None).start())
attempt("program", lambda: os.execv("/bin/true", ["true"]) if os.fork() == 0 else None)
attempt("secret", lambda: open(secret).read())
attempt("environment", lambda: open(f"/proc/{os.getppid()}/environ").read())
"""


@pytest.fixture(autouse=True)
def fresh():
    yield
    sandbox.close()


@pytest.mark.parametrize(
    ("needs", "allowed"), [({}, set()), ({"threads": True}, {"thread"})], ids=["most", "DOC"]
)
def test_the_reader_opens_no_socket_no_secret_and_starts_no_program(tmp_path, needs, allowed):
    secret = tmp_path / "secret"
    secret.write_text("database password")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, str(scratch), str(secret), json.dumps(needs)],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    told = dict(line.rsplit(" ", 1) for line in probe.stdout.splitlines())
    attempts = ("socket", "local socket", "thread", "program", "secret", "environment")
    assert told == {"write": "done"} | {
        name: "done" if name in allowed else "refused" for name in attempts
    }


def test_the_reader_knows_nothing_of_the_environment_it_was_started_from(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    extract(make_pdf(RULE))
    known = Path(f"/proc/{sandbox._nursery.pid}/environ").read_text()
    assert "secret" not in known
    assert "PRECEPT" not in known
    assert "DJANGO" not in known


def test_the_reader_is_in_a_network_of_its_own():
    extract(make_pdf(RULE))
    here, there = (os.readlink(f"/proc/{pid}/ns/net") for pid in ("self", sandbox._nursery.pid))
    if os.geteuid() != 0 and here == there:
        pytest.skip("this system lets no ordinary user make a namespace")
    assert here != there


def killing(monkeypatch, times: int) -> list[int]:
    """Kill the reader as soon as it has a file, as often as said."""
    killed: list[int] = []
    send = sandbox.wire.send

    def send_and_kill(stream, header, body):
        send(stream, header, body)
        if len(killed) < times:
            killed.append(sandbox._nursery.pid)
            os.kill(sandbox._nursery.pid, signal.SIGKILL)

    monkeypatch.setattr(sandbox.wire, "send", send_and_kill)
    return killed


@pytest.mark.parametrize("times", [1, 2])
def test_a_reader_that_is_killed_is_replaced_and_the_file_is_read(bank, monkeypatch, times):
    killed = killing(monkeypatch, times)
    assert bank.document("Leave", RULE).current_version_id is not None
    assert len(set(killed)) == times


def test_a_file_that_kills_its_reader_each_time_is_refused_and_the_next_is_read(monkeypatch):
    killing(monkeypatch, 3)
    with pytest.raises(ExtractionFailed) as caught:
        extract(make_pdf(RULE))
    assert caught.value.code is FailureCode.STOPPED
    assert extract(make_pdf(RULE)).text == RULE


@pytest.mark.parametrize(
    ("limits", "pages"),
    [
        (sandbox.Limits(seconds=0.0), 3),
        (sandbox.Limits(output=10), 3),
        (sandbox.Limits(memory=1), 500),  # three pages may fit into what the reader has already
    ],
)
def test_a_reader_over_its_limit_is_stopped_with_a_sentence(monkeypatch, limits, pages):
    monkeypatch.setattr(sandbox, "READING", limits)
    with pytest.raises(ExtractionFailed) as caught:
        extract(make_pdf([RULE] * pages))
    assert caught.value.code is FailureCode.STOPPED
    assert caught.value.message.endswith(".")


def test_no_scratch_folder_and_no_process_is_left_behind():
    extract(make_pdf(RULE))
    nursery, scratch = sandbox._nursery, Path(sandbox._scratch)
    assert not list(scratch.iterdir())
    sandbox.close()
    assert nursery.poll() is not None
    assert not scratch.exists()


def test_the_reader_loads_neither_django_nor_settings():
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, documents.ingestion.extraction.__main__;"
            "print([m for m in ('django', 'config', 'psycopg') if m in sys.modules])",
        ],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"


def test_the_waiting_process_has_put_up_its_fences():
    extract(make_pdf(RULE))
    status = Path(f"/proc/{sandbox._nursery.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
