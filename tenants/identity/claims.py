"""What an identity provider has said about who is at the door."""

from dataclasses import dataclass


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
