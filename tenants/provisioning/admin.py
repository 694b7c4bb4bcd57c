"""Directories' tokens: issued next to the sign-in settings, shown once, revoked."""

from datetime import timedelta

from django import forms
from django.contrib import admin
from django.urls import reverse

from tenants.admin_base import PreceptForm
from tenants.admin_pages import IssuedTokenAdmin
from tenants.models import Role

from . import services
from .models import ScimToken

LIFETIMES = [(90, "90 days"), (180, "180 days"), (365, "1 year"), (730, "2 years")]


class ScimTokenForm(PreceptForm):
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=LIFETIMES,
        coerce=int,
        initial=365,
        help_text="Put a new one in place before it ends; both work until you revoke the old one.",
    )

    class Meta:
        labels = {"provider": "Identity provider"}
        help_texts = {
            "provider": "Its directory may make, change and end accounts here, and no other accounts."
        }


@admin.register(ScimToken)
class ScimTokenAdmin(IssuedTokenAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 33
    plural = "Directories"
    summary = "Let your directory make and end accounts by SCIM; take that back."
    empty_text = "No directory yet. Issue a token when yours is to make and end accounts here."
    form = ScimTokenForm
    list_display = ["provider", "state", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["provider"]
    change_form_template = "admin/provisioning/scimtoken/change_form.html"
    issued_fields, told_fields = ("provider", "days"), ("provider",)

    def issue(self, request, given):
        return services.issue_scim_token(
            provider=given["provider"], lifetime=timedelta(days=given["days"]), actor=request.user
        )

    def revoke(self, request, token: ScimToken) -> bool:
        return services.revoke_scim_token(token=token, actor=request.user)

    def issued_context(self, request):
        return {"address": request.build_absolute_uri(reverse("scim")).rstrip("/")}
