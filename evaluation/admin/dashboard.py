"""The dashboard, and the goals it is held against."""

import csv
from datetime import timedelta

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.http import urlencode

from evaluation.dashboard.charts import line_chart
from evaluation.dashboard.goals import set_goal
from evaluation.dashboard.repeated import repeated_questions
from evaluation.dashboard.weekly import DASHBOARD_ROLES, Point, Series, bounds, dashboard
from evaluation.models import Goal
from evaluation.models.goal import PilotMeasure
from tenants.admin_base import PreceptForm, PreceptModelAdmin, holds
from tenants.models import Role

# Where the rows behind a number are listed: page, its filter of the week, and what else it asks for.
_BEHIND = {
    PilotMeasure.ANSWER_SECONDS: ("answers_answer", "created_at", {}),
    PilotMeasure.PASS_RATE: ("evaluation_evalrun", "finished_at", {}),
    PilotMeasure.VALID_CITATIONS: ("evaluation_spotcheck", "judged_at", {}),
    PilotMeasure.REPEATED: ("answers_answer", "created_at", {}),
    PilotMeasure.ADOPTION: ("answers_answer", "created_at", {}),
    PilotMeasure.HELPFUL: ("answers_feedback", "created_at", {}),
    PilotMeasure.ABSTENTION: ("answers_answer", "created_at", {"outcome__exact": "abstained"}),
    PilotMeasure.ABSTENTION_RIGHT: ("evaluation_spotcheck", "judged_at", {}),
    PilotMeasure.VIOLATIONS: ("evaluation_evalrun", "finished_at", {}),
}


class GoalForm(PreceptForm):
    measure_baseline = forms.BooleanField(
        label="Measure the baseline",
        required=False,
        help_text="The mean of the first four weeks that have a value, instead of a number of yours.",
    )

    class Meta:
        help_texts = {
            "baseline": "How it was before. Shares are from 0 to 1, such as 0.85.",
            "target": "Where it shall be at the end of the pilot.",
        }


@admin.register(Goal)
class DashboardAdmin(PreceptModelAdmin):
    """Its list is the dashboard; a row is the goal of one measure."""

    view_roles = tuple(sorted(DASHBOARD_ROLES))
    change_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "Oversight", 40
    plural, add_label = "Dashboard", "Set a goal"
    summary = (
        "Whether it works: time, cases passed, citations, adoption, abstentions, week by week."
    )
    form = GoalForm

    def get_fields(self, request, obj=None):
        first = ["measure"] if obj is None else ["measure", "setter", "set_at"]
        return [*first, "baseline", "measure_baseline", "target", "note"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else ["measure", "setter", "set_at"]

    @admin.display(description="set by")
    def setter(self, goal: Goal) -> str:
        return str(goal.set_by or "the operator")

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        measure = form.instance.measure if change else given["measure"]
        goal = set_goal(
            measure=measure,
            baseline=given["baseline"],
            target=given["target"],
            measure_baseline=given["measure_baseline"],
            note=given["note"],
            actor=request.user,
        )
        form.instance.pk = goal.pk
        return [f"The goal of “{goal}” was set."]

    def changelist_view(self, request, extra_context=None):
        if not self.has_view_permission(request):
            raise PermissionDenied
        series = dashboard(viewer=request.user)
        this_week = series[0].latest.monday
        context = {
            **self.admin_site.each_context(request),
            "title": self.plural,
            "opts": self.opts,
            "page_name": self.page_name,
            "may_set": holds(request, (Role.TENANT_ADMIN,)),
            "measures": [self._shown(request, one) for one in series],
            "clusters": repeated_questions(viewer=request.user, monday=this_week)[:20],
            "is_reviewer": holds(request, (Role.REVIEWER,)),
        }
        return TemplateResponse(request, "admin/evaluation/goal/dashboard.html", context)

    def _shown(self, request, series: Series) -> dict[str, object]:
        known = series.last_known
        return {
            "series": series,
            "chart": line_chart(series),
            "now": said(series, known.value) if known else "–",
            "of": known.of if known else 0,
            "week": known.monday if known else None,
            "baseline": said(series, series.goal.baseline) if series.goal else "–",
            "target": said(series, series.goal.target) if series.goal else "–",
            "rows": [
                (
                    point.monday,
                    said(series, point.value),
                    point.of,
                    self._behind(request, series, point),
                )
                for point in reversed(series.points)
            ],
        }

    def _behind(self, request, series: Series, point: Point) -> str:
        """The address of the rows behind a number, where the viewer may open it."""
        page, field, more = _BEHIND[series.definition.measure]
        model = next(
            one
            for one in self.admin_site._registry
            if one._meta.label_lower.replace(".", "_") == page
        )
        if not point.of or not self.admin_site.get_model_admin(model).has_view_permission(request):
            return ""
        first, after = bounds(point.monday)
        query = {f"{field}__gte": first.isoformat(), f"{field}__lt": after.isoformat(), **more}
        return f"{reverse(f'admin:{page}_changelist')}?{urlencode(query)}"

    def get_urls(self):
        view = self.admin_site.admin_view(self.export_view)
        return [
            path("export.csv", view, name="evaluation_dashboard_export"),
            *super().get_urls(),
        ]

    def export_view(self, request):
        if not self.has_view_permission(request):
            raise PermissionDenied
        response = HttpResponse(
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="dashboard.csv"'},
        )
        rows = csv.writer(response)
        rows.writerow(["measure", "weekFrom", "weekTo", "value", "of", "baseline", "target"])
        for series in dashboard(viewer=request.user, weeks=52):
            goal = series.goal
            for point in series.points:
                rows.writerow(
                    [
                        series.definition.measure.value,
                        point.monday,
                        point.monday + timedelta(days=6),
                        point.value,
                        point.of,
                        goal and goal.baseline,
                        goal and goal.target,
                    ]
                )
        return response


def said(series: Series, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if series.definition.is_share else f"{value:g}"
