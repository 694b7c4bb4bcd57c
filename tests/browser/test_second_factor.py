"""Setting up a second factor and signing in with it, in a browser, within the page's policy."""

from __future__ import annotations

import time

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import expect

from tests.bank import PASSWORD

pytestmark = pytest.mark.browser


def confirm(visitor) -> None:
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.page.get_by_role("button", name="Continue").click()


def sign_in_as_far_as_the_second_step(visitor, user) -> None:
    visitor.open("/accounts/login/")
    visitor.page.get_by_label("E-mail address").fill(user.email)
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(visitor.page.get_by_role("heading", name="Show your second factor")).to_be_visible()


def test_an_app_is_set_up_and_asked_for(visit, reader):
    visitor = visit()
    visitor.sign_in(reader)
    visitor.page.get_by_role("link", name="Second factor").click()
    visitor.page.get_by_role("link", name="Set up an app").click()
    confirm(visitor)
    secret = visitor.page.locator("#totp_secret").inner_text()
    step = int(time.time()) // 30
    visitor.page.get_by_label("The code that the app shows").fill(
        format_hotp_value(hotp_value(secret, step))
    )
    assert visitor.accessibility_faults() == []
    visitor.page.get_by_role("button", name="Use this app").click()
    expect(visitor.page.locator("#recovery_codes li")).to_have_count(10)

    again = visit()
    sign_in_as_far_as_the_second_step(again, reader)
    assert again.accessibility_faults() == []
    again.page.get_by_label("Code from your app").fill(
        format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    )
    again.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(again.page.get_by_role("heading", name="Ask a policy question")).to_be_visible()


def test_a_passkey_is_added_and_asked_for(visitor, reader):
    devices = visitor.context.new_cdp_session(visitor.page)
    devices.send("WebAuthn.enable")
    devices.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    visitor.sign_in(reader)
    visitor.open("/accounts/second-factor/")
    visitor.page.get_by_role("link", name="Add a passkey").click()
    confirm(visitor)
    visitor.page.get_by_label("What you call it").fill("Laptop")
    visitor.page.get_by_role("button", name="Add it").click()
    expect(visitor.page.locator("#recovery_codes li")).to_have_count(10)
    visitor.open("/accounts/second-factor/")
    expect(visitor.page.get_by_text("Laptop").first).to_be_visible()
    visitor.page.get_by_role("button", name="Sign out").click()

    sign_in_as_far_as_the_second_step(visitor, reader)
    visitor.page.get_by_role("button", name="Use a passkey").click()
    expect(visitor.page.get_by_role("heading", name="Ask a policy question")).to_be_visible()
