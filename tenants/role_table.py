"""Who may do what in the administration, read from the pages themselves: shown is what is enforced."""

from collections.abc import Iterable
from dataclasses import dataclass

from .models import Role

STAFF_ROLES = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN, Role.REVIEWER, Role.AUDITOR)
# In the order people come to do them: what a page's attribute lets a role do.
ABILITIES = (
    ("view_roles", "see"),
    ("change_roles", "change"),
    ("add_roles", "add"),
    ("delete_roles", "delete"),
)
NOTES = {
    Role.TENANT_ADMIN: "Administers the whole organisation. Administering is not reading: this role "
    "reads no document without a grant.",
    Role.DEPARTMENT_ADMIN: "Documents and their grants of the own department, and nothing of another.",
    Role.REVIEWER: "Judges answers and keeps cases, within what the person may read.",
    Role.AUDITOR: "Reads the record, explanations, reports and metadata. Grants and changes nothing.",
    Role.EMPLOYEE: "Everybody: asks, reads what was granted, gives feedback. Opens no page here.",
}


@dataclass(frozen=True, slots=True)
class PageRights:
    """`can`: for each of STAFF_ROLES, in order, what it may do; empty: the page is closed to it."""

    name: str
    can: tuple[tuple[str, ...], ...]


def role_table(pages: Iterable[object]) -> list[PageRights]:
    """One row a page. Changing and adding include seeing."""
    return [
        PageRights(page.page_name, tuple(_abilities(page, role) for role in STAFF_ROLES))
        for page in pages
    ]


def _abilities(page: object, role: Role) -> tuple[str, ...]:
    held = [word for attribute, word in ABILITIES if role in {*getattr(page, attribute, ())}]
    return tuple(held if not held or held[0] == "see" else ["see", *held])
