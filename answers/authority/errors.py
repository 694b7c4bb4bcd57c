"""How the authority says no."""


class SourcesChanged(Exception):
    """Something the attempt relies on is no longer eligible; start again from retrieval."""


class AuthorityUnavailable(Exception):
    """The authority could not decide. Never taken for a yes or for nothing."""
