"""Which server processes are alive: the question that a crash makes hard.

A killed postmaster may stay behind as a zombie that still answers to its process id, and an id in
an old lock file may belong to a stranger by now. Each server process has the data directory as
its working directory; a zombie has none.
"""

import os
from pathlib import Path

from config.embedded_postgres.account import Account

PROC = Path("/proc")


def server_processes(pgdata: Path, *, account: Account) -> list[int] | None:
    """Ids of this cluster's living processes, or None where that cannot be found out."""
    directories = _own_view() if account.uid is None else _view_of(account)
    if not directories:
        return None
    return [pid for pid, directory in directories if directory == str(pgdata)]


def _own_view() -> list[tuple[int, str]]:
    seen = []
    for entry in PROC.glob("[0-9]*"):
        try:
            seen.append((int(entry.name), os.readlink(entry / "cwd")))
        except OSError:
            continue
    return seen


def _view_of(account: Account) -> list[tuple[int, str]]:
    # In a container root may not look at the processes of another user; that user may.
    pattern = ["-mindepth", "2", "-maxdepth", "2", "-path", "/proc/[0-9]*/cwd"]
    try:
        done = account.run(["find", PROC, *pattern, "-printf", "%h\\t%l\\n"])
    except OSError:
        return []
    seen = []
    for line in done.stdout.splitlines():
        entry, _, directory = line.partition("\t")
        if directory and entry.removeprefix("/proc/").isdigit():
            seen.append((int(entry.removeprefix("/proc/")), directory))
    return seen


def postmaster_id(pgdata: Path) -> int | None:
    """The process id in the lock file, whoever has it now."""
    try:
        return int((pgdata / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def may_be_running(pgdata: Path) -> bool:
    """A quick look: False only if there is no lock file or nobody alive has its process id."""
    pid = postmaster_id(pgdata)
    if pid is None:
        return False
    try:
        state = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return not PROC.joinpath("self").exists()
    except (OSError, IndexError):
        return True
    return state not in {"Z", "X"}
