"""All uploads in one list, so that failed ones are found without opening each document."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from tenants.admin_base import PreceptModelAdmin
from tenants.models import Role

from ..access import overseen_documents
from ..models import DocumentVersion, VersionStatus


@admin.register(DocumentVersion)
class DocumentVersionAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN, Role.AUDITOR)
    section, order = "Documents", 11
    plural = "Uploads"
    summary = "Every file that was uploaded and what became of it."
    empty_text = "Nothing was uploaded yet. Add a document first."
    list_display = ["document_link", "number", "status", "why", "created_at"]
    list_display_links = None
    list_filter = ["status", "created_at"]
    list_select_related = ["document"]
    search_fields = ["document__title", "document__reference"]
    ordering = ["-created_at"]
    fields = readonly_fields = [
        "document_link",
        "number",
        "file_name",
        "size",
        "sha256",
        "status",
        "why",
        "language",
        "page_count",
        "chunk_count",
        "uploader",
        "created_at",
        "accepted_at",
        "searchable_at",
    ]

    def visible_rows(self, request):
        documents = overseen_documents(user=request.user)
        return super().visible_rows(request).filter(document__in=documents)

    @admin.display(description="document", ordering="document__title")
    def document_link(self, version: DocumentVersion) -> str:
        address = reverse("admin:documents_document_change", args=[version.document_id])
        return format_html('<a href="{}">{}</a>', address, version.document)

    @admin.display(description="uploaded by")
    def uploader(self, version: DocumentVersion) -> str:
        return str(version.submitted_by or "")

    @admin.display(description="what went wrong")
    def why(self, version: DocumentVersion) -> str:
        return version.failure_reason if version.status == VersionStatus.FAILED else ""

    def attention(self, request):
        failed = self.get_queryset(request).filter(status=VersionStatus.FAILED).count()
        if not failed:
            return []
        address = reverse("admin:documents_documentversion_changelist")
        query = urlencode({"status__exact": VersionStatus.FAILED})
        return [(f"{failed} failed", f"{address}?{query}")]
