"""The help page says who may do what, and each of its cells is what the page does."""

import pytest
from django.contrib import admin
from django.urls import reverse

from tenants.models import Role
from tenants.role_table import STAFF_ROLES, role_table
from tests.admin_pages import signed_in


def holder(bank, role: Role):
    held = (role, "Human Resources") if role == Role.DEPARTMENT_ADMIN else role
    return bank.person(str(role), roles=[held])


@pytest.mark.parametrize("place", range(len(STAFF_ROLES)))
def test_every_cell_is_what_the_page_lets_that_role_do(bank, rf, place):
    request = rf.get("/")
    request.user = holder(bank, STAFF_ROLES[place])
    pages = list(admin.site._registry.values())
    with bank.scope():
        for page, rights in zip(pages, role_table(pages), strict=True):
            can = rights.can[place]
            assert ("see" in can) == page.has_view_permission(request), rights.name
            assert ("add" in can) == page.has_add_permission(request), rights.name
            assert ("delete" in can) == page.has_delete_permission(request), rights.name


def test_auditors_add_and_change_nothing_but_comparisons_of_people():
    pages = list(admin.site._registry.values())
    place = STAFF_ROLES.index(Role.AUDITOR)
    changing = {rights.name for rights in role_table(pages) if set(rights.can[place]) - {"see"}}
    assert changing == {"Who gets what"}


def test_everybody_with_a_role_reads_it(bank):
    page = signed_in(bank, holder(bank, Role.AUDITOR)).get(reverse("admin:roles"))
    words = page.content.decode()
    for name in ("Documents", "Evaluation cases", "Identity providers", "Administering is not"):
        assert name in words
