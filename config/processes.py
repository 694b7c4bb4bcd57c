"""Child processes of `make run`: started in sessions of their own, logged, stopped, restarted."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

POLL_SECONDS = 0.1
STOP_SECONDS = 15.0
LARGEST_LOG = 20 * 1024**2
# A child that dies this often within a minute each will not be helped by another start.
RESTARTS = 5
HEALTHY_SECONDS = 60.0

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class StopRequested(Exception):
    """Somebody asked for the end while a step was under way."""


class StopSignals:
    """Counts Ctrl-C, SIGTERM and SIGHUP: the first asks for the end, a second one insists."""

    def __init__(self) -> None:
        self.count = 0

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, _number: int, _frame: object) -> None:
        self.count += 1

    def check(self) -> None:
        """Raises StopRequested once a signal has come."""
        if self.count:
            raise StopRequested


class Child:
    """One process with its own session, so that a Ctrl-C reaches only the supervisor."""

    def __init__(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path | None = None
    ) -> None:
        self.name = name
        self.command = list(command)
        self.env = dict(env)
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.restarts = 0
        self.restart_at: float | None = None

    def start(self) -> None:
        self.started_at, self.restart_at = time.monotonic(), None
        output = self._open_log()
        try:
            self.process = subprocess.Popen(  # noqa: S603 - commands are ours
                self.command,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        finally:
            if output:
                output.close()

    def _open_log(self) -> IO[bytes] | None:
        if self.log is None:
            return None
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        return self.log.open("ab")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def died(self) -> bool:
        """Whether it ended by itself and nobody has taken note of that yet."""
        return self.process is not None and self.process.poll() is not None

    def plan_restart(self) -> float | None:
        """Takes note of a death. The seconds until the next start, or None: give up."""
        self.kill()
        self.process = None
        if time.monotonic() - self.started_at > HEALTHY_SECONDS:
            self.restarts = 0
        if self.restarts >= RESTARTS:
            return None
        delay = float(2**self.restarts)
        self.restarts += 1
        self.restart_at = time.monotonic() + delay
        return delay

    def restart_if_due(self) -> None:
        if self.restart_at is not None and time.monotonic() >= self.restart_at:
            self.start()

    def exit_text(self) -> str:
        code = self.process.returncode if self.process else None
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def log_tail(self, *, lines: int = 15) -> str:
        if self.log is None or not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 8192))
            text = file.read().decode(errors="replace")
        return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])

    def ask_to_stop(self) -> None:
        # The leader only: it knows in which order to end its own workers.
        if self.running:
            self.process.terminate()

    def kill(self) -> None:
        """Ends the leader and whatever it left behind in its session."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _die_with_parent() -> None:
    # Even a supervisor that is killed outright must not leave a web server holding the port.
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def run_to_end(child: Child, *, signals: StopSignals) -> int:
    """Runs one step in the foreground; its exit code. Raises StopRequested, the step ended."""
    child.start()
    try:
        while child.running:
            signals.check()
            time.sleep(POLL_SECONDS)
        return child.process.returncode
    except StopRequested:
        stop_all([child], signals=signals)
        raise


def stop_all(children: Sequence[Child], *, signals: StopSignals) -> None:
    """Asks all of them to stop, waits, and kills what stays; a further signal ends the waiting."""
    insisted = signals.count + 1
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + STOP_SECONDS
    while any(child.running for child in children):
        if time.monotonic() > deadline or signals.count >= insisted:
            break
        time.sleep(POLL_SECONDS)
    for child in children:
        child.kill()
