"""Files are read in a process of their own, which knows no secret, reaches nothing and can be killed.

One waiting process for each worker (`extraction/__main__.py`) forks a child per file. It is started
with an empty environment and fences itself in (`extraction/confine.py`). What a file does to its
reader ends in a sentence about that file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog

from documents.ingestion.extracted import ExtractedText, ExtractionFailed, FailureCode
from documents.ingestion.extraction import wire
from documents.ingestion.extraction.read import Options

log = structlog.get_logger("precept.ingestion")

_CHECKOUT = Path(__file__).resolve().parents[2]
_MIB = 1024 * 1024
# Whoever kills a reader from outside does not say that the file is bad; a file that kills its
# reader does it every time.
_TRIES = 3
_GRACE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall time, processor time, memory in bytes, and bytes of the result and of scratch files."""

    seconds: float = 120
    cpu_seconds: int = 90
    memory: int = 1536 * _MIB
    output: int = 128 * _MIB


READING = Limits()
# Recognising a page takes seconds; the number of pages is bounded in extraction/ocr.py.
RECOGNISING = Limits(seconds=900)


def read_apart(data: bytes, *, options: Options, limits: Limits | None = None) -> ExtractedText:
    """Read a file in the sandbox. Raises ExtractionFailed, whatever became of the reader."""
    limits = limits or (RECOGNISING if options.ocr else READING)
    with _turn:
        for _ in range(_TRIES):
            answer = _ask(data, options, limits)
            if answer is None:
                continue
            ended, result = answer
            if ended["ended"] == "read" and result:
                return _unpack(result)
            log.warning("reader ended", how=ended["ended"], signal=ended.get("signal"))
            if ended["ended"] == "time":
                raise _stopped("Reading the file took too long and was stopped.")
            if ended["ended"] == "output":
                raise _stopped("The file grows without end while it is read.")
    raise _stopped(f"Reading the file broke off {_TRIES} times.")


_turn = threading.Lock()
_nursery: subprocess.Popen | None = None
_scratch = ""  # where it may write; made and removed from outside, since it cannot


def _ask(data: bytes, options: Options, limits: Limits) -> tuple[dict, bytes] | None:
    """None when the waiting process died; the next try starts another."""
    nursery = _running()
    watchdog = threading.Timer(limits.seconds + _GRACE_SECONDS, nursery.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        wire.send(nursery.stdin, {"options": asdict(options), "limits": asdict(limits)}, data)
        answer = wire.receive(nursery.stdout)
    except (OSError, ValueError):
        answer = None
    finally:
        watchdog.cancel()
    if answer is None:
        log.warning("reading process died")
        close()
    return answer


def _running() -> subprocess.Popen:
    global _nursery, _scratch
    if _nursery is None or _nursery.poll() is not None:
        close()
        _scratch = tempfile.mkdtemp(prefix="precept-read-")
        _nursery = subprocess.Popen(  # noqa: S603 (our own program; files go in as data)
            [sys.executable, "-E", "-s", "-m", "documents.ingestion.extraction", _scratch],
            cwd=_CHECKOUT,
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "OMP_THREAD_LIMIT": "1",
                "OPENBLAS_NUM_THREADS": "1",  # it may start no threads
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return _nursery


def close() -> None:
    """End the waiting process, if there is one."""
    global _nursery
    if _nursery is not None:
        _nursery.kill()
        _close_pipes(_nursery)
        _nursery.wait()
        shutil.rmtree(_scratch, ignore_errors=True)
    _nursery = None


def _close_pipes(nursery: subprocess.Popen) -> None:
    for pipe in (nursery.stdin, nursery.stdout):
        with suppress(OSError):  # what could not be written any more
            pipe.close()


def _unpack(result: bytes) -> ExtractedText:
    try:
        return wire.unpack(result)
    except wire.Garbled as error:
        log.error("reader garbled", why=str(error))
        raise _stopped("Reading the file gave nothing that makes sense.") from None


def _stopped(what: str) -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.STOPPED,
        f"{what} Export the document again or split it into parts, then upload it.",
    )


def _forget() -> None:
    """A forked process must not share its parent's reader, nor keep it alive."""
    global _nursery, _turn
    _turn = threading.Lock()
    if _nursery is not None:
        _close_pipes(_nursery)
        _nursery.returncode = 0  # it is not this process's to wait for
    _nursery = None


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
