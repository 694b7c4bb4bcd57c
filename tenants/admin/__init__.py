"""Administration of people, groups, departments, tokens, and the tenant's policies."""

from . import groups, organisation, people, tokens

__all__ = ["groups", "organisation", "people", "tokens"]
