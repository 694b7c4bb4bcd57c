"""What `make run` executes: the database, the migrations, the web server, the worker, the demo.

Everything it starts it also stops, on Ctrl-C, SIGTERM or a closed terminal.
"""

import http.client
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from config.embedded_postgres import EmbeddedPostgresError, ensure_running, status, stop
from config.preconditions import (
    BASE_DIR,
    HOST,
    CannotRun,
    check_port_is_free,
    only_one,
    read_data_dir,
    read_port,
    wants_demo,
)
from config.processes import (
    POLL_SECONDS,
    Child,
    StopRequested,
    StopSignals,
    run_to_end,
    stop_all,
)

DATABASE_CHECK_SECONDS = 5.0
WEB_START_SECONDS = 120.0
ACCESS_LOG_FORMAT = '%(h)s %(t)s "%(m)s %(U)s" %(s)s %(b)s %(M)sms'


def say(message: str) -> None:
    print(message, flush=True)


class Supervisor:
    """Starts the parts in order, watches them, and ends them all."""

    def __init__(self, *, environ: Mapping[str, str], signals: StopSignals) -> None:
        self.port = read_port(environ)
        self.data_dir = read_data_dir(environ)
        self.demo = wants_demo(environ)
        self.external_database = bool(environ.get("DATABASE_URL"))
        self.signals = signals
        self.env = {
            **environ,
            "PRECEPT_DATA_DIR": str(self.data_dir),
            "PRECEPT_PORT": str(self.port),
            "PYTHONUNBUFFERED": "1",
        }
        # Only the steps that change the schema may act as the owner.
        self.env.pop("PRECEPT_DATABASE_ROLE", None)
        self.children: list[Child] = []
        self.stops_database = False
        self.database_port = 0

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/"

    def run(self) -> None:
        """Returns when asked to stop; raises CannotRun. Either way nothing is left running."""
        with only_one(self.data_dir):
            check_port_is_free(self.port)
            try:
                self._start_database()
                self._migrate()
                self._start_parts()
                self._wait_for_web()
                self._load_demo()
                say(f"\nPrecept is ready at {self.address}  (Ctrl-C stops it)")
                self._watch()
            except StopRequested:
                say("\nStopping; a second Ctrl-C stops at once.")
            except EmbeddedPostgresError as error:
                raise CannotRun(str(error)) from error
            finally:
                self._stop()

    def _start_database(self) -> None:
        say(f"Precept keeps its data in {self.data_dir}")
        if self.external_database:
            say("Using the database that DATABASE_URL names.")
            return
        self.stops_database = status(data_dir=self.data_dir) is None
        self.database_port = ensure_running(data_dir=self.data_dir, say=say).port
        self.signals.check()

    def _migrate(self) -> None:
        say("Preparing the tables.")
        owner = {**self.env, "PRECEPT_DATABASE_ROLE": "owner"}
        steps = (
            (["migrate", "--no-input"], owner),
            (["createcachetable"], owner),
            # Refuses to serve as a role that could bypass row-level security.
            (["check", "--database", "default"], self.env),
        )
        for arguments, env in steps:
            code = run_to_end(self._manage(*arguments, env=env), signals=self.signals)
            if code != 0:
                raise CannotRun(
                    f"`manage.py {arguments[0]}` failed (exit code {code}); its message is above."
                )

    def _start_parts(self) -> None:
        logs = self.data_dir / "logs"
        web = [sys.executable, "-m", "gunicorn", "config.wsgi:application", "--name", "precept"]
        web += ["--bind", f"{HOST}:{self.port}", "--chdir", str(BASE_DIR), "--no-control-socket"]
        # One process: the models are loaded once. No time limit: answers are streamed.
        web += ["--worker-class", "gthread", "--workers", "1", "--threads", "16", "--timeout", "0"]
        web += ["--graceful-timeout", "10", "--access-logfile", str(logs / "access.log")]
        web += ["--access-logformat", ACCESS_LOG_FORMAT]
        self.children = [
            Child("web", web, env=self.env, log=logs / "web.log"),
            self._manage("dispatch_outbox", name="dispatcher", log=logs / "dispatcher.log"),
            self._manage("qcluster", name="worker", log=logs / "worker.log"),
        ]
        say(f"Starting {', '.join(child.name for child in self.children)}; logs in {logs}")
        for child in self.children:
            child.start()

    def _wait_for_web(self) -> None:
        deadline = time.monotonic() + WEB_START_SECONDS
        while not is_healthy(self.port):
            self._look_after_children()
            if time.monotonic() > deadline:
                web = self.children[0]
                raise CannotRun(
                    f"{self.address}healthz did not answer within {WEB_START_SECONDS:.0f} seconds. "
                    f"{web.log} ends:\n{web.log_tail()}"
                )
            time.sleep(POLL_SECONDS)
        say(f"Precept answers at {self.address}")

    def _load_demo(self) -> None:
        if not self.demo:
            return
        demo = self._manage("load_demo")
        demo.start()
        try:
            while demo.running:
                self._look_after_children()
                time.sleep(POLL_SECONDS)
        finally:
            stop_all([demo], signals=self.signals)
        if demo.process.returncode != 0:
            say(
                "The demo bank could not be loaded (see above). Precept goes on without it; "
                "`.venv/bin/python manage.py load_demo` tries again."
            )

    def _watch(self) -> None:
        checked_at = time.monotonic()
        while True:
            self._look_after_children()
            if time.monotonic() - checked_at > DATABASE_CHECK_SECONDS:
                self._look_after_database()
                checked_at = time.monotonic()
            time.sleep(POLL_SECONDS)

    def _look_after_database(self) -> None:
        if self.external_database or status(data_dir=self.data_dir):
            return
        say("The database does not answer; starting it again.")
        server = ensure_running(data_dir=self.data_dir, say=say)
        self.signals.check()
        if server.port != self.database_port:
            raise CannotRun(
                "The database had to move to another port, which the running parts do not know. "
                "Start Precept again."
            )

    def _look_after_children(self) -> None:
        """Reports the dead and restarts them; without a web server there is no going on."""
        self.signals.check()
        for child in self.children:
            if child.died():
                say(f"The {child.name} {child.exit_text()}. {child.log} ends:\n{child.log_tail()}")
                if child.name == "web":
                    raise CannotRun("Precept stops, because its web server is gone.")
                delay = child.plan_restart()
                if delay is None:
                    say(f"The {child.name} keeps dying and is not started again; see {child.log}.")
                else:
                    say(f"Starting the {child.name} again in {delay:.0f} s.")
            child.restart_if_due()

    def _stop(self) -> None:
        stop_all(self.children, signals=self.signals)
        if self.stops_database and stop(data_dir=self.data_dir):
            say("The database is stopped; the data are kept.")

    def _manage(
        self,
        *arguments: str,
        name: str = "",
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> Child:
        command = [sys.executable, str(BASE_DIR / "manage.py"), *arguments]
        return Child(name or arguments[0], command, env=env or self.env, log=log)


def is_healthy(port: int) -> bool:
    # Not urllib: it would ask a proxy from the environment.
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> int:
    signals = StopSignals()
    signals.listen()
    try:
        Supervisor(environ=os.environ, signals=signals).run()
    except (CannotRun, EmbeddedPostgresError) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
