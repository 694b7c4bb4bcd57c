"""Reports: who gets what, and the weekly compliance report with its signature."""

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from evaluation.models import PersonaDiff, RunState, WeeklyReport
from evaluation.personas import PERSONA_ROLES, side_by_side, start_persona_diff, visible_diffs
from evaluation.reports.persona_pdf import persona_pdf
from evaluation.reports.weekly import REPORT_ROLES, report_pdf, sign_report
from tenants.admin_base import PreceptForm, PreceptModelAdmin, Refused, refusals
from tenants.models import User


def _pdf(content: bytes, name: str) -> HttpResponse:
    return HttpResponse(
        content,
        content_type="application/pdf",
        headers={"Content-Disposition": f'attachment; filename="{name}.pdf"'},
    )


class PersonaForm(PreceptForm):
    asked = forms.CharField(
        label="Questions", help_text="One a line.", widget=forms.Textarea(attrs={"rows": 6})
    )
    compared = forms.ModelMultipleChoiceField(
        label="Asked as", queryset=User.across_tenants.none(), help_text="Two people or more."
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "compared" in self.fields:
            self.fields["compared"].queryset = User.objects.filter(is_active=True)


@admin.register(PersonaDiff)
class PersonaDiffAdmin(PreceptModelAdmin):
    view_roles = add_roles = tuple(sorted(PERSONA_ROLES))
    section, order = "Oversight", 43
    plural, add_label, save_label = "Who gets what", "Compare people", "Ask"
    summary = "The same questions asked as several people, side by side, on screen and as PDF."
    empty_text = "Nothing was compared yet."
    stays_on_page = True
    form = PersonaForm
    list_display = ["title", "created_at", "asked_for_by", "state"]
    change_form_template = "admin/evaluation/personadiff/change_form.html"

    def visible_rows(self, request):
        return visible_diffs(viewer=request.user)

    def get_fields(self, request, obj=None):
        if obj is None:
            return ["title", "asked", "compared"]
        return ["title", "state", "asked_for_by", "created_at", "finished_at"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    @admin.display(description="asked for by")
    def asked_for_by(self, diff: PersonaDiff) -> str:
        return str(diff.requested_by)

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        diff = start_persona_diff(
            actor=request.user,
            title=given["title"],
            questions=given["asked"].splitlines(),
            people=list(given["compared"]),
        )
        form.instance.pk = diff.pk
        return ["The questions are being asked in the background."]

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None:
            context |= {
                "is_open": obj.state in (RunState.QUEUED, RunState.RUNNING),
                "seen": side_by_side(viewer=request.user, diff=obj),
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self):
        view = self.admin_site.admin_view(self.pdf_view)
        return [
            path("<path:object_id>/report.pdf", view, name="evaluation_personadiff_pdf"),
            *super().get_urls(),
        ]

    def pdf_view(self, request, object_id):
        diff = self.get_object(request, object_id)
        if diff is None:
            raise Http404
        return _pdf(persona_pdf(viewer=request.user, diff=diff), "who-gets-what")


@admin.register(WeeklyReport)
class WeeklyReportAdmin(PreceptModelAdmin):
    view_roles = tuple(sorted(REPORT_ROLES))
    section, order = "Oversight", 44
    plural = "Compliance reports"
    summary = "Each week's numbers, as they were, and who signed them off."
    empty_text = "No report yet. The first is made after the first whole week."
    list_display = ["monday", "made_at", "sent_at", "signer", "signed_at"]
    list_select_related = ["signed_by"]
    fields = readonly_fields = [
        "monday",
        "made_at",
        "sent_at",
        "digest",
        "signer",
        "signed_at",
        "comment",
    ]
    change_form_template = "admin/evaluation/weeklyreport/change_form.html"

    @admin.display(description="signed by")
    def signer(self, report: WeeklyReport) -> str:
        return str(report.signed_by or "nobody yet")

    def get_urls(self):
        wrap = self.admin_site.admin_view
        return [
            path(
                "<path:object_id>/report.pdf",
                wrap(self.pdf_view),
                name="evaluation_weeklyreport_pdf",
            ),
            path(
                "<path:object_id>/sign/", wrap(self.sign_view), name="evaluation_weeklyreport_sign"
            ),
            *super().get_urls(),
        ]

    def pdf_view(self, request, object_id):
        report = self.get_object(request, object_id)
        if report is None:
            raise Http404
        return _pdf(report_pdf(report), f"report-{report.monday}")

    def sign_view(self, request, object_id):
        report = self.get_object(request, object_id)
        if report is None or request.method != "POST":
            raise Http404
        try:
            with refusals():
                sign_report(
                    report=report, actor=request.user, comment=request.POST.get("comment", "")
                )
        except Refused as refused:
            messages.error(request, " ".join(refused.error.messages))
        else:
            messages.success(request, "You signed the report.")
        return redirect("admin:evaluation_weeklyreport_change", report.pk)
