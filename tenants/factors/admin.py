"""Whether local accounts need a second factor."""

from django.contrib import admin
from django.shortcuts import redirect

from tenants.admin_base import PreceptModelAdmin
from tenants.models import Role

from . import services
from .models import FactorPolicy
from .selectors import policy


@admin.register(FactorPolicy)
class FactorPolicyAdmin(PreceptModelAdmin):
    view_roles = change_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 33
    plural = "Second factor"
    summary = "Whether people who sign in with a password also need an app's code or a passkey."
    stays_on_page = True
    fields = ["required"]

    def changelist_view(self, request, extra_context=None):
        response = super().changelist_view(request, extra_context)  # refuses other roles
        if response.status_code != 200:
            return response
        row = policy()
        if row._state.adding:
            row.save()
        return redirect("admin:factors_factorpolicy_change", row.pk)

    def write(self, request, form, formsets, change):
        required = form.cleaned_data["required"]
        if not services.set_factor_policy(required=required, actor=request.user):
            return []
        return [f"Local accounts {'need' if required else 'do not need'} a second factor now."]
