"""Evaluation runs, read only; they are started from the command line."""

from django.contrib import admin
from django.db.models import Count, Q

from evaluation.models import EvalResult, EvalRun
from tenants.admin_base import PreceptInline, PreceptModelAdmin
from tenants.models import Role


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
