"""What an identity provider has said about who is at the door."""

import time
from dataclasses import asdict, dataclass, field

LEEWAY_SECONDS = 60  # how far a provider's clock may be off
NOT_BELIEVED = "The answer of your organisation's sign-in could not be verified. Try again."


class ProviderFailed(Exception):
    """The provider could not be asked, or what it said cannot be believed. Nobody is signed in.

    `code` is stable and goes into the audit record; the message is for the person and names nothing
    but what they can do.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Claims:
    """`groups` is None when nothing was said about groups: unknown, which is not the same as none."""

    subject: str
    email: str = ""
    email_verified: bool = False
    name: str = ""
    groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """What a browser's session remembers between leaving for a provider and coming back.

    `nonce` has to come back inside what the provider signs: OpenID's nonce, SAML's request ID.
    """

    provider: str
    nonce: str
    verifier: str = ""
    next: str = ""
    is_trial: bool = False
    began: float = field(default_factory=time.time)

    def to_session(self) -> dict[str, object]:
        return asdict(self)
