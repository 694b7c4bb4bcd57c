"""Fixtures every room shares.

Tests commit for real, on the role the product runs as, and never roll back: advisory locks, triggers,
row-level security and several connections behave as they do in production. What keeps tests apart is
what keeps tenants apart: each test has a tenant of its own.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connections

from config.embedded_postgres import ensure_running
from tests.bank import Bank

TEST_DATABASE = "precept_test"


@pytest.fixture(scope="session", autouse=True)
def database(tmp_path_factory, django_db_blocker):
    """A fresh database, migrated by the owner, used by the application role."""
    server = ensure_running(data_dir=settings.DATA_DIR)
    name = f"{TEST_DATABASE}_{os.getpid()}"
    with psycopg.connect(_url(server.superuser_url, "postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name} OWNER precept_owner")
    owner, application = _url(server.owner_url, name), _url(server.app_url, name)
    with django_db_blocker.unblock():
        _connect_as(owner)
        call_command("migrate", verbosity=0)
        call_command("createcachetable", verbosity=0)
        _connect_as(application)
        # The slow hash protects passwords, not tests.
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        settings.OBJECT_STORE_DIR = tmp_path_factory.mktemp("objects")
        # Tests ask more than a person does; those about limits set them.
        for limit in ("QUESTIONS_PER_MINUTE", "CONCURRENT_ANSWERS", "TOKENS_PER_DAY"):
            setattr(settings, f"PERSON_{limit}", 10**9)
            setattr(settings, f"TENANT_{limit}", 10**9)
        # Processes the tests start use the same database and store.
        yield {
            "DATABASE_URL": application,
            "DATABASE_OWNER_URL": owner,
            "SUPERUSER_URL": _url(server.superuser_url, name),
            "PRECEPT_SECRET_KEY": settings.SECRET_KEY,
        }
        connections.close_all()
    with psycopg.connect(_url(server.superuser_url, "postgres"), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _url(url: str, database: str) -> str:
    head, _, rest = url.rpartition("/")
    _, question, query = rest.partition("?")
    return f"{head}/{database}{question}{query}"


def _connect_as(url: str) -> None:
    import environ

    connections.close_all()
    parsed = environ.Env.db_url_config(url, engine="django.db.backends.postgresql")
    connections["default"].settings_dict.update(
        {key: parsed[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    )


@pytest.fixture(autouse=True)
def _clean_cache():
    cache.clear()


@pytest.fixture
def bank() -> Bank:
    """A tenant of this test's own, with helpers to fill it."""
    return Bank.create()


@pytest.fixture
def other_bank() -> Bank:
    """A second tenant, to be kept out of."""
    return Bank.create()


@pytest.fixture
def raw_sql(database):
    """A connection of the superuser, outside every rule but the triggers."""
    with psycopg.connect(database["SUPERUSER_URL"], autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real documents; tests that need it skip where it is absent."""
    root = Path(os.environ.get("PRECEPT_TEST_DATA", settings.BASE_DIR.parent / "shared" / "data"))
    if not root.is_dir():
        pytest.skip(f"the real documents are not here: {root}")
    return root


@pytest.fixture
def unique() -> str:
    return uuid.uuid4().hex[:10]
