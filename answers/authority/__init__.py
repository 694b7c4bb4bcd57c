"""Decides, atomically and at the primary, who may receive text now: admission and release."""

from .admission import Admission, admit
from .errors import AuthorityUnavailable, PermitRefused, SourcesChanged
from .releasing import Release, consume, release

__all__ = [
    "Admission",
    "AuthorityUnavailable",
    "PermitRefused",
    "Release",
    "SourcesChanged",
    "admit",
    "consume",
    "release",
]
