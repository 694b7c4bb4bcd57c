"""Requests to addresses that an administrator has entered: only to where they may go, and bounded."""

import ipaddress
import socket
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from .claims import ProviderFailed

_TIMEOUT_SECONDS = 10
_MOST_BYTES = 1_000_000


def check_address(url: str) -> None:
    """Raises ProviderFailed for an address that Precept does not call.

    Addresses of this machine and of the link it hangs on are refused: an administrator of one
    tenant could otherwise ask what runs beside Precept. Private networks are allowed, since banks
    run their providers there.
    """
    parts = urlsplit(url)
    loopback = settings.LOOPBACK_PROVIDERS
    if not parts.hostname or parts.scheme not in ({"https", "http"} if loopback else {"https"}):
        raise ProviderFailed("address", f"{url} is not an https:// address.")
    try:
        found = {item[4][0] for item in socket.getaddrinfo(parts.hostname, parts.port or 443)}
    except OSError:
        raise ProviderFailed("unreachable", f"{parts.hostname} cannot be found.") from None
    for one in map(ipaddress.ip_address, found):
        here = one.is_loopback and not loopback
        if here or one.is_link_local or one.is_multicast or one.is_unspecified:
            raise ProviderFailed("address", f"{parts.hostname} is not an address Precept calls.")


def get_json(url: str, *, token: str = "") -> dict:
    """Raises ProviderFailed."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return _json("GET", url, headers=headers)


def post_form(url: str, data: dict[str, str], *, auth: tuple[str, str] | None = None) -> dict:
    """Raises ProviderFailed."""
    return _json("POST", url, data=data, auth=auth)


def get_bytes(url: str) -> bytes:
    """Raises ProviderFailed."""
    return _ask("GET", url)


def _json(method: str, url: str, **options) -> dict:
    body, host = _ask(method, url, **options), urlsplit(url).hostname
    try:
        said = httpx.Response(200, content=body).json()
    except ValueError:
        raise ProviderFailed("not_json", f"{host} did not answer in JSON.") from None
    if not isinstance(said, dict):
        raise ProviderFailed("not_json", f"{host} did not answer with an object.")
    return said


def _ask(method: str, url: str, **options) -> bytes:
    check_address(url)
    host = urlsplit(url).hostname
    try:
        with (
            httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=False) as client,
            client.stream(method, url, **options) as response,
        ):
            body = b""
            for part in response.iter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise ProviderFailed("too_much", f"{host} answered with too much.")
    except (httpx.HTTPError, httpx.InvalidURL):
        raise ProviderFailed("unreachable", f"{host} did not answer.") from None
    if response.status_code != 200:
        raise ProviderFailed("status", f"{host} answered with status {response.status_code}.")
    return body
