"""Evaluation cases and runs, read only; they are made and run from the command line."""

from django.contrib import admin
from django.db.models import Count, Q

from tenants.admin_base import PreceptInline, PreceptModelAdmin
from tenants.models import Role

from .models import EvalCase, EvalResult, EvalRun


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


class EvalResultInline(PreceptInline):
    model = EvalResult
    fields = readonly_fields = ["case", "outcome", "passed", "violation_count", "failure_count"]
    verbose_name_plural = "results"
    extra = 0

    def get_queryset(self, request):
        return super().get_queryset(request).select_related("case").order_by("passed", "case__key")

    @admin.display(description="permission violations")
    def violation_count(self, result: EvalResult) -> int:
        return len(result.violations)

    @admin.display(description="failed expectations")
    def failure_count(self, result: EvalResult) -> int:
        return len(result.failures)


@admin.register(EvalRun)
class EvalRunAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.REVIEWER)
    section, order = "Oversight", 42
    plural = "Evaluation runs"
    summary = "How the answers did when all cases were asked."
    empty_text = "No run yet. Start one with: manage.py run_evaluation."
    list_display = ["started_at", "generator", "passed", "violated", "finished_at"]
    list_filter = ["generator", "started_at"]
    fields = readonly_fields = ["generator", "started_at", "finished_at", "measures"]
    inlines = [EvalResultInline]

    def visible_rows(self, request):
        return (
            super()
            .visible_rows(request)
            .annotate(
                total=Count("results"),
                right=Count("results", filter=Q(results__passed=True)),
                wrong=Count("results", filter=~Q(results__violations=[])),
            )
        )

    @admin.display(description="passed")
    def passed(self, run: EvalRun) -> str:
        return f"{run.right} of {run.total}"

    @admin.display(description="permission violations", ordering="wrong")
    def violated(self, run: EvalRun) -> int:
        return run.wrong
