"""Chromium against a server on a real port, in this process so that tests can hold parts up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, sync_playwright

from tests.bank import Bank
from tests.browser.visitor import Visitor

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

LEAVE = (
    "3. Carry-over\nUp to 5 days of annual leave may be carried over into the next calendar year. "
    "Carried days lapse on 31 March."
)
ALLOWANCE = "Annual leave policy\nAnnual leave allowance is 25 days for every full-time employee."
LEAVE_QUESTION = "How many days of annual leave may be carried over?"


@pytest.fixture(scope="session")
def site(database) -> Iterator[str]:
    """The address of the running site."""
    server = LiveServerThread("localhost", static_handler=lambda application: application)
    server.daemon = True
    server.start()
    server.is_ready.wait()
    if server.error:
        raise server.error
    yield f"http://localhost:{server.port}"
    server.terminate()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain("Chromium is not installed; as root: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(site: str, chromium: Browser) -> Iterator[Callable[..., Visitor]]:
    """Open a browser window of one's own; at the end, nothing may have broken the page's policy."""
    visitors = []

    def open_window(**options) -> Visitor:
        visitors.append(Visitor.arrive(chromium, site, **options))
        return visitors[-1]

    yield open_window
    for visitor in visitors:
        visitor.leave()
    for visitor in visitors:
        assert visitor.complaints == []


@pytest.fixture
def visitor(visit) -> Visitor:
    return visit()


@pytest.fixture
def reader(bank: Bank):
    """A person who may read a leave policy of two pages."""
    person = bank.person("Emma")
    bank.document(
        "Annual leave policy", [ALLOWANCE, LEAVE], readers=[person], reference="HR-2024-003"
    )
    return person
