"""The process environment and the places on disk that everything else is derived from."""

from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent.parent
DATA_DIR = Path(env.str("PRECEPT_DATA_DIR", default="") or ".data")
if not DATA_DIR.is_absolute():
    DATA_DIR = BASE_DIR / DATA_DIR


def positive_int(name: str, *, default: int) -> int:
    """An integer setting of at least 1; raises ImproperlyConfigured with the variable's name."""
    try:
        value = env.int(name, default=default)
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be a whole number; unset it to use {default}."
        ) from None
    if value < 1:
        raise ImproperlyConfigured(f"{name} must be at least 1; unset it to use {default}.")
    return value
