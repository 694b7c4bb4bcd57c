"""Starts, finds and stops the one server of a data directory."""

import fcntl
import json
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded_postgres import binaries, roles
from config.embedded_postgres.account import Account, account_for
from config.embedded_postgres.endpoint import (
    HOST,
    Server,
    find_running,
    read_passwords,
    recorded_port,
)
from config.embedded_postgres.errors import EmbeddedPostgresError
from config.embedded_postgres.location import (
    POINTER,
    Place,
    abandoned_places,
    choose_place,
    choose_programs,
    find_place,
    write_private,
)
from config.embedded_postgres.processes import postmaster_id, server_processes

START_TIMEOUT = 60.0

# For a small machine that also runs the models.
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def _say(message: str) -> None:
    # Standard output belongs to commands that print JSON.
    print(message, file=sys.stderr, flush=True)


def ensure_running(*, data_dir: Path, say: Callable[[str], None] = _say) -> Server:
    """Returns the data directory's server, started if need be, ready to be used.

    Callers racing each other all get the same server. It stays running until `stop`.
    Raises EmbeddedPostgresError, with a sentence that names the way out.
    """
    data_dir = _prepare_data_dir(data_dir)
    with _lock(data_dir, say=say):
        place = find_place(data_dir)
        running = place and find_running(place)
        if running and _is_prepared(running):
            return running
        binaries.check_cpu()
        installation = binaries.find_installation()
        binaries.check_pgvector(binaries.pgvector_version(installation))
        if place is None and (data_dir / POINTER).exists():
            say(f"The database that {data_dir / POINTER} names is not there; making a new one.")
        place, account = choose_place(data_dir)
        programs = choose_programs(installation, place=place, account=account)
        if not place.pgdata.exists():
            say("Creating the embedded PostgreSQL database (about two seconds).")
            _create_cluster(place, account=account, programs=programs)
            if account.uid is not None or place.root.parent != data_dir:
                say(_whereabouts(place, account=account, programs=programs))
            for abandoned in abandoned_places(data_dir, current=place):
                _stop(abandoned)
                say(
                    f"{abandoned.root} holds the database of an earlier {data_dir}, which was "
                    "deleted. It is stopped; delete it if nobody needs it."
                )
        _check_version(place, programs=programs)
        running = running or _start(place, account=account, programs=programs, say=say)
        if not _is_prepared(running):
            roles.prepare_cluster(port=running.port, passwords=read_passwords(place))
            write_private(place.prepared, _preparation())
        return running


def status(*, data_dir: Path) -> Server | None:
    """The running server of this data directory, or None. Starts nothing, waits for nothing."""
    place = find_place(data_dir.resolve())
    return place and find_running(place)


def stop(*, data_dir: Path) -> bool:
    """Stops the server, open connections or not; False if none was running.

    Returns when the data are on disk and the processes gone. Raises EmbeddedPostgresError if it
    does not stop within a minute.
    """
    data_dir = data_dir.resolve()
    if find_place(data_dir) is None:
        return False
    with _lock(data_dir, say=_say):
        place = find_place(data_dir)
        return place is not None and _stop(place)


def erase(*, data_dir: Path) -> bool:
    """Stops the server and deletes its cluster, wherever it lies; False if there is none."""
    data_dir = data_dir.resolve()
    place = find_place(data_dir)
    if place is None:
        return False
    with _lock(data_dir, say=_say):
        # What is about to be deleted need not be written to disk first.
        _stop(place, mode="immediate")
        shutil.rmtree(place.root)
        (data_dir / POINTER).unlink(missing_ok=True)
    return True


def _stop(place: Place, *, mode: str = "fast") -> bool:
    if not place.pgdata.exists():
        return False
    account = account_for(place.pgdata)
    alive = server_processes(place.pgdata, account=account)
    if not (alive or find_running(place)):
        return False
    programs = choose_programs(binaries.find_installation(), place=place, account=account)
    output = ""
    # pg_ctl would wait a minute for a zombie.
    if alive is None or postmaster_id(place.pgdata) in alive:
        command = [programs / "pg_ctl", "stop", "-D", place.pgdata, "-m", mode, "-w"]
        output = _run(account, [*command, "-t", "60"]).stdout.strip()
    # Its processes may outlive pg_ctl by a moment, and a killed server has no postmaster.
    deadline = time.monotonic() + 10
    while server_processes(place.pgdata, account=account) and time.monotonic() < deadline:
        time.sleep(0.05)
    if server_processes(place.pgdata, account=account) or find_running(place):
        raise EmbeddedPostgresError(
            f"The embedded PostgreSQL in {place.root} did not stop. {output} "
            f"Its log is {place.log}."
        )
    return True


def _prepare_data_dir(data_dir: Path) -> Path:
    data_dir = data_dir.resolve()
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedPostgresError(
            f"The data directory {data_dir} cannot be made ({error.strerror}). Set PRECEPT_DATA_DIR"
            f" to a directory that can be written. {binaries.WAY_OUT}"
        ) from error
    return data_dir


@contextmanager
def _lock(data_dir: Path, *, say: Callable[[str], None]) -> Iterator[None]:
    """Held while looking for, starting or stopping the server; released even by a crash."""
    path = data_dir / "postgres.lock"
    try:
        file = path.open("a")
    except OSError as error:
        raise EmbeddedPostgresError(
            f"{path} cannot be opened ({error.strerror}): the data directory belongs to another "
            "user. Run Precept as that user, or set PRECEPT_DATA_DIR to a directory of your own. "
            f"{binaries.WAY_OUT}"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another process that is starting or stopping the database.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _create_cluster(place: Place, *, account: Account, programs: Path) -> None:
    passwords = {
        role: secrets.token_urlsafe(24) for role in (roles.SUPERUSER, roles.OWNER, roles.APP)
    }
    # Made under another name, so that an interrupted start leaves no half cluster behind.
    partial = place.root / "pgdata.partial"
    password_file = place.root / "initdb-password"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    account.own(partial)
    write_private(password_file, passwords[roles.SUPERUSER])
    account.own(password_file)
    try:
        done = _run(
            account,
            [
                *(programs / "initdb", "-D", partial, "-U", roles.SUPERUSER),
                *("-A", "scram-sha-256", f"--pwfile={password_file}", "--encoding=UTF8"),
                # The plain C locale leaves lower('É') as it is; the wheel has no ICU.
                *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            ],
        )
    finally:
        password_file.unlink(missing_ok=True)
    if done.returncode != 0:
        raise EmbeddedPostgresError(
            f"The embedded PostgreSQL could not be created in {place.root}: "
            f"{done.stdout.strip()} {binaries.WAY_OUT}"
        )
    write_private(place.passwords, json.dumps(passwords))
    partial.rename(place.pgdata)


def _start(place: Place, *, account: Account, programs: Path, say: Callable[[str], None]) -> Server:
    """Starts the server on a free port, waiting out whatever a crash has left running."""
    deadline = time.monotonic() + START_TIMEOUT
    attempts, output = 0, ""
    while attempts < 3 and time.monotonic() < deadline:
        running = find_running(place)
        if running:
            return running
        alive = server_processes(place.pgdata, account=account)
        if alive:
            # Still starting, or the children of a killed postmaster on their way out.
            time.sleep(0.1)
            continue
        if alive is not None:
            # Nobody is left in the directory, so whoever has the lock file's process id now is
            # a zombie or a stranger. PostgreSQL itself would refuse to start.
            (place.pgdata / "postmaster.pid").unlink(missing_ok=True)
        port = _free_port(place, renew=attempts > 0)
        write_private(place.port, str(port))
        say(f"Starting the embedded PostgreSQL on port {port}.")
        options = " ".join(f"-c {name}={value}" for name, value in _settings().items())
        command = [programs / "pg_ctl", "start", "-D", place.pgdata, "-l", place.log]
        command += ["-w", "-t", str(int(START_TIMEOUT)), "-o", f"-p {port} {options}"]
        output = _run(account, command).stdout.strip()
        running = find_running(place)
        if running:
            return running
        attempts += 1
        time.sleep(0.5)
    raise EmbeddedPostgresError(
        f"The embedded PostgreSQL in {place.root} did not start. {output}\n"
        f"Its log {place.log} ends:\n{_tail(place.log)}\n{binaries.WAY_OUT}"
    )


def _settings() -> dict[str, str]:
    try:
        shared = shutil.disk_usage("/dev/shm").free  # noqa: S108 - only measured
    except OSError:
        shared = 0
    # Containers often have 64 MB there, where a parallel index build would fail.
    kind = "posix" if shared >= 512 * 1024**2 else "mmap"
    return {**SETTINGS, "dynamic_shared_memory_type": kind}


def _run(account: Account, command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    try:
        return account.run(command)
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedPostgresError(
            f"{command[0]} could not be run: {error}. {binaries.WAY_OUT}"
        ) from error


def _free_port(place: Place, *, renew: bool) -> int:
    """The port used last time if it is free, else one that the system says is free now."""
    last = 0 if renew else recorded_port(place)
    for port in (last, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise EmbeddedPostgresError(f"No port is free on {HOST}. {binaries.WAY_OUT}")


def _preparation() -> str:
    return f"{roles.REVISION} pgvector {binaries.pgvector_version(binaries.find_installation())}"


def _is_prepared(server: Server) -> bool:
    try:
        return Place(server.location).prepared.read_text() == _preparation()
    except FileNotFoundError:
        return False


def _check_version(place: Place, *, programs: Path) -> None:
    """Raises EmbeddedPostgresError if the cluster was made by another major version."""
    made_by = (place.pgdata / "PG_VERSION").read_text().strip()
    offered = Account().run([programs / "postgres", "--version"]).stdout.split()[-1]
    if offered.split(".")[0] != made_by:
        raise EmbeddedPostgresError(
            f"The database in {place.root} was made by PostgreSQL {made_by}, but PostgreSQL "
            f"{offered} is installed. Dump it with the former version and load it into a new "
            "PRECEPT_DATA_DIR."
        )


def _whereabouts(place: Place, *, account: Account, programs: Path) -> str:
    try:
        user = f"the system user {pwd.getpwuid(account.uid).pw_name}"
    except (KeyError, TypeError):
        user = f"user id {account.uid}"
    text = f"The database server runs as {user}; its data are in {place.root}."
    if programs.is_relative_to(place.root):
        text += (
            " That user cannot reach the checkout or its virtual environment, so the server's"
            f" programs were copied to {programs.parent}."
        )
    return text


def _tail(path: Path, *, lines: int = 15) -> str:
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
