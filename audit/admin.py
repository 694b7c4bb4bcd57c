"""The audit record, to be read and verified. Roles are text here: this room imports no other."""

import json

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import redirect
from django.urls import path
from django.utils.html import format_html
from django.utils.timezone import localtime

from .models import AuditRecord
from .selectors import verify_chain


@admin.register(AuditRecord)
class AuditRecordAdmin(admin.ModelAdmin):
    view_roles = ("tenant_admin", "auditor")
    section, order = "Oversight", 40
    plural = "Audit record"
    summary = "Everything that was done here, by whom and when. It cannot be changed."
    empty_text = "Nothing was recorded yet."
    list_display = ["seq", "when", "action", "who", "objects"]
    list_display_links = ["seq", "action"]
    list_filter = ["action", "at"]
    search_fields = ["actor", "object_ids"]
    search_help_text = "Paste the id of a document, an account or an answer to see its history."
    list_per_page = 100
    fields = readonly_fields = [
        "seq",
        "when",
        "action",
        "who",
        "object_list",
        "fact_list",
        "previous_hash",
        "hash",
    ]
    change_list_template = "admin/audit/auditrecord/change_list.html"

    def changelist_view(self, request, extra_context=None):
        response = super().changelist_view(request, extra_context)
        if "cl" in (getattr(response, "context_data", None) or {}):
            rows = response.context_data["cl"].result_list
            names = self.admin_site.names_of_people({row.actor for row in rows if row.actor})
            for row in rows:
                row.actor_name = names.get(row.actor)
        return response

    def get_object(self, request, object_id, from_field=None):
        row = super().get_object(request, object_id, from_field)
        if row is not None and row.actor:
            row.actor_name = self.admin_site.names_of_people({row.actor}).get(row.actor)
        return row

    def audit_trail_address(self, request, obj) -> str:
        return ""  # this is it

    @admin.display(description="when", ordering="at")
    def when(self, row: AuditRecord) -> str:
        return f"{localtime(row.at):%d/%m/%Y %H:%M:%S}"

    @admin.display(description="who", ordering="actor")
    def who(self, row: AuditRecord) -> str:
        return getattr(row, "actor_name", None) or row.actor or "Precept itself"

    @admin.display(description="what it concerned")
    def objects(self, row: AuditRecord) -> str:
        return ", ".join(
            f"{len(ids)} {name}" if isinstance(ids, list) else name
            for name, ids in row.object_ids.items()
            if ids
        )

    @admin.display(description="object ids")
    def object_list(self, row: AuditRecord) -> str:
        return _pretty(row.object_ids)

    @admin.display(description="facts")
    def fact_list(self, row: AuditRecord) -> str:
        return _pretty(row.facts)

    def get_urls(self):
        view = self.admin_site.admin_view(self.verify_view)
        return [path("verify/", view, name="audit_auditrecord_verify"), *super().get_urls()]

    def verify_view(self, request):
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            raise Http404
        count, breaks = verify_chain()
        if not breaks:
            messages.success(
                request,
                f"{count} records were read. Each follows from the one before it: nothing "
                "was changed, removed or reordered.",
            )
        for found in breaks[:20]:
            messages.error(request, f"Record {found.seq}: {found.reason}.")
        if breaks:
            messages.error(
                request,
                f"{count} records were read and {len(breaks)} breaks found. Keep the database "
                "as it is and compare it with a backup from before record "
                f"{min(found.seq for found in breaks)}.",
            )
        return redirect("admin:audit_auditrecord_changelist")


def _pretty(value: object) -> str:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))
