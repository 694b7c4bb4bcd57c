"""Whether local accounts need a second factor."""

from django.contrib import admin

from tenants.admin_pages import OneRowAdmin
from tenants.models import Role

from . import services
from .models import FactorPolicy
from .selectors import policy


@admin.register(FactorPolicy)
class FactorPolicyAdmin(OneRowAdmin):
    view_roles = change_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 33
    plural = "Second factor"
    summary = "Whether people who sign in with a password also need an app's code or a passkey."
    stays_on_page = True
    fields = ["required"]

    def the_row(self) -> FactorPolicy:
        return policy()

    def write(self, request, form, formsets, change):
        required = form.cleaned_data["required"]
        if not services.set_factor_policy(required=required, actor=request.user):
            return []
        return [f"Local accounts {'need' if required else 'do not need'} a second factor now."]
