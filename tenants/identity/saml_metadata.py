"""How SAML parties describe themselves: what we read of a provider's metadata, and our own."""

import base64
import binascii
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree

from .claims import ProviderFailed
from .saml_xml import NAMES, children, name, parse

REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
PROTOCOL = NAMES["samlp"]


@dataclass(frozen=True, slots=True)
class Described:
    """A provider: its entity ID, where browsers are sent, and its signing certificates as PEM."""

    entity_id: str
    sign_on: str
    certificates: tuple[bytes, ...]


def read_metadata(text: str) -> Described:
    """Raises ProviderFailed, saying what is missing."""
    try:
        root = parse(text.strip().encode())
    except ProviderFailed:
        raise ProviderFailed("metadata", "The metadata is not plain XML.") from None
    described = [
        (entity, role)
        for entity in root.iter(name("md:EntityDescriptor"))
        for role in children(entity, "md:IDPSSODescriptor")
        if PROTOCOL in role.get("protocolSupportEnumeration", "").split()
    ]
    if len(described) != 1:
        raise ProviderFailed(
            "metadata",
            f"The metadata describes {len(described)} SAML 2.0 providers instead of one.",
        )
    entity, role = described[0]
    entity_id = entity.get("entityID", "")
    if not 0 < len(entity_id) <= 300:
        raise ProviderFailed("metadata", "The metadata has no entityID of at most 300 characters.")
    sign_on = [
        service.get("Location", "")
        for service in children(role, "md:SingleSignOnService")
        if service.get("Binding") == REDIRECT
    ]
    if not sign_on or not sign_on[0].startswith(("https://", "http://")):
        raise ProviderFailed(
            "metadata", "The metadata has no SingleSignOnService with the HTTP-Redirect binding."
        )
    certificates = tuple(
        _pem(certificate.text or "")
        for key in children(role, "md:KeyDescriptor")
        if key.get("use", "signing") == "signing"
        for certificate in key.iter(name("ds:X509Certificate"))
    )
    if not certificates:
        raise ProviderFailed("metadata", "The metadata has no signing certificate.")
    return Described(entity_id, sign_on[0], certificates)


def _pem(text: str) -> bytes:
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode("".join(text.split())))
    except (ValueError, binascii.Error):
        raise ProviderFailed("metadata", "A certificate in the metadata cannot be read.") from None
    return certificate.public_bytes(Encoding.PEM)


def our_metadata(*, entity_id: str, answers_to: str) -> bytes:
    """What is registered at the provider."""
    entity = etree.Element(
        name("md:EntityDescriptor"), entityID=entity_id, nsmap={None: NAMES["md"]}
    )
    role = etree.SubElement(
        entity,
        name("md:SPSSODescriptor"),
        protocolSupportEnumeration=PROTOCOL,
        AuthnRequestsSigned="false",
        WantAssertionsSigned="true",
    )
    etree.SubElement(
        role,
        name("md:AssertionConsumerService"),
        Binding=POST,
        Location=answers_to,
        index="0",
        isDefault="true",
    )
    return etree.tostring(entity, xml_declaration=True, encoding="UTF-8")
