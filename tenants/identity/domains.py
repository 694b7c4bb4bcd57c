"""Showing that an e-mail domain is one's own: a TXT record that only its owner can publish."""

import re

import dns.exception
import dns.resolver
from django.conf import settings
from django.core.exceptions import ValidationError

RECORD = "_precept-proof"
_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")
_SECONDS = 5


def check_domain_name(domain: str) -> str:
    """The domain in lower case and ASCII. Raises ValidationError for anything else."""
    try:
        name = domain.strip().lower().rstrip(".").encode("idna").decode()
    except UnicodeError:
        name = ""
    if len(name) > 253 or not _DOMAIN.fullmatch(name):
        raise ValidationError("Write a domain such as bank.example, without @.")
    return name


def record_to_publish(domain: str, proof: str) -> tuple[str, str]:
    """(name, content) of the TXT record."""
    return f"{RECORD}.{domain}", f"precept={proof}"


def proof_is_published(domain: str, proof: str) -> bool:
    name, wanted = record_to_publish(domain, proof)
    try:
        answer = _resolver().resolve(name, "TXT", lifetime=_SECONDS)
    except dns.exception.DNSException:
        return False
    return any(b"".join(row.strings) == wanted.encode() for row in answer)


def _resolver() -> dns.resolver.Resolver:
    if not settings.DNS_SERVER:
        return dns.resolver.Resolver()
    address, _, port = settings.DNS_SERVER.rpartition(":")
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers, resolver.port = [address], int(port)
    return resolver
