"""How the authority says no."""

from collections.abc import Mapping


class SourcesChanged(Exception):
    """Something the attempt relies on is no longer eligible; start again from retrieval.

    `counted_out` says why, as {kind: number}.
    """

    def __init__(self, counted_out: Mapping[str, int] | None = None):
        super().__init__()
        self.counted_out = dict(counted_out or {})


class AuthorityUnavailable(Exception):
    """The authority could not decide. Never taken for a yes or for nothing."""


class PermitRefused(Exception):
    """A permit was shown for something it was not made for. Only a fault or an attack does that."""
