"""The library's conformance tester against the endpoint, over HTTP, with addresses that may be had here."""

import uuid
from typing import Annotated

import httpx
import pytest
from django.test.testcases import LiveServerThread
from pydantic import Field
from scim2_client.client import BaseSyncSCIMClient
from scim2_models import Email, Required, ScimProvider, Uniqueness
from scim2_tester import Status, check_server

from tenants.provisioning import resources

# An account is open or not: there is no third state that removing the attribute could leave.
KNOWN = {"PATCH modify() did not remove attribute 'active'"}


class HttpClient(BaseSyncSCIMClient):
    """Over the client library that the product uses anyway."""

    def __init__(self, client: httpx.Client, **options):
        super().__init__(**options)
        self.client = client

    def request(self, method: str, url: str, **options) -> httpx.Response:
        return self.client.request(method, url, **options)

    def _stays_under_base_url(self, endpoint: str) -> bool:
        return str(self.client.build_request("GET", endpoint).url).startswith(
            str(self.client.base_url)
        )

    def _parse_json(self, response: httpx.Response) -> object:
        return response.json()


@pytest.fixture
def site(database):
    server = LiveServerThread("127.0.0.1", static_handler=lambda application: application)
    server.daemon = True
    server.start()
    server.is_ready.wait()
    assert server.error is None
    yield f"http://127.0.0.1:{server.port}"
    server.terminate()


class FreshAddresses(list):
    """Whichever is drawn, it is a new one of the domain."""

    def __getitem__(self, _: int) -> str:
        return f"{uuid.uuid4().hex}@{super().__getitem__(0)}"


def described(domain: str) -> ScimProvider:
    """What the endpoint serves, with examples that the tester then draws from."""
    addresses = FreshAddresses([domain])

    class Address(Email):
        value: str | None = Field(None, examples=addresses)

    class User(resources.User):
        user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(
            None, examples=addresses
        )
        emails: list[Address] | None = None

    return ScimProvider(models=[User, resources.Group])


def test_the_endpoint_conforms(site, directory):
    headers = {"Authorization": f"Bearer {directory.token}"}
    with httpx.Client(base_url=f"{site}/scim/v2", headers=headers, timeout=60) as http:
        results = check_server(HttpClient(http, provider=described(directory.domain)))
    failed = [
        f"{one.title}: {one.reason}"
        for one in results
        if one.reason not in KNOWN
        and one.status not in (Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED)
    ]
    assert not failed, "\n".join(failed)
    assert sum(one.status == Status.SUCCESS for one in results) > 60
