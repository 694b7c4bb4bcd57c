"""Import first: benchmarks have a database of their own, which is also their cache."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["PRECEPT_DATA_DIR"] = os.environ.get("PRECEPT_BENCH_DIR", ".data-bench")


def migrate() -> None:
    """Bring the database up to date as the owner, in a process of its own."""
    command = [sys.executable, ROOT / "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, check=True)


def set_up() -> None:
    migrate()
    import django

    django.setup()


def analyze() -> None:
    """Fresh statistics, as autovacuum would have made them some time after the data came."""
    import psycopg
    from django.conf import settings

    from config.embedded_postgres import ensure_running

    server = ensure_running(data_dir=settings.DATA_DIR)
    with psycopg.connect(server.owner_url, autocommit=True) as owner:
        owner.execute("ANALYZE")
