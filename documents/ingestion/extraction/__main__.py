"""The nursery: waits for files on standard input and has each read by a child of its own.

    python -m documents.ingestion.extraction SCRATCH-FOLDER

It has loaded the readers, so that a child costs a fork and not seconds of imports.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction import confine, pdf, wire  # noqa: F401 (loaded before the fork)
from documents.ingestion.extraction.read import Options, needs_of, read

_CODE = Path(__file__).resolve().parents[2]
_PROGRAMS_AND_FONTS = [
    *map(Path, (sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/opt")),
    *map(Path, ("/etc/ld.so.cache", "/etc/fonts", "/etc/mime.types")),
    *map(Path, ("/etc/libreoffice", "/var/spool/libreoffice")),
    *map(Path, ("/etc/localtime", "/dev/urandom", "/dev/random", "/proc/self", _CODE)),
]


def main() -> None:
    scratch = Path(sys.argv[1])
    confine.leave_network()
    confine.keep_only_files(readable=_PROGRAMS_AND_FONTS, writable=[scratch, Path("/dev/null")])
    os.chdir(scratch)
    while (request := wire.receive(sys.stdin.buffer)) is not None:
        header, data = request
        ended, result = _have_it_read(data, header, scratch / "file")
        wire.send(sys.stdout.buffer, ended, result)


def _have_it_read(data: bytes, header: dict, scratch: Path) -> tuple[dict, bytes]:
    """({"ended": "read" | "time" | "output" | "signal", …}, what the child wrote)."""
    scratch.mkdir()
    results, result = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(results)
        _be_the_child(data, header, scratch, result)
    os.close(result)
    try:
        how, written = _collect(results, header["limits"], child)
    finally:
        os.close(results)
        _stop(child)
        shutil.rmtree(scratch, ignore_errors=True)
    return how, written


def _collect(results: int, limits: dict, child: int) -> tuple[dict, bytes]:
    """Read until the child closes its end, asks too much, or its time is over."""
    deadline = time.monotonic() + limits["seconds"]
    poll = select.poll()
    poll.register(results, select.POLLIN)
    poll.register(sys.stdin.fileno(), 0)  # hung up: nobody waits for the result any more
    written = bytearray()
    while True:
        left = deadline - time.monotonic()
        ready = poll.poll(max(left, 0) * 1000)
        if not ready:
            return {"ended": "time"}, b""
        if any(place != results for place, _ in ready):
            sys.exit()
        piece = os.read(results, 1 << 16)
        if not piece:
            break
        written += piece
        if len(written) > limits["output"]:
            return {"ended": "output"}, b""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        over = os.WTERMSIG(status) == signal.SIGXCPU
        return {"ended": "time" if over else "signal", "signal": os.WTERMSIG(status)}, b""
    return {"ended": "read"}, bytes(written)


def _stop(child: int) -> None:
    """The child and whatever it started."""
    for end in (lambda: os.killpg(child, signal.SIGKILL), lambda: os.waitpid(child, 0)):
        with suppress(ProcessLookupError, ChildProcessError, PermissionError):
            end()


def _be_the_child(data: bytes, header: dict, scratch: Path, result: int) -> None:
    try:
        os.setsid()
        confine.die_with_parent()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.chdir(scratch)
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["HOME"] = str(scratch)
        limits = header["limits"]
        confine.limit_resources(
            memory=limits["memory"], cpu_seconds=limits["cpu_seconds"], file_size=limits["output"]
        )
        options = Options(**header["options"])
        needs = needs_of(data, options)
        confine.forbid_calls(programs=needs.programs, threads=needs.threads)
        _write_all(result, _outcome(data, options))
    finally:
        os._exit(0)


def _outcome(data: bytes, options: Options) -> bytes:
    try:
        return wire.pack_text(read(data, options))
    except ExtractionFailed as failure:
        return wire.pack_failure(failure)
    except MemoryError:
        return wire.pack_failure(
            ExtractionFailed(
                FailureCode.STOPPED,
                "Reading the file takes more memory than a document needs. Split it into parts, or "
                "export it again, then upload it.",
            )
        )
    except Exception as error:
        return wire.pack_surprise(error)


def _write_all(place: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(place, view) :]


if __name__ == "__main__":
    main()
