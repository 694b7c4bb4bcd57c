"""Create-only, content-addressed bytes: a key is the tenant and the SHA-256 of what it holds."""

import hashlib
import os
import tempfile
from pathlib import Path

from django.conf import settings

from tenants.scope import current_tenant_id


class ObjectMissing(Exception):
    """The store does not hold the object, or not with the content its key promises."""


def put(data: bytes) -> str:
    """Store the bytes in the current tenant's part and return their key. Idempotent, never overwrites."""
    digest = hashlib.sha256(data).hexdigest()
    key = f"{current_tenant_id()}/{digest[:2]}/{digest}"
    path = _path(key)
    if path.exists():
        return key
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
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


def _path(key: str) -> Path:
    return settings.OBJECT_STORE_DIR / key
