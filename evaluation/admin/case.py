"""Evaluation cases, read only; they are made from the command line."""

from django.contrib import admin

from evaluation.models import EvalCase
from tenants.admin_base import PreceptModelAdmin
from tenants.models import Role


@admin.register(EvalCase)
class EvalCaseAdmin(PreceptModelAdmin):
    """Without the expected words: they are words of documents the viewer may not read."""

    view_roles = (Role.TENANT_ADMIN, Role.REVIEWER)
    section, order = "Oversight", 41
    plural = "Evaluation cases"
    summary = "Questions whose outcome is known, each asked with one person's rights."
    empty_text = "No case yet. Load some with: manage.py load_demo, or import your own."
    list_display = ["key", "kind", "language", "asker", "expected_outcome", "state"]
    list_filter = ["kind", "language", "state"]
    list_select_related = ["as_user"]
    search_fields = ["key"]
    fields = readonly_fields = [
        "key",
        "kind",
        "language",
        "asker",
        "bound_access_revision",
        "expected_outcome",
        "state",
        "created_at",
    ]

    @admin.display(description="asked as", ordering="as_user__email")
    def asker(self, case: EvalCase) -> str:
        return str(case.as_user)
