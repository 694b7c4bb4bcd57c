"""A SAML identity provider on loopback for tests: metadata, and signed answers to requests.

It signs honestly unless told otherwise. `authorise(url)` does what a browser does at the provider: it
returns the address to send the form to, and the form's fields::

    with FakeSamlProvider() as provider:
        provider.person = {"sub": "7", "email": "emma@bank.example", "groups": ["Risk"]}
        provider.assertion_changes = {"audience": "somebody-else"}
        address, form = provider.authorise(there)

`before_signing` and `after_signing` are given the response's element to do worse things to.
"""

from __future__ import annotations

import secrets
import threading
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from lxml import etree

NAMES = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"


def _key_and_certificate() -> tuple[bytes, x509.Certificate]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "idp.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return pem, certificate


# Made once: keys take a while.
_KEY, _CERTIFICATE = _key_and_certificate()
_OTHER_KEY, _ = _key_and_certificate()


def at(**ago) -> str:
    """`at(minutes=5)` is five minutes from now."""
    return f"{datetime.now(UTC) + timedelta(**ago):%Y-%m-%dT%H:%M:%SZ}"


def tag(short: str) -> str:
    prefix, _, local = short.partition(":")
    return f"{{{NAMES[prefix]}}}{local}"


class FakeSamlProvider:
    def __init__(self) -> None:
        self.person: dict[str, object] = {}
        self.assertion_changes: dict[str, str | None] = {}
        self.status = SUCCESS
        self.wrong_key = False
        self.signature_method = xmlsec.Transform.RSA_SHA256
        self.digest_method = xmlsec.Transform.SHA256
        self.signs = "assertion"  # or "response", or ""
        self.before_signing: Callable[[etree._Element], None] = lambda response: None
        self.after_signing: Callable[[etree._Element], None] = lambda response: None
        self.raw_response = b""
        self.raw_metadata = ""
        self.calls: list[str] = []

    def __enter__(self) -> FakeSamlProvider:
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.entity_id = f"urn:example:idp:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception) -> None:
        self._server.shutdown()
        self._server.server_close()

    def metadata(self) -> str:
        der = _CERTIFICATE.public_bytes(serialization.Encoding.DER)
        return (
            self.raw_metadata
            or f"""<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{self.entity_id}">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>
      <X509Certificate>{b64encode(der).decode()}</X509Certificate>
    </X509Data></KeyInfo></KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
      Location="{self.address}/sign-on"/>
  </IDPSSODescriptor>
</EntityDescriptor>"""
        )

    def authorise(self, url: str) -> tuple[str, dict[str, str]]:
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        request = etree.fromstring(zlib.decompress(b64decode(query["SAMLRequest"]), wbits=-15))
        assert request.get("Destination") == f"{self.address}/sign-on"
        answer = self.raw_response or etree.tostring(self.response(request))
        form = {"SAMLResponse": b64encode(answer).decode(), "RelayState": query["RelayState"]}
        return request.get("AssertionConsumerServiceURL"), form

    def response(self, request: etree._Element) -> etree._Element:
        recipient = request.get("AssertionConsumerServiceURL")
        said = {
            "id": f"_{secrets.token_hex(16)}",
            "issuer": self.entity_id,
            "request": request.get("ID"),
            "recipient": recipient,
            "audience": request.findtext("saml:Issuer", namespaces=NAMES),
            "format": UNSPECIFIED,
            "method": BEARER,
            "not_before": at(minutes=-1),
            "not_on_or_after": at(minutes=5),
            "confirmed_until": at(minutes=5),
        } | self.assertion_changes
        response = etree.Element(
            tag("samlp:Response"),
            ID=f"_{secrets.token_hex(16)}",
            Version="2.0",
            IssueInstant=at(),
            InResponseTo=request.get("ID"),
            Destination=recipient,
            nsmap={prefix: NAMES[prefix] for prefix in ("samlp", "saml")},
        )
        _add(response, "saml:Issuer", self.entity_id)
        _add(_add(response, "samlp:Status"), "samlp:StatusCode", Value=self.status)
        if self.status == SUCCESS:
            self._assert(response, said)
        self.before_signing(response)
        if self.signs:
            target = response if self.signs == "response" else response.find(tag("saml:Assertion"))
            if target is not None:
                self.sign(target)
        self.after_signing(response)
        return response

    def _assert(self, response: etree._Element, said: dict[str, str | None]) -> None:
        assertion = _add(
            response, "saml:Assertion", ID=said["id"], Version="2.0", IssueInstant=at()
        )
        _add(assertion, "saml:Issuer", said["issuer"])
        subject = _add(assertion, "saml:Subject")
        if "sub" in self.person:
            _add(subject, "saml:NameID", self.person["sub"], Format=said["format"])
        confirmation = _add(subject, "saml:SubjectConfirmation", Method=said["method"])
        _add(
            confirmation,
            "saml:SubjectConfirmationData",
            Recipient=said["recipient"],
            InResponseTo=said["request"],
            NotOnOrAfter=said["confirmed_until"],
        )
        conditions = _add(
            assertion,
            "saml:Conditions",
            NotBefore=said["not_before"],
            NotOnOrAfter=said["not_on_or_after"],
        )
        if said["audience"] is not None:
            restriction = _add(conditions, "saml:AudienceRestriction")
            _add(restriction, "saml:Audience", said["audience"])
        statement = _add(assertion, "saml:AuthnStatement", AuthnInstant=at())
        context = _add(statement, "saml:AuthnContext")
        _add(
            context, "saml:AuthnContextClassRef", "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"
        )
        attributes = _add(assertion, "saml:AttributeStatement")
        for name, value in self.person.items():
            if name != "sub":
                attribute = _add(attributes, "saml:Attribute", Name=name)
                for one in value if isinstance(value, list) else [value]:
                    _add(attribute, "saml:AttributeValue", one)

    def sign(self, element: etree._Element) -> etree._Element:
        """Sign the element as it is; the signature goes behind its issuer."""
        signature = xmlsec.template.create(
            element, xmlsec.Transform.EXCL_C14N, self.signature_method, ns="ds"
        )
        element.insert(1, signature)
        reference = xmlsec.template.add_reference(
            signature, self.digest_method, uri=f"#{element.get('ID')}"
        )
        xmlsec.template.add_transform(reference, xmlsec.Transform.ENVELOPED)
        xmlsec.template.add_transform(reference, xmlsec.Transform.EXCL_C14N)
        context = xmlsec.SignatureContext()
        key = _OTHER_KEY if self.wrong_key else _KEY
        context.key = xmlsec.Key.from_memory(key, xmlsec.KeyFormat.PEM)
        context.register_id(element, "ID")
        context.sign(signature)
        return signature


def _add(parent: etree._Element, short: str, text: object = None, **attributes) -> etree._Element:
    """An attribute that is None is left out."""
    given = {name: value for name, value in attributes.items() if value is not None}
    child = etree.SubElement(parent, tag(short), **given)
    if text is not None:
        child.text = str(text)
    return child


class _Handler(BaseHTTPRequestHandler):
    provider: FakeSamlProvider

    def log_message(self, *args) -> None:
        pass

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.provider.calls.append(path)
        if path == "/sign-on":
            kind, body = "text/html", self._form(*self.provider.authorise(self.path)).encode()
        else:
            kind, body = "application/samlmetadata+xml", self.provider.metadata().encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def _form(address: str, fields: dict[str, str]) -> str:
        hidden = "".join(
            f'<input type="hidden" name="{name}" value="{value}">' for name, value in fields.items()
        )
        return f'<form method="post" action="{address}">{hidden}<button>Back</button></form>'
