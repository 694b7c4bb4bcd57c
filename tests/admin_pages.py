"""Using the administration as a browser does: sign in, read a form, send it back changed."""

from __future__ import annotations

from html.parser import HTMLParser

from django.test import Client
from django.urls import reverse

from tenants.models import User
from tests.bank import Bank


def signed_in(bank: Bank, user: User) -> Client:
    client = Client()
    with bank.scope():
        client.force_login(user, backend="tenants.authentication.EmailBackend")
    return client


def list_of(model: str) -> str:
    return reverse(f"admin:{model}_changelist")


def add_to(model: str) -> str:
    return reverse(f"admin:{model}_add")


def page_of(row, model: str | None = None) -> str:
    return reverse(
        f"admin:{model or row._meta.label_lower.replace('.', '_')}_change", args=[row.pk]
    )


def said(response) -> str:
    """Everything the page told in messages and errors, as text."""
    messages = " ".join(str(message) for message in response.context.get("messages", ()))
    errors = response.context.get("errors") or []
    return " ".join([messages, *(str(error) for error in errors)])


def filled(response, **changes: object) -> dict[str, object]:
    """The data the page's main form would send, with some of it changed."""
    parser = _FormReader()
    parser.feed(response.content.decode())
    return {**parser.data, "_save": "Save", **changes}


class _FormReader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.data: dict[str, object] = {}
        self._inside = False
        self._select = self._area = None

    def handle_starttag(self, tag, attributes):
        attrs = dict(attributes)
        name, value = attrs.get("name"), attrs.get("value") or ""
        if tag == "form":
            self._inside = attrs.get("id", "").endswith("_form")
        if not self._inside:
            return
        if tag == "input" and name and attrs.get("type") not in {"submit", "file"}:
            if attrs.get("type") not in {"checkbox", "radio"} or "checked" in attrs:
                self.data[name] = value or "on" if attrs.get("type") == "checkbox" else value
        elif tag == "select":
            self._select = name
            self.data.setdefault(name, "")
        elif tag == "option" and self._select and "selected" in attrs:
            self.data[self._select] = value
        elif tag == "textarea":
            self._area = name
            self.data[name] = ""

    def handle_endtag(self, tag):
        if tag == "form":
            self._inside = False
        elif tag == "select":
            self._select = None
        elif tag == "textarea":
            self._area = None

    def handle_data(self, data):
        if self._area:
            self.data[self._area] += data
