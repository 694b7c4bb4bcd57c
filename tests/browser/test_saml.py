"""A SAML provider's page sends its form to us from another site, as browsers do it."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.fakes.saml_provider import FakeSamlProvider
from tests.tenants.identity.conftest import register_saml

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scripts", [True, False])
def test_who_comes_back_from_another_site_is_signed_in(bank, settings, visit, scripts):
    settings.LOOPBACK_PROVIDERS = True
    with FakeSamlProvider() as saml:  # on 127.0.0.1, which is another site than localhost
        registered = register_saml(bank, saml)
        saml.person = registered.claims()
        visitor = visit(java_script_enabled=scripts)
        visitor.open(f"/sign-in/{registered.provider.pk}/")
        assert urlsplit(visitor.page.url).hostname == "127.0.0.1"
        visitor.page.get_by_role("button", name="Back").click()
        if not scripts:
            visitor.page.get_by_role("button", name="Continue to Precept").click()
        expect(visitor.page.get_by_role("heading", name="Ask a policy question")).to_be_visible()
