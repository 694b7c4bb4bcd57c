"""The pages of a document: its metadata, readers, versions and life-cycle."""

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, OuterRef, Q, Subquery
from django.http import Http404, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.timezone import localtime
from django.views.decorators.cache import never_cache

from tenants.admin_base import (
    PreceptInline,
    PreceptModelAdmin,
    Refused,
    added_and_removed,
    refusals,
)
from tenants.models import Group, Role, User
from tenants.selectors import departments_administered_by

from .. import services
from ..access import overseen_documents, readable_documents
from ..changes import version_changes
from ..duplicates.findings import findings_about
from ..effective_access import readers_once_in_force, watched_access
from ..history import history
from ..models import UNFINISHED, Document, DocumentVersion, Grant, VersionStatus
from ..version_dates import change_version_date, withdraw_version
from .bulk import ACTIONS
from .effective import EffectiveAccessPages, Unconfirmed, check_confirmed
from .forms import DocumentForm, GrantForm, entered_date
from .versions import progress_json, version_rows

FIELDS_OF_SERVICE = (
    "title",
    "reference",
    "department",
    "owner",
    "effective_date",
    "supersede_policy",
)

# What can be done to a version: the service, and what it has done then.
VERSION_SERVICES = {
    "retry": (services.retry_version, "is being tried again"),
    "reinstate": (services.reinstate_version, "is in force again"),
    "withdraw": (withdraw_version, "was withdrawn and will not come into force"),
    "date": (change_version_date, "has its new date"),
}


class GrantInline(PreceptInline):
    model = Grant
    form = GrantForm
    readonly_fields = ["reader", "giver", "since"]
    autocomplete_fields = ["user"]
    labels = {"user": "Person"}
    verbose_name = "reader"
    verbose_name_plural = "who may read it"

    def get_queryset(self, request):
        rows = super().get_queryset(request).select_related("group", "user", "granted_by")
        return rows.order_by("group__name", "user__email")

    def get_fields(self, request, obj=None):
        # Who only looks may have no right to the pages of groups and people: names, not links.
        named = ["group", "user"] if self.has_add_permission(request, obj) else ["reader"]
        return [*named, "giver", "since"]

    @admin.display(description="group or person")
    def reader(self, grant: Grant) -> str:
        return str(grant.group or grant.user)

    @admin.display(description="granted by")
    def giver(self, grant: Grant) -> str:
        return str(grant.granted_by or "")

    @admin.display(description="since")
    def since(self, grant: Grant) -> str:
        return f"{localtime(grant.created_at):%d/%m/%Y}" if grant.created_at else ""

    def choices_for(self, request, field_name):
        return {"group": Group.objects.all(), "user": User.objects.all()}.get(field_name)

    def get_formset(self, request, obj=None, **kwargs):
        formset = super().get_formset(request, obj, **kwargs)
        fields = formset.form.base_fields
        if "group" in fields:
            fields["group"].empty_label = "Choose a group"
        return formset


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request, model_admin):
        return [
            ("working", "Being read or indexed"),
            ("failed", "Latest upload failed"),
            ("nobody", "Nobody may read it"),
        ]

    def queryset(self, request, queryset):
        match self.value():
            case "working":
                return queryset.filter(latest_status__in=UNFINISHED)
            case "failed":
                return queryset.filter(latest_status=VersionStatus.FAILED)
            case "nobody":
                return queryset.filter(group_grants=0, user_grants=0)
        return queryset


@admin.register(Document)
class DocumentAdmin(EffectiveAccessPages, PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN, Role.AUDITOR)
    change_roles = add_roles = delete_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN)
    section, order = "Documents", 10
    summary = "Upload policies, say who may read them, replace and withdraw them."
    empty_text = "No document yet. Add the first: a file, its department, and who may read it."
    deletion_warning = (
        "Nobody can read, find or cite it any more, and no answer that relied on it is shown "
        "again. What was recorded about it stays in the audit record."
    )
    add_label = "Add a document"
    stays_on_page = True
    form = DocumentForm
    list_display = ["title", "reference", "department", "life_cycle_name", "state", "readers"]
    list_filter = [
        StateFilter,
        "life_cycle",
        ("department", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["department"]
    search_fields = ["title", "reference"]
    ordering = ["title"]
    autocomplete_fields = ["owner"]
    inlines = [GrantInline]
    actions = ACTIONS
    change_form_template = "admin/documents/document/change_form.html"

    def visible_rows(self, request):
        latest = DocumentVersion.objects.filter(document=OuterRef("pk")).order_by("-number")
        return overseen_documents(user=request.user).annotate(
            latest_number=Subquery(latest.values("number")[:1]),
            latest_status=Subquery(latest.values("status")[:1]),
            group_grants=Count("grants", filter=Q(grants__group__isnull=False)),
            user_grants=Count("grants", filter=Q(grants__user__isnull=False)),
        )

    @admin.display(description="life-cycle", ordering="life_cycle")
    def life_cycle_name(self, document: Document) -> str:
        return document.get_life_cycle_display().partition(" (")[0]

    @admin.display(description="department")
    def department_name(self, document: Document) -> str:
        return str(document.department)

    @admin.display(description="owner")
    def owner_name(self, document: Document) -> str:
        return str(document.owner or "")

    @admin.display(description="latest version", ordering="latest_status")
    def state(self, document: Document) -> str:
        if document.latest_number is None:
            return ""
        status = VersionStatus(document.latest_status).label.partition(",")[0].lower()
        return f"{document.latest_number}, {status}"

    @admin.display(description="may read it", ordering="group_grants")
    def readers(self, document: Document) -> str:
        counts = [(document.group_grants, "group"), (document.user_grants, "person")]
        plural = {"group": "groups", "person": "people"}
        named = [f"{n} {word if n == 1 else plural[word]}" for n, word in counts if n]
        return ", ".join(named) or "Nobody"

    def attention(self, request):
        nobody = self.get_queryset(request).filter(group_grants=0, user_grants=0).count()
        address = reverse("admin:documents_document_changelist")
        return [(f"{nobody} that nobody may read", f"{address}?state=nobody")] if nobody else []

    def choices_for(self, request, field_name):
        if field_name == "department":
            return departments_administered_by(request.user).distinct()
        return User.objects.all() if field_name == "owner" else None

    def get_fieldsets(self, request, obj=None):
        about = ["title", "reference", "department", "owner", "effective_date"]
        if obj is None:
            return [
                (None, {"fields": ["file", *about]}),
                ("Life-cycle", {"fields": ["life_cycle", "withdrawn_on"]}),
            ]
        if not self.has_change_permission(request, obj):
            about[2:4] = ["department_name", "owner_name"]
            return [(None, {"fields": [*about, "life_cycle", "withdrawn_date"]})]
        return [
            ("Upload a new version", {"fields": ["file", "file_effective_date"]}),
            ("About", {"fields": [*about, "supersede_policy"]}),
            ("Life-cycle", {"fields": ["life_cycle", "withdrawn_on", "reason", "withdrawn_date"]}),
        ]

    def get_readonly_fields(self, request, obj=None):
        return ["withdrawn_date", "department_name", "owner_name"] if obj else []

    def changeform_view(self, request, object_id=None, form_url="", extra_context=None):
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Unconfirmed as asked:
            return self.confirmation(request, asked)

    def write(self, request, form, formsets, change):
        added, removed = added_and_removed(formsets[0])
        subjects = [row.get("group") or row.get("user") for row in added]
        if not change:
            return self._create(request, form, subjects)
        actor, given = request.user, form.cleaned_data
        services.lock_documents([form.instance.pk])
        document = Document.objects.get(pk=form.instance.pk)
        with watched_access(document) as changes:
            done = self._update(actor, document, form)
            done += self._change_readers(actor, document, subjects, removed)
        if changes[0] and given["file"]:
            raise ValidationError(
                "This upload would also change who may read the document. Save the file by itself "
                "first, then the rest, so that you see who gains and who loses access."
            )
        check_confirmed(request, document, changes[0])
        if given["file"]:
            submission = services.submit_version(
                actor=actor,
                document=document,
                upload=given["file"],
                effective_date=given["file_effective_date"],
            )
            number = submission.version.number
            done.append(
                f"Version {number} was received and is being read."
                if submission.is_new
                else f"The file is the same as version {number}, so no new version was made."
            )
        return done

    def _change_readers(self, actor, document, subjects, removed) -> list[str]:
        done = []
        for subject in subjects:
            if services.grant_access(actor=actor, document=document, subject=subject):
                done.append(f"“{subject}” may now read this document.")
            else:
                done.append(f"“{subject}” could read this document already.")
        for grant in removed:
            subject = grant.group or grant.user
            if services.revoke_access(actor=actor, document=document, subject=subject):
                done.append(f"Access of “{subject}” was revoked.")
        return done

    def _create(self, request, form, subjects) -> list[str]:
        given = form.cleaned_data
        document, submission = services.create_document(
            actor=request.user,
            title=given["title"],
            reference=given["reference"],
            department=given["department"],
            owner=given["owner"],
            life_cycle=given["life_cycle"],
            effective_date=given["effective_date"],
            withdrawn_date=given["withdrawn_on"],
            upload=given["file"],
            subjects=subjects,
        )
        form.instance.pk = document.pk
        if not subjects:
            messages.warning(request, "Nobody may read it yet: add a group or a person below.")
        else:
            count = len(readers_once_in_force(document)[0])
            messages.info(request, f"People who may read it once it is in force: {count}.")
        number = submission.version.number
        return [f"“{document}” was created. Version {number} was received and is being read."]

    def _update(self, actor, document, form) -> list[str]:
        given, done = form.cleaned_data, []
        if "life_cycle" in form.changed_data and services.set_life_cycle(
            actor=actor,
            document=document,
            life_cycle=given["life_cycle"],
            withdrawn_date=given["withdrawn_on"],
            reason=given["reason"],
        ):
            done.append(f"Life-cycle is now “{document.get_life_cycle_display()}”.")
        fields = {
            name: given[name]
            for name in FIELDS_OF_SERVICE
            if name in form.changed_data and given[name] != getattr(document, name)
        }
        if fields:
            services.update_document(actor=actor, document=document, **fields)
            labels = [str(Document._meta.get_field(name).verbose_name) for name in fields]
            done.append(f"Changed: {', '.join(labels)}.")
        return done

    def erase(self, request, obj):
        services.delete_document(actor=request.user, document=obj)

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None and not add:
            readable = readable_documents(user=request.user).filter(pk=obj.pk).first()
            context |= {
                "version_rows": version_rows(obj),
                "twins": findings_about(user=request.user, documents=[obj.pk]),
                "history": history(user=request.user, document=obj),
                "can_manage": self.has_change_permission(request, obj),
                "readable_version": readable.current_version if readable else None,
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self):
        wrap = self.admin_site.admin_view
        return [
            path(
                "<path:object_id>/versions.json",
                wrap(self.progress_view),
                name="documents_progress",
            ),
            path(
                "<path:object_id>/versions/<int:number>/changes/",
                wrap(self.changes_view),
                name="documents_version_changes",
            ),
            path(
                "<path:object_id>/versions/<int:number>/<str:what>/",
                wrap(self.version_view),
                name="documents_version_action",
            ),
            *super().get_urls(),
        ]

    def _document(self, request, object_id) -> Document:
        document = self.get_object(request, object_id)
        if document is None:
            raise Http404
        return document

    def progress_view(self, request, object_id):
        document = self._document(request, object_id)
        return never_cache(lambda _: JsonResponse(progress_json(document)))(request)

    def changes_view(self, request, object_id, number):
        document = self._document(request, object_id)
        version = document.versions.filter(number=number).first()
        if version is None:
            raise Http404
        context = self.admin_site.each_context(request) | {
            "title": f"Changes in version {number}",
            "opts": self.opts,
            "page_name": self.page_name,
            "document": document,
            "number": number,
            "found": version_changes(user=request.user, version=version),
        }
        return TemplateResponse(request, "admin/documents/document/changes.html", context)

    def version_view(self, request, object_id, number, what):
        document = self._document(request, object_id)
        version = document.versions.filter(number=number).first()
        service, done = VERSION_SERVICES.get(what, (None, ""))
        may_post = request.method == "POST" and self.has_change_permission(request)
        if not (version and service and may_post):
            raise Http404
        try:
            with refusals():
                given = {"effective_date": entered_date(request)} if what == "date" else {}
                service(actor=request.user, version=version, **given)
        except Refused as refused:
            messages.error(request, " ".join(refused.error.messages))
        else:
            messages.success(request, f"Version {number} {done}.")
        return redirect("admin:documents_document_change", document.pk)
