"""Departments, which documents belong to, and the tenant's own policies."""

from django import forms
from django.contrib import admin
from django.db.models import Count, Q
from django.shortcuts import redirect
from django.utils.html import format_html_join

from .. import departments, services
from ..admin_base import PreceptForm, PreceptModelAdmin
from ..models import Department, RefusalPolicy, Role, Tenant
from ..scope import current_tenant_id


@admin.register(Department)
class DepartmentAdmin(PreceptModelAdmin):
    view_roles = change_roles = add_roles = delete_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 22
    add_label = "Add a department"
    summary = "Every document belongs to a department, whose administrators manage it."
    empty_text = "No department yet. Add one; documents need it."
    deletion_warning = "A department can be deleted only when no document ever belonged to it."
    list_display = ["name", "administrators"]
    search_fields = ["name"]
    ordering = ["name"]
    fields = ["name"]

    def visible_rows(self, request):
        holders = Q(roleassignment__role=Role.DEPARTMENT_ADMIN)
        return (
            super().visible_rows(request).annotate(holders=Count("roleassignment", filter=holders))
        )

    @admin.display(description="department administrators", ordering="holders")
    def administrators(self, department: Department) -> int:
        return department.holders

    def write(self, request, form, formsets, change):
        name = form.cleaned_data["name"]
        if not change:
            department = departments.create_department(name=name, actor=request.user)
            form.instance.pk = department.pk
            return [f"Department “{department}” was created."]
        department = Department.objects.get(pk=form.instance.pk)
        before = department.name
        if before == name.strip():
            return []
        departments.rename_department(department=department, name=name, actor=request.user)
        return [f"Department “{before}” is now called “{department}”."]

    def erase(self, request, obj):
        departments.delete_department(department=obj, actor=request.user)


class PolicyForm(PreceptForm):
    reason = forms.CharField(
        label="Reason for the change",
        required=False,
        max_length=300,
        help_text="Kept in the audit record. Needed to change how questions are refused.",
    )

    class Meta:
        labels = {"refusal_policy": "When an answer would need a restricted document"}
        help_texts = {
            "refusal_policy": "Saying that access is missing tells people that a document exists. "
            "Leave it as it is unless compliance has decided otherwise."
        }


@admin.register(Tenant)
class TenantAdmin(PreceptModelAdmin):
    view_roles = change_roles = (Role.TENANT_ADMIN,)
    form = PolicyForm
    stays_on_page = True
    section, order = "Oversight", 43
    plural = "Policies of this tenant"
    summary = "The policies Precept follows here, among them how it refuses."
    readonly_fields = [
        "name",
        "slug",
        "superseding",
        "default_language",
        "language_codes",
        "created_at",
    ]
    fields = ["refusal_policy", "reason", *readonly_fields]

    def visible_rows(self, request):
        return super().visible_rows(request).filter(pk=current_tenant_id())

    def changelist_view(self, request, extra_context=None):
        response = super().changelist_view(request, extra_context)  # refuses other roles
        if response.status_code != 200:
            return response
        return redirect("admin:tenants_tenant_change", current_tenant_id())

    def write(self, request, form, formsets, change):
        if "refusal_policy" not in form.changed_data:
            return []
        policy = RefusalPolicy(form.cleaned_data["refusal_policy"])
        changed = services.set_refusal_policy(
            policy=policy, reason=form.cleaned_data["reason"], actor=request.user
        )
        return [f"The policy is now: “{policy.label}”."] if changed else []

    @admin.display(description="a new version replaces the former one")
    def superseding(self, tenant: Tenant) -> str:
        return tenant.get_supersede_policy_display()

    @admin.display(description="languages in use")
    def language_codes(self, tenant: Tenant) -> str:
        return format_html_join(", ", "{}", ((code,) for code in tenant.languages))
