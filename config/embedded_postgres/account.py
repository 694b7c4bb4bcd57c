"""Who runs the server. PostgreSQL refuses root, so root hands it to a system user of its own."""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.embedded_postgres.binaries import WAY_OUT
from config.embedded_postgres.errors import EmbeddedPostgresError

SYSTEM_USER = "precept-db"


@dataclass(frozen=True, slots=True)
class Account:
    """The user and group the server's programs run under; None stands for the caller's own."""

    uid: int | None = None
    gid: int | None = None

    def run(
        self, command: Sequence[str | Path], *, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Runs one program to its end, output captured. Raises OSError if it cannot be run."""
        other = (
            {} if self.uid is None else {"user": self.uid, "group": self.gid, "extra_groups": []}
        )
        return subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            # Nothing of the caller's environment (PGDATA, PGOPTIONS, LD_LIBRARY_PATH) may leak in,
            # and its directory may be closed to this user.
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            umask=0o077,
            # A Ctrl-C is for the caller; pg_ctl would pass it on to the server it is starting.
            start_new_session=True,
            **other,
        )

    def own(self, path: Path) -> None:
        if self.uid is not None:
            os.chown(path, self.uid, self.gid)

    def can(self, flag: str, path: Path) -> bool:
        """Whether test(1) agrees, as that user: this also sees ACLs and closed parents."""
        try:
            return self.run([shutil.which("test") or "/usr/bin/test", flag, path]).returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False

    def can_execute(self, directory: Path) -> bool:
        """Whether the programs in it run, shared libraries included."""
        try:
            return all(
                self.run([directory / program, "--version"]).returncode == 0
                for program in ("postgres", "pg_ctl", "initdb")
            )
        except (OSError, subprocess.SubprocessError):
            return False


def account_for(pgdata: Path) -> Account:
    """The account for a cluster: its present owner if it exists already, else the system user."""
    if os.geteuid() != 0:
        return Account()
    if pgdata.exists():
        owner = pgdata.stat()
        if owner.st_uid != 0:
            return Account(owner.st_uid, owner.st_gid)
    return _system_account()


def _system_account() -> Account:
    problem = ""
    for _ in range(20):
        try:
            entry = pwd.getpwnam(SYSTEM_USER)
        except KeyError:
            problem = _create_system_user()
            # Another start may be creating it, or hold the lock of /etc/passwd, at this moment.
            time.sleep(0.1)
            continue
        if entry.pw_uid == 0 or entry.pw_gid == 0:
            raise EmbeddedPostgresError(
                f"The system user {SYSTEM_USER} has root's user or group id. Give it its own, or "
                f"run Precept as an ordinary user. {WAY_OUT}"
            )
        return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedPostgresError(
        f"PostgreSQL does not run as root, and the system user {SYSTEM_USER} could not be created"
        f" ({problem}). Run Precept as an ordinary user. {WAY_OUT}"
    )


def _create_system_user() -> str:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        return "there is no useradd"
    command = [useradd, "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return (done.stderr or done.stdout).strip()
