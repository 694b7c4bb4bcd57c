"""What could serve next, what stands against it, and overrides by two people."""

from django import forms
from django.contrib import admin
from django.urls import reverse

from answers.configurations import is_available, serving_configuration
from documents.generations import serving_generation
from evaluation.gates import (
    OVERRIDERS,
    approve_override,
    ask_override,
    candidates,
    standing_of,
    words_of,
)
from evaluation.models import GateOverride
from evaluation.runs.starting import RUN_ROLES
from tenants.admin_base import PreceptForm, PreceptModelAdmin, holds
from tenants.models import Role
from tenants.selectors import current_tenant

ASKED = ["of", "reason"]


class OverrideForm(PreceptForm):
    candidate = forms.ChoiceField()
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60}),
        help_text="Why it should serve although this stands against it. It stays on record, with "
        "your name and that of whoever approves it.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.fields.pop("candidate", None)
        elif "candidate" in self.fields:
            self.chosen = {str(one.pk): one for one in candidates()}
            names = [(key, one.name) for key, one in self.chosen.items()]
            self.fields["candidate"].choices = [("", "Choose one"), *names]

    def clean_candidate(self):
        return self.chosen[self.cleaned_data["candidate"]]


@admin.register(GateOverride)
class GateOverrideAdmin(PreceptModelAdmin):
    view_roles = (*OVERRIDERS, Role.AUDITOR)
    add_roles = change_roles = OVERRIDERS
    section, order = "Oversight", 46
    plural = "Changes to what serves"
    summary = "What could serve next, what stands against it, and what to do."
    empty_text = "Nobody has asked to override the gate."
    add_label = "Ask for an override"
    save_label = "Ask"
    form = OverrideForm
    list_display = ["of", "waived", "asked_by", "asked_at", "approved_by", "approved_at"]
    list_select_related = ["generation", "configuration", "asked_by", "approved_by"]
    change_list_template = "admin/evaluation/gateoverride/change_list.html"
    readonly_fields = ["waived", "asked_by", "asked_at", "approved_by", "approved_at"]

    def has_change_permission(self, request, obj=None) -> bool:
        """To approve it: open, and written by somebody else."""
        is_open = obj is None or (obj.approved_at is None and obj.asked_by_id != request.user.pk)
        return super().has_change_permission(request, obj) and is_open

    def get_fields(self, request, obj=None):
        return ["candidate", "reason"] if obj is None else [*ASKED, *self.readonly_fields]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else [*ASKED, *self.readonly_fields]

    def changelist_view(self, request, extra_context=None):
        shown = {}
        if self.has_view_permission(request):
            configuration = serving_configuration()
            shown = {
                "tenant_slug": current_tenant().slug,
                "serving": {"generation": serving_generation(), "configuration": configuration},
                "is_approved": is_available(configuration),
                "sees_runs": holds(request, RUN_ROLES),
                "standings": [standing_of(candidate) for candidate in candidates()],
            }
        return super().changelist_view(request, {**shown, **(extra_context or {})})

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if change:
            context["save_label"] = "Approve"
        return super().render_change_form(request, context, add, change, form_url, obj)

    def write(self, request, form, formsets, change):
        if change:
            override = GateOverride.objects.get(pk=form.instance.pk)
            approve_override(actor=request.user, override=override)
            return [f"Approved: {override.candidate} may serve for the next seven days."]
        ask_override(
            actor=request.user,
            candidate=form.cleaned_data["candidate"],
            reason=form.cleaned_data["reason"],
        )
        return ["Asked. Another tenant administrator or reviewer has to approve it."]

    def attention(self, request):
        waiting = self.get_queryset(request).filter(approved_at=None).exclude(asked_by=request.user)
        address = reverse("admin:evaluation_gateoverride_changelist")
        count = waiting.count() if self.has_change_permission(request) else 0
        asks = [(f"{count} to approve", address)] if count else []
        if not is_available(serving_configuration()):
            asks.append(
                ("people get excerpts: this release's model or prompt is not approved", address)
            )
        return asks

    @admin.display(description="candidate")
    def of(self, override: GateOverride) -> str:
        return override.candidate.name

    @admin.display(description="what it waives")
    def waived(self, override: GateOverride) -> str:
        return " ".join(words_of(code) for code in override.waives)
