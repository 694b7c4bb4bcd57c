"""Real servers in directories of their own, and a miniature checkout for the supervisor."""

import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.embedded_postgres import Server, ensure_running, erase

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("__init__.py", "run.py", "preconditions.py", "processes.py", "embedded_postgres")

# Stands in for Django: says what it was asked, then runs on like a worker or ends like a command.
MANAGE = """
import os, signal, sys
from pathlib import Path
command = sys.argv[1]
print(command, "as", os.environ.get("PRECEPT_DATABASE_ROLE", "app"), flush=True)
if command in {"dispatch_outbox", "qcluster"}:
    Path(os.environ["PRECEPT_DATA_DIR"], command + ".pid").write_text(str(os.getpid()))
    signal.pause()
"""
WSGI = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"ok"]
"""


def _open_directory() -> Path:
    # pytest's own tmp_path lies below a 0700 directory, which the server's user cannot enter.
    directory = Path(tempfile.mkdtemp(prefix="precept-test-")).resolve()
    directory.chmod(0o755)
    return directory


@contextmanager
def _open_data_dir() -> Iterator[Path]:
    directory = _open_directory()
    try:
        yield directory
    finally:
        erase(data_dir=directory)
        shutil.rmtree(directory)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with _open_data_dir() as directory:
        yield directory


@pytest.fixture(scope="module")
def shared_data_dir() -> Iterator[Path]:
    """For tests that begin with ensure_running and do not mind what happened to it before."""
    with _open_data_dir() as directory:
        yield directory


@pytest.fixture
def server(shared_data_dir: Path) -> Server:
    return ensure_running(data_dir=shared_data_dir, say=lambda _message: None)


@pytest.fixture
def checkout() -> Iterator[Path]:
    """The real supervisor beside a stand-in manage.py and a stand-in web application."""
    directory = _open_directory()
    (directory / "config").mkdir()
    for part in PARTS:
        source = ROOT / "config" / part
        if source.is_dir():
            shutil.copytree(source, directory / "config" / part)
        else:
            shutil.copy(source, directory / "config" / part)
    (directory / "manage.py").write_text(MANAGE)
    (directory / "config" / "wsgi.py").write_text(WSGI)
    yield directory
    erase(data_dir=directory / ".data")
    shutil.rmtree(directory)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def python() -> str:
    return sys.executable
