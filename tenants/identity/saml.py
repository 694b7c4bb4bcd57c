"""SAML 2.0 web browser sign-on, begun by us: request by redirect, answer by form (SAML profiles 4.1).

What is checked of an answer: one assertion, signed by a key of the provider's metadata (`saml_xml`);
its issuer; that it is about somebody who came to this address (recipient) after our request of this
browser session; audience; times with a minute of leeway; and that it was not used before. Nothing
outside the signed assertion is believed. An answer that nobody asked for is refused.
"""

import base64
import binascii
import secrets
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from lxml import etree

from .claims import LEEWAY_SECONDS, NOT_BELIEVED, Claims, Pending, ProviderFailed
from .models import IdentityProvider
from .saml_metadata import POST, Described, read_metadata
from .saml_xml import NAMES, children, name, parse, signed_assertion
from .services import use_up_assertion

_LEEWAY = timedelta(seconds=LEEWAY_SECONDS)
_MOST_CHARACTERS = 500_000
_BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
_TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
# Conditions that we keep by what we do; the standard has others make an assertion invalid.
_CONDITIONS = {
    name("saml:AudienceRestriction"),
    name("saml:OneTimeUse"),
    name("saml:ProxyRestriction"),
}


@dataclass(frozen=True, slots=True)
class Ours:
    """What we are called at one provider, and where its answers go."""

    entity_id: str
    answers_to: str


def begin(
    provider: IdentityProvider, *, ours: Ours, next_page: str = "", is_trial: bool = False
) -> tuple[str, str, Pending]:
    """(the provider's address to go to, state, what to remember). Raises ProviderFailed."""
    described = read_metadata(provider.saml_metadata)
    state = secrets.token_urlsafe(32)
    pending = Pending(
        provider=str(provider.pk),
        nonce=f"_{secrets.token_hex(20)}",  # an XML ID starts with no digit
        next=next_page,
        is_trial=is_trial,
    )
    request = zlib.compress(_request(described, ours, pending.nonce), wbits=-15)
    query = urlencode({"SAMLRequest": base64.b64encode(request).decode(), "RelayState": state})
    return f"{described.sign_on}{'&' if '?' in described.sign_on else '?'}{query}", state, pending


def _request(described: Described, ours: Ours, identifier: str) -> bytes:
    request = etree.Element(
        name("samlp:AuthnRequest"),
        ID=identifier,
        Version="2.0",
        IssueInstant=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        Destination=described.sign_on,
        ProtocolBinding=POST,
        AssertionConsumerServiceURL=ours.answers_to,
        nsmap={prefix: NAMES[prefix] for prefix in ("samlp", "saml")},
    )
    etree.SubElement(request, name("saml:Issuer")).text = ours.entity_id
    etree.SubElement(request, name("samlp:NameIDPolicy"), AllowCreate="true")
    return etree.tostring(request)


def finish(provider: IdentityProvider, pending: Pending, *, response: str, ours: Ours) -> Claims:
    """What the provider says of whoever comes back with `response`, the form's field.

    Uses the assertion up. Raises ProviderFailed.
    """
    root = parse(_decoded(response))
    if root.tag != name("samlp:Response"):
        raise ProviderFailed("malformed", NOT_BELIEVED)
    status = root.find("samlp:Status/samlp:StatusCode", NAMES)
    if status is None or status.get("Value") != _SUCCESS:
        raise ProviderFailed("declined", "Your organisation's sign-in was not completed.")
    assertion = signed_assertion(root, read_metadata(provider.saml_metadata).certificates)
    _require(assertion.get("Version") == "2.0", "version")
    _require(_text(assertion, "saml:Issuer") == provider.issuer, "issuer")
    now = datetime.now(UTC)
    _check_conditions(assertion, ours, now)
    expires = _confirmed_until(assertion, ours, pending, now)
    claims = _claims(provider, assertion)
    if not use_up_assertion(
        provider=provider, identifier=assertion.get("ID"), expires_at=expires + _LEEWAY
    ):
        raise ProviderFailed("assertion_replayed", NOT_BELIEVED)
    return claims


def _decoded(response: str) -> bytes:
    _require(0 < len(response) <= _MOST_CHARACTERS, "malformed", part="")
    try:
        return base64.b64decode("".join(response.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ProviderFailed("malformed", NOT_BELIEVED) from None


def _require(holds: bool, what: str, *, part: str = "assertion_") -> None:
    if not holds:
        raise ProviderFailed(f"{part}{what}", NOT_BELIEVED)


def _check_conditions(assertion: etree._Element, ours: Ours, now: datetime) -> None:
    found = children(assertion, "saml:Conditions")
    _require(len(found) == 1, "conditions")
    conditions = found[0]
    _require({one.tag for one in conditions} <= _CONDITIONS, "conditions")
    _in_time(conditions, now)
    restrictions = children(conditions, "saml:AudienceRestriction")
    _require(
        bool(restrictions)
        and all(ours.entity_id in _texts(one, "saml:Audience") for one in restrictions),
        "audience",
    )
    statements = children(assertion, "saml:AuthnStatement")
    _require(bool(statements), "statement")
    for statement in statements:
        ends = _time(statement, "SessionNotOnOrAfter")
        _require(ends is None or now - _LEEWAY < ends, "expired")


def _confirmed_until(
    assertion: etree._Element, ours: Ours, pending: Pending, now: datetime
) -> datetime:
    """Until when whoever bears the assertion to us, in answer to our request, is its subject."""
    found = assertion.findall("saml:Subject/saml:SubjectConfirmation", NAMES)
    bearers = [
        data
        for confirmation in found
        if confirmation.get("Method") == _BEARER
        for data in children(confirmation, "saml:SubjectConfirmationData")
    ]
    # One: with several, each check could be met by another one.
    _require(len(bearers) == 1, "subject")
    [data] = bearers
    _require(data.get("Recipient") == ours.answers_to, "recipient")
    _require(data.get("InResponseTo") == pending.nonce, "request")
    until = _time(data, "NotOnOrAfter")
    _require(until is not None, "expired")
    _in_time(data, now)
    return until


def _in_time(element: etree._Element, now: datetime) -> None:
    starts, ends = _time(element, "NotBefore"), _time(element, "NotOnOrAfter")
    _require(starts is None or starts <= now + _LEEWAY, "not_yet")
    _require(ends is None or now - _LEEWAY < ends, "expired")


def _time(element: etree._Element, attribute: str) -> datetime | None:
    value = element.get(attribute)
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value).astimezone(UTC) if value.endswith("Z") else _unclear()
    except (ValueError, OverflowError):
        return _unclear()


def _unclear() -> datetime:
    raise ProviderFailed("assertion_time", NOT_BELIEVED)


def _claims(provider: IdentityProvider, assertion: etree._Element) -> Claims:
    names = assertion.findall("saml:Subject/saml:NameID", NAMES)
    _require(len(names) == 1, "subject")
    # A transient name is another one at every sign-in: nobody could be found by it.
    _require(names[0].get("Format") != _TRANSIENT, "subject_transient")
    subject = _whole_text(names[0])
    _require(subject is not None and 0 < len(subject) <= 255, "subject")
    email = _one(assertion, provider.email_attribute)
    return Claims(
        subject=subject,
        email=email.lower(),
        email_verified=bool(email) and provider.confirms_addresses,
        name=_one(assertion, provider.name_attribute)[:200],
        groups=_groups(assertion, provider.groups_claim),
    )


def _attributes(assertion: etree._Element, wanted: str) -> list[etree._Element]:
    found = assertion.findall("saml:AttributeStatement/saml:Attribute", NAMES)
    return [one for one in found if wanted and one.get("Name") == wanted]


def _values(assertion: etree._Element, wanted: str) -> Iterator[str | None]:
    """None for a value that is not plain text."""
    for attribute in _attributes(assertion, wanted):
        for value in children(attribute, "saml:AttributeValue"):
            yield _whole_text(value)


def _one(assertion: etree._Element, wanted: str) -> str:
    """The only value, or nothing where there are several to choose from."""
    values = list(_values(assertion, wanted))
    return values[0] or "" if len(values) == 1 else ""


def _groups(assertion: etree._Element, wanted: str) -> frozenset[str] | None:
    """None where nothing, or nothing that could be read, was said."""
    if not _attributes(assertion, wanted):
        return None
    values = list(_values(assertion, wanted))
    if None in values:
        return None
    return frozenset(value for value in values if 0 < len(value) <= 300)


def _whole_text(element: etree._Element) -> str | None:
    return (element.text or "").strip() if len(element) == 0 else None


def _texts(element: etree._Element, short: str) -> list[str | None]:
    return [_whole_text(one) for one in children(element, short)]


def _text(element: etree._Element, short: str) -> str | None:
    texts = _texts(element, short)
    return texts[0] if len(texts) == 1 else None
