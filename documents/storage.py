"""Create-only, content-addressed bytes: a key is the tenant and the SHA-256 of what it holds.

Only `documents.retention` removes objects. Whoever stores one and whoever removes it meet at a lock
of its key, which is held until the transaction ends.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from tenants.scope import current_tenant_id


class ObjectMissing(Exception):
    """The store does not hold the object, or not with the content its key promises."""


def put(data: bytes) -> str:
    """Store the bytes in the current tenant's part and return their key. Idempotent, never overwrites.

    Call it in the transaction that writes the key into a row: until that commits, nobody removes
    the object.
    """
    digest = hashlib.sha256(data).hexdigest()
    key = f"{current_tenant_id()}/{digest[:2]}/{digest}"
    path = _path(key)
    _lock("SELECT pg_advisory_xact_lock_shared(hashtextextended('object:' || %s, 0))", key)
    if path.exists():
        return key
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{digest}.", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.link(file.name, path)  # fails rather than replaces
        except FileExistsError:
            pass
        finally:
            os.unlink(file.name)
    return key


def get(key: str) -> bytes:
    """The bytes under a key of the current tenant, verified against it. Raises ObjectMissing."""
    tenant, _, digest = key.split("/")
    if tenant != str(current_tenant_id()):
        raise ObjectMissing("The object belongs to another tenant.")
    try:
        data = _path(key).read_bytes()
    except FileNotFoundError:
        raise ObjectMissing(f"The object {digest} is not in the store.") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise ObjectMissing(f"The object {digest} was changed on disk; restore it from a backup.")
    return data


def lock_for_removal(key: str) -> None:
    """Wait for everybody who is storing the object; who comes later waits for this transaction."""
    _lock("SELECT pg_advisory_xact_lock(hashtextextended('object:' || %s, 0))", key)


def remove(key: str) -> bool:
    """Remove an object of the current tenant, and what a crash left of storing it.

    True if there was one. To be called after `lock_for_removal`, by who knows that nothing names it.
    """
    tenant, _, digest = key.split("/")
    if tenant != str(current_tenant_id()):
        raise ObjectMissing("The object belongs to another tenant.")
    path = _path(key)
    found = path.exists()
    for file in (path, *path.parent.glob(f"{digest}.*")):
        file.unlink(missing_ok=True)
    return found


def keys(*, older_than: timedelta) -> Iterator[str]:
    """Keys of the current tenant's objects, also of half-written ones, last written before then."""
    before = time.time() - older_than.total_seconds()
    root = settings.OBJECT_STORE_DIR / str(current_tenant_id())
    found = {
        f"{path.parent.parent.name}/{path.parent.name}/{path.name.partition('.')[0]}"
        for path in root.glob("*/*")
        if path.stat().st_mtime < before
    }
    yield from sorted(found)


def _lock(statement: str, key: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [key])


def _path(key: str) -> Path:
    return settings.OBJECT_STORE_DIR / key
