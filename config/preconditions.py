"""What has to hold before Precept starts: the port, the data directory, and nobody else in it."""

import fcntl
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"


class CannotRun(Exception):
    """Precept cannot start or go on; the message says why and what to do."""


def read_port(environ: Mapping[str, str]) -> int:
    """PRECEPT_PORT; raises CannotRun unless it is a port number."""
    text = environ.get("PRECEPT_PORT") or "8000"
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise CannotRun(f"PRECEPT_PORT is {text!r}; set it to a number from 1 to 65535.")
    return int(text)


def read_data_dir(environ: Mapping[str, str]) -> Path:
    """PRECEPT_DATA_DIR, made if need be; a relative one starts at the checkout."""
    data_dir = BASE_DIR / (environ.get("PRECEPT_DATA_DIR") or ".data")
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRun(
            f"The data directory {data_dir} cannot be made ({error.strerror}). "
            "Set PRECEPT_DATA_DIR to a directory that can be written."
        ) from error
    return data_dir.resolve()


def wants_demo(environ: Mapping[str, str]) -> bool:
    return environ.get("PRECEPT_DEMO", "1").strip().lower() not in {"0", "false", "no", "off"}


def check_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise CannotRun(
                f"Port {port} on {HOST} cannot be used ({error.strerror}). Stop the program that "
                f"has it, or choose another port: PRECEPT_PORT={port % 65535 + 1} make run"
            ) from error


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Raises CannotRun if another `make run` works in this data directory."""
    path = data_dir / "run.lock"
    try:
        file = path.open("a+")
    except OSError as error:
        raise CannotRun(
            f"{path} cannot be opened ({error.strerror}): the data directory belongs to another "
            "user. Run Precept as that user, or set PRECEPT_DATA_DIR to a directory of your own."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CannotRun(
                f"Precept is already running in {data_dir} (process {file.read().strip()}). Stop "
                "it, or set PRECEPT_DATA_DIR and PRECEPT_PORT to run a second one beside it."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
