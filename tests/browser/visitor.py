"""A person at a browser: what they do, in their words."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urljoin

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tenants.models import User
from tests.bank import PASSWORD

DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 740}
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Visitor:
    site: str
    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def arrive(cls, browser: Browser, site: str, **options) -> Visitor:
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(PATIENCE_MS)
        visitor = cls(site=site, context=context, page=context.new_page())
        visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        visitor.page.on("console", visitor._hear)
        visitor.page.on("response", visitor._look)
        return visitor

    def _hear(self, message) -> None:
        if "Content Security Policy" in message.text:
            self.complaints.append(message.text)

    def _look(self, response) -> None:
        if response.status >= 400 and "/static/" in response.url:
            self.complaints.append(f"{response.status} {response.url}")

    def leave(self) -> None:
        self.context.close()

    def open(self, path: str):
        return self.page.goto(urljoin(self.site, path))

    def sign_in(self, user: User) -> Visitor:
        self.open("/accounts/login/")
        self.page.get_by_label("E-mail address").fill(user.email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("heading", name="Ask a policy question")).to_be_visible()
        self.page.wait_for_load_state()  # scripts are part of it
        return self

    def type_question(self, question: str) -> None:
        self.page.get_by_label("Your question").fill(question)

    def ask(self, question: str) -> Locator:
        """Type a question, press Enter, and wait for what comes of it."""
        self.type_question(question)
        self.page.get_by_label("Your question").press("Enter")
        expect(self.result).to_be_visible()
        return self.result

    @property
    def result(self) -> Locator:
        return self.page.get_by_role("article")

    def scrolls_sideways(self) -> bool:
        return self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )

    def accessibility_faults(self) -> list[str]:
        """Serious and critical violations that axe finds on this page."""
        assert self.complaints == []  # axe itself trips over the policy; what it causes is dropped
        found = Axe().run(self.page).response["violations"]
        self.complaints.clear()
        return [
            f"{fault['id']}: {node['html']}"
            for fault in found
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]
