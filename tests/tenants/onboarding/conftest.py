"""A worker that does at once what it is handed, and the e-mails that come of it."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from django.core import mail

from tenants.onboarding import letters


@pytest.fixture
def post(settings, monkeypatch):
    """Called with an address: the link of the newest e-mail that was sent there."""
    settings.EMAIL_IS_ON = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    mail.outbox = []
    handed: list[tuple[str, ...]] = []
    monkeypatch.setattr(letters, "async_task", lambda *call: handed.append(call))

    def newest_link(address: str) -> str | None:
        while handed:
            task, *ids = handed.pop(0)
            room, _, name = task.rpartition(".")
            getattr(import_module(room), name)(*ids)
        sent = [one for one in mail.outbox if one.to == [address]]
        if not sent:
            return None
        found = re.search(rf"{re.escape(settings.PUBLIC_URL)}(/\S+)", sent[-1].body)
        return found[1]

    newest_link.handed = handed
    return newest_link
