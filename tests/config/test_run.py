import http.client
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config import processes
from config.embedded_postgres import status
from config.preconditions import CannotRun, only_one, read_data_dir, read_port, wants_demo
from config.processes import RESTARTS, Child, StopRequested, StopSignals, run_to_end, stop_all
from tests.config.conftest import ROOT

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(checkout: Path, free_port: int, python: str) -> Iterator[Start]:
    started = []

    def start(**environment: str) -> subprocess.Popen[str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PRECEPT_", "DATABASE_", "DJANGO_"))
        }
        process = subprocess.Popen(
            [python, "-m", "config.run"],
            cwd=checkout,
            env={**inherited, "PRECEPT_PORT": str(free_port), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """Everything the process says up to the line with these words."""
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"{words!r} was not said, but:\n{said}")


def healthz(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/healthz")
    return connection.getresponse().status


class TestMakeRun:
    def test_it_brings_everything_up_in_order_and_takes_everything_down(
        self, start, checkout, free_port
    ):
        process = start()
        said = read_until(process, "Precept is ready")
        steps = [
            "Creating the embedded PostgreSQL",
            "migrate as owner",
            "createcachetable as owner",
            f"Precept answers at http://127.0.0.1:{free_port}/",
            "load_demo as app",
        ]
        assert sorted(steps, key=said.index) == steps
        assert healthz(free_port) == 200
        assert status(data_dir=checkout / ".data")
        workers = [
            int((checkout / ".data" / f"{name}.pid").read_text())
            for name in ("dispatch_outbox", "qcluster")
        ]

        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

        assert process.returncode == 0
        assert status(data_dir=checkout / ".data") is None
        for pid in workers:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        with pytest.raises(ConnectionRefusedError):
            healthz(free_port)

    def test_a_dead_worker_is_reported_with_its_log_and_started_again(self, start, checkout):
        process = start(DATABASE_URL="postgresql://elsewhere/precept", PRECEPT_DEMO="0")
        said = read_until(process, "Precept is ready")
        assert "load_demo" not in said
        os.kill(int((checkout / ".data" / "qcluster.pid").read_text()), signal.SIGKILL)
        said = read_until(process, "again in 1 s")
        assert "The worker was killed by SIGKILL" in said
        assert "qcluster as app" in said

    def test_without_its_web_server_it_stops_and_says_why(self, start, checkout):
        (checkout / "config" / "wsgi.py").write_text("raise RuntimeError('no such thing')")
        process = start(DATABASE_URL="postgresql://elsewhere/precept")
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "no such thing" in said
        assert "web server is gone" in said

    def test_a_failing_migration_ends_it_before_anything_serves(self, start, checkout):
        (checkout / "manage.py").write_text("raise SystemExit('the table is odd')")
        process = start(DATABASE_URL="postgresql://elsewhere/precept")
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert said.index("the table is odd") < said.index("`manage.py migrate` failed")

    def test_a_taken_port_is_said_at_once(self, start, free_port):
        with socket.create_server(("127.0.0.1", free_port)):
            process = start()
            said, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert f"Port {free_port} on 127.0.0.1 cannot be used" in said
        assert f"PRECEPT_PORT={free_port + 1}" in said


class TestPreconditions:
    @pytest.mark.parametrize("text", ["eighty", "0", "65536", "-1", "８０００"])
    def test_a_port_that_is_none_is_refused_by_name(self, text):
        with pytest.raises(CannotRun, match="PRECEPT_PORT"):
            read_port({"PRECEPT_PORT": text})

    def test_unset_and_empty_variables_mean_the_defaults(self):
        assert read_port({}) == read_port({"PRECEPT_PORT": ""}) == 8000
        assert wants_demo({})
        assert not wants_demo({"PRECEPT_DEMO": "0"})

    def test_a_relative_data_directory_starts_at_the_checkout(self, tmp_path):
        relative = os.path.relpath(tmp_path / "data", ROOT)
        assert read_data_dir({"PRECEPT_DATA_DIR": relative}) == tmp_path / "data"

    def test_a_second_start_in_the_same_data_directory_is_refused(self, tmp_path):
        with (
            only_one(tmp_path),
            pytest.raises(CannotRun, match=f"process {os.getpid()}"),
            only_one(tmp_path),
        ):
            pass
        with only_one(tmp_path):
            pass


class TestChildren:
    def test_restarts_come_later_each_time_and_end(self, python):
        child = Child("worker", [python, "-c", "raise SystemExit(3)"], env=os.environ)
        delays = []
        for _ in range(RESTARTS + 1):
            child.start()
            child.process.wait()
            assert child.died()
            assert child.exit_text() == "ended with exit code 3"
            delays.append(child.plan_restart())
            assert not child.died()
        assert delays == [1, 2, 4, 8, 16, None]

    def test_a_child_that_ignores_the_request_is_killed_when_time_is_up(
        self, python, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(processes, "STOP_SECONDS", 0)
        program = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1)"
        log = tmp_path / "stubborn.log"
        child = Child(
            "stubborn", [python, "-uc", f"{program}; signal.pause()"], env=os.environ, log=log
        )
        child.start()
        while not log.read_text():
            assert child.running
        stop_all([child], signals=StopSignals())
        assert child.exit_text() == "was killed by SIGKILL"

    def test_a_step_ends_when_the_end_is_asked_for(self, python):
        signals = StopSignals()
        signals.count = 1
        step = Child("step", [python, "-c", "import signal; signal.pause()"], env=os.environ)
        with pytest.raises(StopRequested):
            run_to_end(step, signals=signals)
        assert not step.running
