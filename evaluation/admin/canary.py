"""Canaries: start one, see the two arms side by side, stop it."""

from django import forms
from django.contrib import admin
from django.urls import reverse

from answers.canaries import SHARES, can_be_tried, end_canary, running_canary, start_canary
from answers.models import Canary, CanaryEnding
from documents.serving import PromotionRefused
from evaluation.canary import LEAST_ANSWERS, compare
from evaluation.gates import Candidate, candidates, standing_of
from tenants.admin_base import PreceptForm, PreceptModelAdmin, Refused
from tenants.models import Role


class CanaryForm(PreceptForm):
    candidate = forms.ChoiceField(
        help_text="What passed the gate: see “Changes to what serves” for what stands against others."
    )
    percent = forms.TypedChoiceField(
        label="Share of the questions",
        coerce=int,
        choices=[(share, f"{share} %") for share in SHARES],
        help_text="Drawn by person and question: who asks the same again gets the same of the two.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.fields.clear()
        elif "candidate" in self.fields:
            triable = [one for one in candidates() if can_be_tried(one)]
            self.chosen = {str(one.pk): one for one in triable if may_be_tried(one)}
            names = [(key, one.name) for key, one in self.chosen.items()]
            self.fields["candidate"].choices = [("", "Choose one"), *names]

    def clean_candidate(self):
        return self.chosen[self.cleaned_data["candidate"]]


def may_be_tried(candidate: Candidate) -> bool:
    standing = standing_of(candidate)
    return not standing.blockers or standing.override is not None


@admin.register(Canary)
class CanaryAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR)
    add_roles = change_roles = (Role.TENANT_ADMIN,)
    section, order = "Oversight", 47
    plural = "Canaries"
    summary = "A candidate tried on a share of the questions, beside what serves."
    empty_text = "No candidate has been tried on people yet."
    add_label = "Try a candidate"
    save_label = "Start"
    stays_on_page = True
    form = CanaryForm
    list_display = ["tried", "percent_of", "started_at", "started_by", "ended_at", "how_it_ended"]
    list_select_related = ["generation", "configuration", "started_by", "ended_by"]
    change_form_template = "admin/answers/canary/change_form.html"
    readonly_fields = [
        "tried",
        "percent_of",
        "started_by",
        "started_at",
        "looked_at",
        "ended_at",
        "ended_by",
        "how_it_ended",
    ]

    def has_change_permission(self, request, obj=None) -> bool:
        """To stop it."""
        is_running = obj is None or obj.ended_at is None
        return super().has_change_permission(request, obj) and is_running

    def get_fields(self, request, obj=None):
        return ["candidate", "percent"] if obj is None else self.readonly_fields

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.readonly_fields

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if change:
            context |= {
                "save_label": "Stop it now",
                "comparison": compare(obj),
                "least": LEAST_ANSWERS,
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def write(self, request, form, formsets, change):
        if change:
            canary = Canary.objects.get(pk=form.instance.pk)
            found = compare(canary).to_json()
            stopped = end_canary(
                canary=canary, ending=CanaryEnding.STOPPED, actor=request.user, found=found
            )
            return ["Stopped: everybody is answered by what serves."] if stopped else []
        given = form.cleaned_data
        try:
            canary = start_canary(
                actor=request.user, candidate=given["candidate"], share=given["percent"]
            )
        except PromotionRefused as refused:
            raise Refused(forms.ValidationError(str(refused))) from None
        form.instance.pk = canary.pk
        return [f"{canary.candidate} answers {canary.share} % of the questions from now on."]

    def attention(self, request):
        canary = running_canary()
        address = reverse("admin:answers_canary_changelist")
        return [(f"{canary.candidate} is being tried", address)] if canary else []

    @admin.display(description="candidate")
    def tried(self, canary: Canary) -> str:
        return canary.candidate.name

    @admin.display(description="share", ordering="share")
    def percent_of(self, canary: Canary) -> str:
        return f"{canary.share} %"

    @admin.display(description="how it ended", ordering="ending")
    def how_it_ended(self, canary: Canary) -> str:
        return canary.get_ending_display() if canary.ending else "Running"
