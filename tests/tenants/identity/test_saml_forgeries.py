"""Answers of a SAML provider that somebody has rebuilt: nothing but what was signed is ever read."""

from __future__ import annotations

import copy

import pytest
from lxml import etree

from tenants.identity.models import ExternalIdentity
from tests.fakes.saml_provider import NAMES, tag

from .conftest import arrived, refused


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (b"not XML at all", "malformed"),
        (b"<other/>", "malformed"),
        (b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>', "document_type"),
        (b'<!DOCTYPE r SYSTEM "http://127.0.0.1:1/evil.dtd"><r/>', "document_type"),
        # Declares what counts as an ID, and with it what a signature is about.
        (b"<!DOCTYPE r [<!ATTLIST r other ID #IMPLIED>]><r other='_1'/>", "document_type"),
        (b"<!DOCTYPE r [" + b"<!ENTITY a 'aaaa'>" + b"]><r>&a;</r>", "document_type"),
    ],
)
def test_document_types_and_what_is_no_answer_are_refused(saml_sign_in, document, code):
    saml_sign_in.saml.raw_response = document
    assert refused(saml_sign_in, saml_sign_in.sign_in(), code)


def _forged(signed: etree._Element) -> etree._Element:
    """The assertion with somebody else's name, a new ID, and no signature."""
    forged = copy.deepcopy(signed)
    forged.remove(forged.find(tag("ds:Signature")))
    forged.set("ID", "_forged")
    forged.find(".//saml:NameID", NAMES).text = "victim"
    return forged


def _before(response, signed):
    response.insert(response.index(signed), _forged(signed))


def _behind(response, signed):
    response.append(_forged(signed))


def _around(response, signed):
    """The forged one in its place, with the signed one inside."""
    forged = _forged(signed)
    response.replace(signed, forged)
    forged.append(signed)


def _around_in_signature(response, signed):
    """The forged one carries the signature, whose object is the signed one."""
    forged = _forged(signed)
    response.replace(signed, forged)
    signature = signed.find(tag("ds:Signature"))
    forged.insert(1, signature)
    etree.SubElement(signature, tag("ds:Object")).append(signed)


def _in_extensions(response, signed):
    """The signed one where nobody looks."""
    response.replace(signed, _forged(signed))
    extensions = etree.Element(tag("samlp:Extensions"))
    extensions.append(signed)
    response.insert(1, extensions)


def _in_a_response_inside(response, signed):
    """The original answer within a forged one."""
    original = copy.deepcopy(response)
    response.replace(signed, _forged(signed))
    response.append(original)


def _same_id(response, signed):
    forged = _forged(signed)
    forged.set("ID", signed.get("ID"))
    response.insert(0, forged)


def _reference_elsewhere(response, signed):
    """The forged one carries the signature; what it speaks of is elsewhere, under another name."""
    forged = _forged(signed)
    forged.insert(1, copy.deepcopy(signed.find(tag("ds:Signature"))))
    response.replace(signed, forged)
    kept = etree.SubElement(response, tag("samlp:Extensions"), ID=signed.get("ID"))
    kept.extend(list(signed))


def _reference_to_either(response, signed):
    """As before, and both have the ID."""
    _reference_elsewhere(response, signed)
    response.find(tag("saml:Assertion")).set("ID", response[-1].get("ID"))


def _signature_borrowed(response, signed):
    """The forged one's signature is one within it, of something else."""
    forged = _forged(signed)
    etree.SubElement(forged, tag("saml:Advice")).append(signed.find(tag("ds:Signature")))
    response.replace(signed, forged)


@pytest.mark.parametrize(
    ("wrap", "code"),
    [
        (_before, "assertions"),
        (_behind, "assertions"),
        (_around, "assertions"),
        (_around_in_signature, "assertions"),
        (_in_extensions, "assertions"),
        (_in_a_response_inside, "assertions"),
        (_same_id, "assertions"),
        (_reference_elsewhere, "signature_reference"),
        (_reference_to_either, "identifiers"),
        (_signature_borrowed, "signature_place"),
    ],
)
def test_a_signed_assertion_does_not_vouch_for_a_forged_one_beside_it(saml_sign_in, wrap, code):
    saml_sign_in.saml.after_signing = lambda response: wrap(
        response, response.find(tag("saml:Assertion"))
    )
    assert refused(saml_sign_in, saml_sign_in.sign_in(), code)


def test_a_comment_cuts_no_name_short(saml_sign_in):
    """Comments are not signed: `victim<!-- -->-not` must not become `victim`."""

    def comment(response):
        name = response.find(".//saml:NameID", NAMES)
        name.text = "victim"
        name.insert(0, etree.Comment("x"))
        name[0].tail = "-not"

    saml_sign_in.saml.after_signing = comment
    assert arrived(saml_sign_in.sign_in(sub="victim-not"))
    with saml_sign_in.bank.scope():
        assert ExternalIdentity.objects.get().subject == "victim-not"
