"""What every page tells the browser, and how hostile names and words are shown.

URLs without objects are found, not listed.
"""

import html
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from documents import services as documents
from documents.models import Document, DocumentVersion
from tenants.models import Role
from tests.admin_pages import list_of, page_of
from tests.bank import PASSWORD, Bank
from tests.test_two_tenants import patterns

QUESTION = "When does the archive open?"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>"
BIDI = "\u202egnp.exe\u2066\u200b"
CONTROL = "\x07\x1b[31m\x9b\x85"
HOSTILE = f"{MARKUP}\"'--> {BIDI}{CONTROL}{{{{ 7*7 }}}} annual"
DANGEROUS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
ADMIN_ROLES = [Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR]


class Walled:
    """Somebody with every role, and a document whose title, file name and text attack the page."""

    def __init__(self):
        self.bank = Bank.create()
        self.person = self.bank.person("everything", roles=ADMIN_ROLES)
        with self.bank.scope():
            self.document, submission = documents.create_document(
                actor=None,
                title=HOSTILE,
                reference=f"{MARKUP[:25]}{BIDI}",
                department=self.bank.department(f"Department {MARKUP[:40]}"),
                upload=documents.Upload(
                    data=_pdf(f"The archive {MARKUP} opens at 9 in the morning."),
                    name=f"../{HOSTILE}.pdf",
                ),
                subjects=[self.bank.everyone],
            )
            self.bank.ingest(submission.version)
        self.group = self.bank.group(f"Group {MARKUP}")
        self.bank.grant(self.document, self.group)
        self.view = self.bank.ask(self.person, QUESTION)
        self.client = Client()
        with self.bank.scope():
            self.client.force_login(self.person, backend="tenants.authentication.EmailBackend")

    def addresses(self) -> list[str]:
        with self.bank.scope():
            document = Document.objects.get(pk=self.document.pk)
        source = reverse("source", args=[document.pk, 1])
        return [
            "/",
            "/history/",
            "/documents/",
            "/documents/?q=%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE",
            reverse("answer", args=[self.view.answer.pk]),
            f"{source}?page=1",
            f"{source}?answer={self.view.answer.pk}&citation=1",
            page_of(document),
            page_of(document).replace("change/", "delete/"),
            reverse("admin:documents_readers", args=[document.pk]),
            reverse("admin:documents_person", args=[self.person.pk]),
            reverse("admin:answers_answer_explanation", args=[self.view.answer.pk]),
            page_of(self.view.answer),
            page_of(self.group),
            list_of("documents_document"),
            list_of("documents_documentversion"),
            list_of("tenants_group"),
            list_of("tenants_department"),
            list_of("audit_auditrecord"),
        ]


def _pdf(text: str) -> bytes:
    from tests.pdf import make_pdf

    return make_pdf(text)


@pytest.fixture(scope="module")
def walled(database):
    return Walled()


def policy(response) -> dict[str, list[str]]:
    directives = response["Content-Security-Policy"].split(";")
    return {name: values for name, *values in (part.split() for part in directives if part.strip())}


def check_headers(response) -> None:
    csp = policy(response)
    assert csp["default-src"] == ["'none'"]
    assert csp["frame-ancestors"] == ["'none'"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert "*" not in response["Content-Security-Policy"]
    assert "http" not in response["Content-Security-Policy"]
    assert csp.get("script-src", ["'self'"]) == ["'self'"]
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"


def found_routes() -> list[str]:
    return sorted({route for route, _ in patterns() if "<" not in route and "^" not in route})


@pytest.mark.parametrize("route", found_routes())
@pytest.mark.parametrize("who", ["visitor", "person"])
def test_every_page_there_is_says_what_a_browser_may_do_with_it(walled, route, who):
    client = Client() if who == "visitor" else walled.client
    if "logout" in route and who == "person":
        client = Client()
    check_headers(client.get(f"/{route}"))


def test_so_do_errors_and_pages_with_objects(walled):
    for address in [*walled.addresses(), "/no/such/", "/v1/no/such", "/admin/no/such/"]:
        check_headers(walled.client.get(address))
    check_headers(walled.client.post("/v1/answers", "{", content_type="application/json"))
    check_headers(Client(enforce_csrf_checks=True).post("/accounts/login/", {}))


def test_static_files_are_what_they_say_they_are(walled):
    response = Client().get("/static/precept/precept.css")
    assert response.status_code == 200
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"].startswith("text/css")


class _Page(HTMLParser):
    """Everything on a page that can run, lead away or hold text."""

    def __init__(self):
        super().__init__()
        self.text: list[str] = []
        self.inline: list[str] = []
        self.tags: set[str] = set()
        self._in = ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self._in = tag
        attrs = dict(attributes)
        self.inline += [name for name in attrs if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action", "formaction"):
            value = attrs.get(name) or ""
            if ":" in value.split("?")[0] and not value.startswith("http://testserver"):
                self.inline.append(value)
        if tag == "img":
            assert attrs.get("src", "").startswith("/")
        self.text += [attrs.get("value") or "", attrs.get("title") or "", attrs.get("alt") or ""]

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in in ("script", "style") and data.strip():
            self.inline.append(data)
        self.text.append(data)


def test_titles_file_names_and_words_with_markup_are_shown_as_the_text_they_are(walled):
    seen = ""
    for address in walled.addresses():
        response = walled.client.get(address)
        assert response.status_code == 200, address
        body = response.content.decode()
        page = _Page()
        page.feed(body)
        assert page.inline == [], address
        assert "<script>alert" not in body, address
        assert "<img src=x" not in body, address
        assert "49 annual" not in body, address
        seen += " ".join(page.text)
    assert "<script>alert(1)</script>" in seen  # it was really there, as text


def test_nothing_shown_turns_the_direction_of_text_or_holds_control_characters(walled):
    for address in walled.addresses():
        body = html.unescape(walled.client.get(address).content.decode())
        assert DANGEROUS.findall(body) == [], address


def test_such_characters_are_not_even_kept_in_names(walled):
    with walled.bank.scope():
        document = Document.objects.get(pk=walled.document.pk)
        version = DocumentVersion.objects.get(document=document)
        kept = [document.title, document.reference, version.file_name]
        documents.update_document(actor=None, document=document, title=f"Leave{BIDI}\n2024")
        assert Document.objects.get(pk=document.pk).title == "Leavegnp.exe 2024"
        documents.update_document(actor=None, document=document, title=kept[0])
    for name in kept:
        assert not DANGEROUS.search(name)
        assert "\n" not in name
    assert MARKUP in kept[0]


def test_the_api_gives_names_as_json_and_nothing_as_a_page(walled):
    for address in (
        "/v1/documents",
        f"/v1/answers/{walled.view.answer.pk}",
        f"/v1/sources/{walled.document.pk}/versions/1",
    ):
        response = walled.client.get(address)
        assert response["Content-Type"].startswith("application/json")
        assert MARKUP in json.dumps(response.json())
        check_headers(response)


@pytest.mark.parametrize(
    ("part", "content_type", "is_sandboxed"),
    [
        ("/text", "text/plain; charset=utf-8", True),
        ("/pages/1.png", "image/png", True),
        ("/file", "application/pdf", False),
    ],
)
def test_bytes_of_a_source_have_a_type_of_ours_and_cannot_act(
    walled, part, content_type, is_sandboxed
):
    response = walled.client.get(f"/v1/sources/{walled.document.pk}/versions/1{part}")
    assert (response.status_code, response["Content-Type"]) == (200, content_type)
    assert ("sandbox" in policy(response)) is is_sandboxed
    assert response["Cache-Control"] == "private, no-store"
    check_headers(response)
    if part == "/file":
        named = f'inline; filename="{walled.document.pk}-v1.pdf"'
        assert response["Content-Disposition"] == named


@pytest.mark.parametrize(
    "claimed",
    ["text/html", "image/svg+xml", "application/xhtml+xml", "text/plain", "x/y\r\nA: b", ""],
)
def test_a_file_of_another_type_is_only_ever_downloaded(walled, claimed):
    with walled.bank.scope():
        versions = DocumentVersion.objects.filter(document=walled.document)
        versions.update(media_type=claimed)
    try:
        response = walled.client.get(f"/v1/sources/{walled.document.pk}/versions/1/file")
    finally:
        with walled.bank.scope():
            versions.update(media_type="application/pdf")
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment; ")
    assert "sandbox" in policy(response)
    check_headers(response)


def test_cookies_are_kept_from_scripts_and_from_other_sites(walled):
    client = Client()
    client.get("/accounts/login/")
    signed_in = client.post(
        "/accounts/login/", {"login": walled.person.email, "password": PASSWORD}
    )
    session = signed_in.cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"] is True
    assert session["samesite"] == "Lax"
    assert session["domain"] == ""
    csrf = client.cookies[settings.CSRF_COOKIE_NAME]
    assert csrf["samesite"] == "Lax"
    assert csrf["domain"] == ""


WITH_HTTPS = """
import django
django.setup()
from django.conf import settings
from django.test import Client
settings.ALLOWED_HOSTS = ["testserver"]
plain = Client().get("/accounts/login/")
page = Client(headers={"x-forwarded-proto": "https"}).get("/accounts/login/")
print(plain.status_code, plain["Location"])
print(page["Strict-Transport-Security"])
print(settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE)
print(page.cookies[settings.CSRF_COOKIE_NAME]["secure"])
"""


def test_behind_https_cookies_are_secure_and_browsers_are_told_to_stay(database):
    run = subprocess.run(
        [sys.executable, "-c", WITH_HTTPS],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PRECEPT_HTTPS": "true",
            **{k: v for k, v in database.items() if k != "SUPERUSER_URL"},
        },
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    redirect, hsts, secure, cookie = run.stdout.splitlines()[-4:]
    assert redirect == "301 https://testserver/accounts/login/"
    assert int(hsts.partition("=")[2].partition(";")[0]) >= 31_536_000
    assert secure == "True True"
    assert cookie == "True"
