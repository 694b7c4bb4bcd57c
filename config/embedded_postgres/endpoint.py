"""A running server as the rest of Precept sees it, and how to recognise it."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from config.embedded_postgres import roles
from config.embedded_postgres.binaries import WAY_OUT
from config.embedded_postgres.errors import EmbeddedPostgresError
from config.embedded_postgres.location import Place
from config.embedded_postgres.processes import may_be_running

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. The URLs hold passwords, so they stay out of its repr."""

    host: str
    port: int
    superuser_url: str = field(repr=False)
    owner_url: str = field(repr=False)
    app_url: str = field(repr=False)
    location: Path
    """The directory with the cluster, its passwords, its port and its log."""


def find_running(place: Place) -> Server | None:
    """The server at the recorded port, if one answers there and has this very data directory."""
    port = recorded_port(place)
    if not port or not may_be_running(place.pgdata):
        return None
    passwords = read_passwords(place)
    server = Server(
        host=HOST,
        port=port,
        superuser_url=_url(roles.SUPERUSER, passwords, port),
        owner_url=_url(roles.OWNER, passwords, port),
        app_url=_url(roles.APP, passwords, port),
        location=place.root,
    )
    try:
        with psycopg.connect(
            host=HOST,
            port=port,
            dbname="postgres",
            user=roles.SUPERUSER,
            password=passwords[roles.SUPERUSER],
            connect_timeout=5,
        ) as connection:
            (directory,) = connection.execute("SHOW data_directory").fetchone()
    except psycopg.Error:
        return None
    return server if Path(directory) == place.pgdata else None


def recorded_port(place: Place) -> int:
    try:
        return int(place.port.read_text())
    except (FileNotFoundError, ValueError):
        return 0


def read_passwords(place: Place) -> dict[str, str]:
    try:
        return json.loads(place.passwords.read_text())
    except (OSError, ValueError) as error:
        raise EmbeddedPostgresError(
            f"The passwords of the embedded PostgreSQL in {place.passwords} cannot be read "
            f"({error}). Run Precept as the user it was first run as, or set PRECEPT_DATA_DIR to "
            f"a new directory. {WAY_OUT}"
        ) from error


def _url(role: str, passwords: dict[str, str], port: int) -> str:
    return f"postgresql://{role}:{passwords[role]}@{HOST}:{port}/{roles.DATABASE}"
