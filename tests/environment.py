"""Loaded before Django's settings: the tests have a database server and a data directory of their own."""

import os

os.environ.setdefault("PRECEPT_DATA_DIR", ".data-test")
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # playwright runs an event loop
# Small numbers, so that a test of a dead worker takes seconds.
os.environ.setdefault("PRECEPT_JOB_LEASE_SECONDS", "3")
os.environ.setdefault("PRECEPT_OUTBOX_SWEEP_SECONDS", "1")
os.environ.setdefault("PRECEPT_AUTHORITY_LOCK_TIMEOUT_MS", "30000")
os.environ.setdefault("PRECEPT_AUTHORITY_BUDGET_MS", "60000")
# A scan is a scan wherever the tests run; those of text recognition switch it on.
os.environ.setdefault("PRECEPT_OCR", "0")
for name in ("DATABASE_URL", "PRECEPT_DATABASE_ROLE", "PRECEPT_GENERATOR", "PRECEPT_EMBEDDER"):
    os.environ.pop(name, None)
