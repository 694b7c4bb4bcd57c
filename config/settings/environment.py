"""The process environment and the places on disk that everything else is derived from."""

from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent.parent
DATA_DIR = Path(env.str("PRECEPT_DATA_DIR", default="") or ".data")
if not DATA_DIR.is_absolute():
    DATA_DIR = BASE_DIR / DATA_DIR


def positive_int(name: str, *, default: int, least: int = 1) -> int:
    """An integer setting of at least `least`; raises ImproperlyConfigured with the variable's name."""
    try:
        value = env.int(name, default=default)
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be a whole number; unset it to use {default}."
        ) from None
    if value < least:
        raise ImproperlyConfigured(f"{name} must be at least {least}; unset it to use {default}.")
    return value


def one_of(name: str, *, default: str, allowed: tuple[str, ...]) -> str:
    """One of a few words; raises ImproperlyConfigured with the variable's name."""
    value = env.str(name, default=default)
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} is '{value}'; it can be one of: {', '.join(allowed)}.")
    return value


def http_url(name: str, *, default: str) -> str:
    """The address of a service, without secrets in it; raises ImproperlyConfigured otherwise."""
    value = env.str(name, default=default)
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ImproperlyConfigured(
            f"{name} must be an address such as {default}, without a name or password in it."
        )
    return value
