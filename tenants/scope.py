"""The current tenant, in Python and in PostgreSQL at once. A leaf: imports no model.

Python: a context variable that every tenant manager reads; without it, queries raise.
PostgreSQL: the session setting `precept.tenant` that every row-level-security policy reads;
without it, there are no rows. The setting follows the scope: it is written when a scope opens or
closes, when a connection opens inside a scope, and at the start of every request.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import connection, models
from django.db.backends.signals import connection_created
from psycopg import OperationalError
from psycopg.pq import TransactionStatus

SETTING = "precept.tenant"

_current: ContextVar[UUID | None] = ContextVar("precept_tenant", default=None)


class ScopeRequired(Exception):
    """Tenant data was asked for outside any tenant scope. Never answered with 'everything'."""


class ScopeConflict(Exception):
    """A scope of one tenant was opened inside the scope of another."""


def current_tenant_id() -> UUID:
    """The tenant of the open scope. Raises ScopeRequired when there is none."""
    tenant_id = _current.get()
    if tenant_id is None:
        raise ScopeRequired("No tenant scope is open; wrap the call in tenant_scope(tenant_id).")
    return tenant_id


def tenant_of_new_row() -> UUID | None:
    """The column default of tenant tables. Outside a scope it is empty, which the column refuses."""
    return _current.get()


@contextmanager
def tenant_scope(tenant_id: UUID) -> Iterator[None]:
    """Everything inside belongs to one tenant. May be nested for the same tenant only."""
    if not isinstance(tenant_id, UUID):
        raise ScopeRequired(f"A tenant scope needs a tenant's UUID, not {tenant_id!r}.")
    outer = _current.get()
    if outer is not None and outer != tenant_id:
        raise ScopeConflict("A scope of another tenant is already open.")
    token = _current.set(tenant_id)
    try:
        if outer is None:
            tell_database()
        yield
    finally:
        _current.reset(token)
        if outer is None:
            tell_database()


def tell_database() -> None:
    """Write the current scope, or its absence, to this thread's connection if it is open."""
    raw = connection.connection
    if raw is None or raw.closed:
        return  # connection_created tells it when it opens
    if raw.info.transaction_status == TransactionStatus.INERROR:
        return  # the rollback restores what held before this scope opened
    try:
        _write_setting(raw)
    except OperationalError:
        if not raw.closed:
            raise
        # The server ended it, and the setting with it. Outside a transaction the next query opens
        # another, which is told then; inside one the next query says what happened.
        if not connection.in_atomic_block:
            connection.close()


def _write_setting(raw) -> None:
    tenant_id = _current.get()
    raw.execute("SELECT set_config(%s, %s, false)", (SETTING, str(tenant_id) if tenant_id else ""))


def _on_connect(sender, connection, **kwargs) -> None:
    if connection.vendor == "postgresql" and _current.get() is not None:
        _write_setting(connection.connection)


connection_created.connect(_on_connect, dispatch_uid="precept.tenant_scope")


class TenantManager(models.Manager):
    """Rows of the current tenant only; raises ScopeRequired outside a scope."""

    use_in_migrations = False

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(tenant_id=current_tenant_id())
