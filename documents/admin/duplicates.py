"""Pairs of documents that look alike: what they have in common, and the decision."""

from django import forms
from django.contrib import admin
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tenants.admin_base import PreceptForm, PreceptModelAdmin
from tenants.models import Role

from ..access import manageable_documents
from ..duplicates.decisions import decide
from ..duplicates.findings import open_findings, visible_findings
from ..effective_access import foresee_access
from ..models import Document, DocumentVersion, DuplicateFinding, LifeCycle, Likeness, Verdict
from ..services import set_life_cycle
from .document import DocumentAdmin
from .effective import Unconfirmed, check_confirmed, confirmation_page

IN_WORDS = {
    Likeness.BYTES: "The two hold the very same file.",
    Likeness.TEXT: "The two have the same words in different files.",
    Likeness.NEAR: "The two have nearly the same text.",
}


class DecisionForm(PreceptForm):
    """Which of the two is what: `verdict` carries the decision and the document it is about."""

    verdict = forms.ChoiceField(label="What they are", widget=forms.RadioSelect)
    reason = forms.CharField(required=False, max_length=300, help_text="Kept in the audit record.")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        finding = self.instance
        pairs = [(finding.document, finding.other), (finding.other, finding.document)]
        choices = []
        for one, other in pairs:
            choices.append((f"duplicate:{one.pk}", f"“{one}” is a duplicate of “{other}”"))
            if finding.kind != Likeness.BYTES:
                choices.append((f"new_version:{one.pk}", f"“{one}” is a new version of “{other}”"))
        self.fields["verdict"].choices = [
            *choices,
            ("different:", "They are different documents; do not ask again"),
        ]


class StateFilter(admin.SimpleListFilter):
    title = "decision"
    parameter_name = "decided"

    def lookups(self, request, model_admin):
        return [("yes", "Decided")]

    def queryset(self, request, queryset):
        if self.value() == "yes":
            return queryset.exclude(state=Verdict.OPEN)
        return queryset.filter(pk__in=open_findings(user=request.user).order_by().values("pk"))

    def choices(self, changelist):
        for choice in super().choices(changelist):
            yield choice | {"display": "To be decided"} if choice["display"] == "All" else choice


@admin.register(DuplicateFinding)
class DuplicateFindingAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN, Role.AUDITOR)
    change_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN)
    section, order = "Documents", 12
    plural = "Possible duplicates"
    summary = "Documents that look alike: decide which one counts."
    empty_text = "No two documents look alike."
    save_label = "Decide"
    form = DecisionForm
    list_display = ["pair", "kind", "alike", "found_at", "decision"]
    list_filter = [StateFilter, "kind"]
    search_fields = ["document__title", "other__title"]
    ordering = ["-found_at"]
    change_form_template = "admin/documents/duplicatefinding/change_form.html"

    def visible_rows(self, request):
        return visible_findings(user=request.user).select_related("decided_by")

    def has_change_permission(self, request, obj=None) -> bool:
        """Only an open pair, and only for who administers both."""
        if not super().has_change_permission(request, obj):
            return False
        if obj is None:
            return True
        ids = {obj.document_id, obj.other_id}
        managed = manageable_documents(user=request.user).filter(pk__in=ids)
        return obj.state == Verdict.OPEN and managed.count() == len(ids)

    def get_fieldsets(self, request, obj=None):
        fields = ["verdict", "reason"] if self.has_change_permission(request, obj) else []
        return [(None, {"fields": fields})]

    def changeform_view(self, request, object_id=None, form_url="", extra_context=None):
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Unconfirmed as asked:
            return self._confirmation(request, asked)

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        verdict, _, aside_id = given["verdict"].partition(":")
        finding = form.instance
        aside = {str(one.pk): one for one in (finding.document, finding.other)}.get(aside_id)
        if aside is not None:
            foreseen = foresee_access(
                [aside],
                lambda document: set_life_cycle(
                    actor=request.user,
                    document=Document.objects.get(pk=document.pk),
                    life_cycle=LifeCycle.DUPLICATE,
                    reason=verdict,
                ),
            )
            check_confirmed(request, aside, foreseen)
        return [
            decide(
                actor=request.user,
                finding=finding,
                verdict=Verdict(verdict),
                set_aside=aside,
                reason=given["reason"].strip(),
            )
        ]

    def _confirmation(self, request, asked: Unconfirmed) -> TemplateResponse:
        page = {
            **self.admin_site.each_context(request),
            "title": f"Before “{asked.document}” is set aside",
            "opts": Document._meta,
            "page_name": DocumentAdmin.plural or "Documents",
        }
        return confirmation_page(request, asked, page)

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None:
            context |= {
                "in_words": IN_WORDS[Likeness(obj.kind)],
                "sides": [
                    _side(obj.document, obj.version),
                    _side(obj.other, obj.other_version),
                ],
                "is_open": obj.state == Verdict.OPEN,
                "extra_style": True,
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def attention(self, request):
        count = open_findings(user=request.user).count()
        address = reverse("admin:documents_duplicatefinding_changelist")
        return [(f"{count} to decide", address)] if count else []

    @admin.display(description="documents", ordering="document__title")
    def pair(self, finding: DuplicateFinding) -> SafeString:
        return format_html("{} <span class='quiet'>and</span> {}", finding.document, finding.other)

    @admin.display(description="alike", ordering="similarity")
    def alike(self, finding: DuplicateFinding) -> str:
        return f"{finding.similarity} %"

    @admin.display(description="decision", ordering="state")
    def decision(self, finding: DuplicateFinding) -> str:
        return finding.get_state_display()


def _side(document: Document, version: DocumentVersion) -> dict[str, object]:
    return {
        "document": document,
        "version": version,
        "in_force": document.current_version,
        "life_cycle": document.get_life_cycle_display().partition(" (")[0],
    }
