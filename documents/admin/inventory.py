"""The inventory on one screen: which version holds, is it fit as a reference, and what to do."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from tenants.admin_base import PreceptModelAdmin
from tenants.models import Role

from ..inventory import (
    InventoryRow,
    inventory_documents,
    inventory_rows,
    inventory_totals,
    older_than,
)
from ..models import Document, InventoryEntry, VersionStatus
from .bulk import ACTIONS
from .inventory_export import csv_of
from .inventory_words import STATES, age_in_words, reason_in_words, to_do

PROBLEMS = {
    "unfit": ("Not fit as a reference", {"fit": False}),
    "failed": ("Newest upload failed", {"newest_status": VersionStatus.FAILED}),
    "working": (
        "Being read or indexed",
        {"newest_status__in": [VersionStatus.RECEIVED, VersionStatus.ACCEPTED]},
    ),
    "duplicate": ("Possible duplicate", {"maybe_duplicate": True}),
    "reference": ("Reference code used twice", {"same_reference": True}),
    "day": ("Two versions from the same day", {"same_day": True}),
    "scan": ("Scan or empty file", {"newest_failure": "no_text"}),
    "recognised": ("Text was recognised (OCR)", {"recognised": True}),
    "owner": ("Without an owner", {"owner": None}),
    "readers": ("Nobody may read it", {"granted": False}),
}


class ProblemFilter(admin.SimpleListFilter):
    title = "what is wrong"
    parameter_name = "problem"

    def lookups(self, request, model_admin):
        return [(key, label) for key, (label, _) in PROBLEMS.items()]

    def queryset(self, request, queryset):
        problem = PROBLEMS.get(self.value())
        return queryset.filter(**problem[1]) if problem else queryset


class AgeFilter(admin.SimpleListFilter):
    title = "in force for"
    parameter_name = "age"

    def lookups(self, request, model_admin):
        return [("1", "Over a year"), ("2", "Over 2 years"), ("5", "Over 5 years")]

    def queryset(self, request, queryset):
        years = {"1": 1, "2": 2, "5": 5}.get(self.value())
        return older_than(queryset, years=years) if years else queryset


@admin.register(InventoryEntry)
class InventoryAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN, Role.AUDITOR)
    change_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN)
    section, order = "Documents", 9
    plural = "Inventory"
    summary = "Which version of each document holds, whether it can be relied on, and what to do."
    empty_text = "No document yet."
    list_display = [
        "document",
        "bucket",
        "owner_name",
        "source_age",
        "in_force",
        "newest_version",
        "fitness",
        "next_steps",
    ]
    list_display_links = None
    list_filter = [
        ProblemFilter,
        "life_cycle",
        ("department", admin.RelatedOnlyFieldListFilter),
        ("owner", admin.RelatedOnlyFieldListFilter),
        "source_system",
        AgeFilter,
    ]
    search_fields = ["title", "reference", "owner__name", "owner__email"]
    search_help_text = "A title, a reference code or an owner."
    ordering = ["title", "id"]
    actions = ACTIONS
    change_list_template = "admin/documents/inventoryentry/change_list.html"

    def visible_rows(self, request):
        return inventory_documents(user=request.user, among=InventoryEntry.objects.all())

    def changelist_view(self, request, extra_context=None):
        if not self.has_view_permission(request):
            raise PermissionDenied
        totals = inventory_totals(self.get_queryset(request))
        context = {"totals": totals, "cards": _cards(totals), **(extra_context or {})}
        response = super().changelist_view(request, context)
        listed = (getattr(response, "context_data", None) or {}).get("cl")
        if listed is not None:
            documents = list(listed.result_list)
            rows = inventory_rows(documents, user=request.user)
            for document, row in zip(documents, rows, strict=True):
                document.row = row
            listed.result_list = documents
            for shown in listed.filter_specs:
                shown.template = "admin/documents/inventoryentry/filter.html"
            response.context_data["export_query"] = request.GET.urlencode()
        return response

    def change_view(self, request, object_id, form_url="", extra_context=None):
        """A document has one page, whichever list leads there."""
        if not self.has_view_permission(request):
            return super().change_view(request, object_id, form_url, extra_context)
        document = self.get_object(request, object_id)
        if document is None:
            raise Http404
        return redirect("admin:documents_document_change", document.pk)

    def get_urls(self):
        view = self.admin_site.admin_view(require_safe(self.export_view))
        return [path("export.csv", view, name="documents_inventory_export"), *super().get_urls()]

    def export_view(self, request):
        """The rows of the list as it is filtered, all pages."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        documents = self.get_changelist_instance(request).queryset
        rows = inventory_rows(documents, user=request.user)
        response = HttpResponse(csv_of(rows), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="inventory.csv"'
        return response

    def attention(self, request):
        totals = inventory_totals(self.get_queryset(request))
        address = reverse("admin:documents_inventoryentry_changelist")
        if not totals.unfit:
            return []
        words = f"{totals.unfit} of {totals.documents} not fit as a reference"
        return [(words, f"{address}?problem=unfit")]

    @admin.display(description="document", ordering="title")
    def document(self, document: Document) -> SafeString:
        row = document.row
        about = " · ".join(part for part in (row.reference, row.department) if part)
        return format_html(
            '<a href="{}">{}</a><span class="quiet">{}</span>', _page(row), row.title, about
        )

    @admin.display(description="bucket", ordering="life_cycle")
    def bucket(self, document: Document) -> str:
        label = document.row.life_cycle.label.partition(" (")[0]
        withdrawn = document.row.withdrawn_date
        return f"{label} on {withdrawn:%d/%m/%Y}" if withdrawn else label

    @admin.display(description="owner", ordering="owner__name")
    def owner_name(self, document: Document) -> str:
        return document.row.owner

    @admin.display(description="source and age", ordering="since")
    def source_age(self, document: Document) -> SafeString:
        row = document.row
        age = age_in_words(row.age_days)
        return format_html('{}<span class="quiet">{}</span>', row.source.capitalize(), age)

    @admin.display(description="in force", ordering="since")
    def in_force(self, document: Document) -> SafeString | str:
        version = document.row.in_force
        if version is None:
            return ""
        return format_html(
            '<strong>Version {}</strong><span class="quiet">since {}</span>',
            version.number,
            f"{version.since:%d/%m/%Y}",
        )

    @admin.display(description="newest upload", ordering="newest_status")
    def newest_version(self, document: Document) -> SafeString | str:
        row = document.row
        if row.newest is None:
            return ""
        failed = row.newest.status == VersionStatus.FAILED
        state = STATES[row.newest.status]
        if row.newest.waits:
            state = f"waits for {row.newest.since:%d/%m/%Y}"
        return format_html(
            'Version {}, <span class="{}">{}</span><span class="quiet">{}</span>',
            row.newest.number,
            "bad" if failed else "",
            state,
            row.newest.failure_reason if failed else _pages(row),
        )

    @admin.display(description="fit as a reference", ordering="fit")
    def fitness(self, document: Document) -> SafeString:
        row = document.row
        if row.fit:
            return format_html('<span class="good">{}</span>', "Yes")
        reasons = format_html_join("", "<li>{}</li>", ((reason_in_words(r),) for r in row.unfit))
        return format_html('<span class="bad">{}</span><ul>{}</ul>', "No", reasons)

    @admin.display(description="what to do")
    def next_steps(self, document: Document) -> SafeString | str:
        steps = to_do(document.row, page=_page(document.row))
        if not steps:
            return ""
        links = format_html_join("", '<li><a href="{}">{}</a></li>', ((b, a) for a, b in steps))
        return format_html("<ul>{}</ul>", links)


def _page(row: InventoryRow) -> str:
    return reverse("admin:documents_document_change", args=[row.document_id])


def _pages(row: InventoryRow) -> str:
    counted = [(row.recognised_pages, "recognised"), (row.empty_pages, "without text")]
    return ", ".join(f"{n} page{'s' * (n > 1)} {what}" for n, what in counted if n)


def _cards(totals) -> list[tuple[int, str, str]]:
    """(count, what, filter) of what there is of each."""
    counted = [
        (totals.failed, "Failed uploads", "failed"),
        (totals.duplicates, "Possible duplicates", "duplicate"),
        (totals.shared_references, "Reference code used twice", "reference"),
        (totals.shared_days, "Two versions from one day", "day"),
        (totals.scans, "Scans and empty files", "scan"),
        (totals.with_recognised_text, "Recognised text", "recognised"),
        (totals.without_owner, "Without an owner", "owner"),
        (totals.without_readers, "Nobody may read", "readers"),
        (totals.working, "Being read or indexed", "working"),
    ]
    return [card for card in counted if card[0]]
