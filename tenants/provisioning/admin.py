"""Directories' tokens: issued next to the sign-in settings, shown once, revoked."""

from datetime import timedelta

from django import forms
from django.contrib import admin, messages
from django.http import Http404
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from tenants.admin_base import PreceptForm, PreceptModelAdmin, refusals
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
class ScimTokenAdmin(PreceptModelAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "Sign-in", 33
    plural = "Directories"
    summary = "Let your directory make and end accounts by SCIM; take that back."
    empty_text = "No directory yet. Issue a token when yours is to make and end accounts here."
    save_label = add_label = "Issue a token"
    form = ScimTokenForm
    list_display = ["provider", "state", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["provider"]
    change_form_template = "admin/provisioning/scimtoken/change_form.html"

    @admin.display(description="state")
    def state(self, token: ScimToken) -> str:
        if token.revoked_at:
            return "Revoked"
        return "Expired" if token.expires_at <= timezone.now() else "Valid"

    def get_fields(self, request, obj=None):
        if obj is None:
            return ["provider", "days"]
        return ["provider", "state", "created_at", "expires_at", "last_used_at", "revoked_at"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    def get_urls(self):
        view = self.admin_site.admin_view(self.revoke_view)
        return [
            path("<path:object_id>/revoke/", view, name="provisioning_scimtoken_revoke"),
            *super().get_urls(),
        ]

    def revoke_view(self, request, object_id):
        token = self.get_object(request, object_id)
        if token is None or request.method != "POST":
            raise Http404
        with refusals():
            revoked = services.revoke_scim_token(token=token, actor=request.user)
        if revoked:
            messages.success(request, f"{token} was revoked.")
        else:
            messages.info(request, f"{token} was revoked already; nothing was changed.")
        return redirect("admin:provisioning_scimtoken_change", token.pk)

    def write(self, request, form, formsets, change):
        row, request.scim_token = services.issue_scim_token(
            provider=form.cleaned_data["provider"],
            lifetime=timedelta(days=form.cleaned_data["days"]),
            actor=request.user,
        )
        form.instance.pk, form.instance.expires_at = row.pk, row.expires_at
        return []

    def add_view(self, request, form_url="", extra_context=None):
        return never_cache(super().add_view)(request, form_url, extra_context)

    def response_add(self, request, obj, post_url_continue=None):
        """The token is in this one page: not in a message, which would travel in a cookie."""
        context = {
            **self.admin_site.each_context(request),
            "title": "The token was issued",
            "opts": self.opts,
            "page_name": self.page_name,
            "row": obj,
            "address": request.build_absolute_uri(reverse("scim")).rstrip("/"),
            "token": request.scim_token,
        }
        return TemplateResponse(request, "admin/provisioning/scimtoken/issued.html", context)
