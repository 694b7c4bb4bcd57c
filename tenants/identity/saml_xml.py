"""XML of SAML: read without entities, and only what a provider's key has signed.

The signature itself is libxmlsec's work. What is done here is to leave it nothing to be fooled with:
one assertion in one place, one signature in it over all of it, no algorithm that we have not named.
Readers get the signed bytes parsed anew, so that nothing beside them can be taken for them.
"""

from collections.abc import Iterable

import xmlsec
from lxml import etree

from .claims import NOT_BELIEVED, ProviderFailed

NAMES = {
    "md": "urn:oasis:names:tc:SAML:2.0:metadata",
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
_EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
_TRANSFORMS = ["http://www.w3.org/2000/09/xmldsig#enveloped-signature", _EXCLUSIVE]
# No SHA-1, and nothing symmetric: a certificate is public and would be the key.
_SIGNATURES = {
    f"http://www.w3.org/2001/04/xmldsig-more#{kind}-sha{size}"
    for kind in ("rsa", "ecdsa")
    for size in (256, 384, 512)
}
_DIGESTS = {
    "http://www.w3.org/2001/04/xmlenc#sha256",
    "http://www.w3.org/2001/04/xmldsig-more#sha384",
    "http://www.w3.org/2001/04/xmlenc#sha512",
}


def name(short: str) -> str:
    """`saml:Issuer` as lxml writes it."""
    prefix, _, local = short.partition(":")
    return f"{{{NAMES[prefix]}}}{local}"


def children(element: etree._Element, short: str) -> list[etree._Element]:
    return element.findall(name(short))


def parse(document: bytes) -> etree._Element:
    """Raises ProviderFailed for what is not XML, and for any document type: it could name entities,
    here or elsewhere, and declare which attributes are IDs."""
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_pis=True
    )
    try:
        root = etree.fromstring(document, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise ProviderFailed("malformed", NOT_BELIEVED) from None
    if root.getroottree().docinfo.doctype:
        raise ProviderFailed("document_type", NOT_BELIEVED)
    return root


def signed_assertion(response: etree._Element, certificates: Iterable[bytes]) -> etree._Element:
    """The one assertion of a response, from the bytes that one of the certificates' keys has signed.

    `certificates` are PEM. Raises ProviderFailed.
    """
    if next(response.iter(name("saml:EncryptedAssertion")), None) is not None:
        raise ProviderFailed("encrypted", NOT_BELIEVED)
    found = list(response.iter(name("saml:Assertion")))
    if len(found) != 1 or found[0].getparent() is not response:
        raise ProviderFailed("assertions", NOT_BELIEVED)
    assertion = found[0]
    identifiers = [one.get("ID") for one in response.iter(etree.Element) if one.get("ID")]
    if not assertion.get("ID") or len(identifiers) != len(set(identifiers)):
        raise ProviderFailed("identifiers", NOT_BELIEVED)
    signature = _only_signature(assertion)
    if not any(_verifies(assertion, signature, certificate) for certificate in certificates):
        raise ProviderFailed("signature", NOT_BELIEVED)
    assertion.remove(signature)
    # What the signature's transforms left of it; comments are gone, so they cut no text in two.
    return parse(etree.tostring(assertion, method="c14n", exclusive=True, with_comments=False))


def _only_signature(assertion: etree._Element) -> etree._Element:
    signatures = list(assertion.iter(name("ds:Signature")))
    if not signatures:
        raise ProviderFailed("unsigned", NOT_BELIEVED)
    signature = signatures[0]
    if len(signatures) != 1 or signature.getparent() is not assertion:
        raise ProviderFailed("signature_place", NOT_BELIEVED)
    signed_info = children(signature, "ds:SignedInfo")
    references = list(signature.iter(name("ds:Reference")))
    if (
        len(signed_info) != 1
        or len(references) != 1
        or references[0].getparent() is not signed_info[0]
        or references[0].get("URI") != f"#{assertion.get('ID')}"
        or children(signature, "ds:Object")
    ):
        raise ProviderFailed("signature_reference", NOT_BELIEVED)
    if (
        _algorithms(signature, "ds:SignatureMethod", _SIGNATURES) != 1
        or _algorithms(signature, "ds:DigestMethod", _DIGESTS) != 1
        or _algorithms(signature, "ds:CanonicalizationMethod", {_EXCLUSIVE}) != 1
        or [one.get("Algorithm") for one in signature.iter(name("ds:Transform"))] != _TRANSFORMS
    ):
        raise ProviderFailed("signature_algorithm", NOT_BELIEVED)
    return signature


def _algorithms(signature: etree._Element, short: str, allowed: set[str]) -> int:
    """How many there are, or -1 where one is not allowed."""
    found = [one.get("Algorithm") for one in signature.iter(name(short))]
    return len(found) if set(found) <= allowed else -1


def _verifies(assertion: etree._Element, signature: etree._Element, certificate: bytes) -> bool:
    context = xmlsec.SignatureContext()
    try:
        # The key is the metadata's; what the signature says of keys is not looked at.
        context.key = xmlsec.Key.from_memory(certificate, xmlsec.KeyFormat.CERT_PEM)
        context.register_id(assertion, "ID")
        context.verify(signature)
    except xmlsec.Error:
        return False
    return True
