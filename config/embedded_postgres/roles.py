"""What a new cluster is given: two roles, one database, the extensions, and who may do what.

`precept_owner` owns the database and every table, and may create test databases. `precept_app`
is what the application connects as: it owns nothing and cannot bypass row-level security.
"""

import psycopg
from psycopg import sql

DATABASE = "precept"
SUPERUSER = "postgres"
OWNER = "precept_owner"
APP = "precept_app"
EXTENSIONS = ("vector", "unaccent")

# Raise this when the steps below change: clusters prepared by an older one are prepared again.
REVISION = 1


def prepare_cluster(*, port: int, passwords: dict[str, str]) -> None:
    """Brings the cluster to the wanted state; every step may be repeated."""
    with _connect(port, "postgres", passwords) as connection:
        _make_role(connection, OWNER, passwords[OWNER], may="CREATEDB")
        _make_role(connection, APP, passwords[APP], may="NOCREATEDB")
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if found.fetchone() is None:
            # From template0, so that nothing which crept into template1 comes along.
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(
                    sql.Identifier(DATABASE), sql.Identifier(OWNER)
                )
            )
        for statement in (
            "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
            "GRANT CONNECT ON DATABASE {database} TO {app}",
        ):
            connection.execute(_named(statement))
    # Test databases are copies of template1, and default privileges belong to a database.
    for database in (DATABASE, "template1"):
        with _connect(port, database, passwords) as connection:
            _prepare_database(connection)


def _make_role(connection: psycopg.Connection, role: str, password: str, *, may: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    connection.execute(
        sql.SQL(
            "{verb} ROLE {role} LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS {may} "
            "PASSWORD {password}"
        ).format(
            verb=sql.SQL("ALTER" if found else "CREATE"),
            role=sql.Identifier(role),
            may=sql.SQL(may),
            password=sql.Literal(password),
        )
    )


def _prepare_database(connection: psycopg.Connection) -> None:
    for extension in EXTENSIONS:
        name = sql.Identifier(extension)
        connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(name))
        connection.execute(sql.SQL("ALTER EXTENSION {} UPDATE").format(name))
    for statement in (
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE, CREATE ON SCHEMA public TO {owner}",
        "GRANT USAGE ON SCHEMA public TO {app}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public "
        "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public "
        "GRANT USAGE, SELECT ON SEQUENCES TO {app}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public "
        "GRANT EXECUTE ON FUNCTIONS TO {app}",
    ):
        connection.execute(_named(statement))


def _named(statement: str) -> sql.Composed:
    return sql.SQL(statement).format(
        database=sql.Identifier(DATABASE), owner=sql.Identifier(OWNER), app=sql.Identifier(APP)
    )


def _connect(port: int, database: str, passwords: dict[str, str]) -> psycopg.Connection:
    return psycopg.connect(
        host="127.0.0.1",
        port=port,
        dbname=database,
        user=SUPERUSER,
        password=passwords[SUPERUSER],
        autocommit=True,
        connect_timeout=10,
        # ALTER EXTENSION … UPDATE says so when there is nothing to update.
        options="-c client_min_messages=warning",
    )
