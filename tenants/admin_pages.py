"""Admin pages of two kinds that several rooms have: a token shown once, and a tenant's one row."""

from django.contrib import admin, messages
from django.db import models
from django.http import Http404
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache

from .admin_base import PreceptModelAdmin, refusals


class OneRowAdmin(PreceptModelAdmin):
    """The list leads to the tenant's row, which is made on the first visit."""

    def the_row(self) -> models.Model:
        """Saved or not. Each class states it."""
        raise NotImplementedError

    def changelist_view(self, request, extra_context=None):
        response = super().changelist_view(request, extra_context)  # refuses other roles
        if response.status_code != 200:
            return response
        row = self.the_row()
        if row._state.adding:
            row.save()
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", row.pk)


class IssuedTokenAdmin(PreceptModelAdmin):
    """Tokens that are issued, shown once and revoked.

    A class states `issued_fields` (asked for), `told_fields` (shown later), `issue` and `revoke`, and
    has the templates `issued.html` and `change_form.html` of its model.
    """

    save_label = add_label = "Issue a token"
    issued_fields: tuple[str, ...] = ()
    told_fields: tuple[str, ...] = ()

    def issue(self, request, given: dict) -> tuple[models.Model, str]:
        """The new row and its token. Each class states it."""
        raise NotImplementedError

    def revoke(self, request, token: models.Model) -> bool:
        """False if it was revoked already. Each class states it."""
        raise NotImplementedError

    def has_revoke_permission(self, request) -> bool:
        return self.has_add_permission(request)

    @admin.display(description="state")
    def state(self, token) -> str:
        if token.revoked_at:
            return "Revoked"
        return "Expired" if token.expires_at <= timezone.now() else "Valid"

    def get_fields(self, request, obj=None):
        if obj is None:
            return list(self.issued_fields)
        return [
            *self.told_fields,
            "state",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    @property
    def _name(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}"

    def get_urls(self):
        view = self.admin_site.admin_view(self.revoke_view)
        return [
            path("<path:object_id>/revoke/", view, name=f"{self._name}_revoke"),
            *super().get_urls(),
        ]

    def revoke_view(self, request, object_id):
        token = self.get_object(request, object_id)
        if token is None or request.method != "POST" or not self.has_revoke_permission(request):
            raise Http404
        with refusals():
            revoked = self.revoke(request, token)
        if revoked:
            messages.success(request, f"{token} was revoked.")
        else:
            messages.info(request, f"{token} was revoked already; nothing was changed.")
        return redirect(f"admin:{self._name}_change", token.pk)

    def write(self, request, form, formsets, change):
        row, request.issued_token = self.issue(request, form.cleaned_data)
        form.instance.pk, form.instance.expires_at = row.pk, row.expires_at
        return []

    def add_view(self, request, form_url="", extra_context=None):
        return never_cache(super().add_view)(request, form_url, extra_context)

    def issued_context(self, request) -> dict[str, object]:
        """What its page says besides the token."""
        return {}

    def response_add(self, request, obj, post_url_continue=None):
        """The token is in this one page: not in a message, which would travel in a cookie."""
        context = {
            **self.admin_site.each_context(request),
            "title": "The token was issued",
            "opts": self.opts,
            "page_name": self.page_name,
            "row": obj,
            "token": request.issued_token,
            **self.issued_context(request),
        }
        template = f"admin/{self.opts.app_label}/{self.opts.model_name}/issued.html"
        return TemplateResponse(request, template, context)
