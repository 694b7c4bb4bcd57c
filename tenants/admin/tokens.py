"""Bearer tokens for programs: issued, shown once, revoked."""

from datetime import timedelta

from django import forms
from django.contrib import admin, messages
from django.http import Http404
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache

from .. import services
from ..admin_base import PreceptForm, PreceptModelAdmin, refusals
from ..admin_bulk import bulk_action
from ..models import ApiToken, Role, TokenUse, User, every_use

LIFETIMES = [(7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "1 year")]


class TokenForm(PreceptForm):
    uses = forms.MultipleChoiceField(
        label="May be used to",
        choices=TokenUse.choices,
        initial=every_use,
        widget=forms.CheckboxSelectMultiple,
        help_text="Choose only what the program needs.",
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=LIFETIMES,
        coerce=int,
        initial=90,
        help_text="Choose as short as the program allows; it can be revoked at any time.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "user" in self.fields:
            person = self.fields["user"]
            person.label = "Person"
            person.help_text = "The program may do what this person may, and no more."


def revoke(request, token: ApiToken, answers: dict | None = None) -> bool:
    if token.revoked_at is not None:
        return False
    services.revoke_token(token=token, actor=request.user)
    return True


@admin.register(ApiToken)
class ApiTokenAdmin(PreceptModelAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 23
    plural = "API tokens"
    summary = "Let a program ask in somebody's name; take that back."
    empty_text = "No token yet. Issue one when a program needs to ask questions."
    save_label = add_label = "Issue a token"
    form = TokenForm
    list_display = ["user", "allowed", "state", "created_at", "expires_at", "last_used_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["user__email", "user__name"]
    autocomplete_fields = ["user"]
    change_form_template = "admin/tenants/apitoken/change_form.html"
    actions = [
        bulk_action(
            name="revoke",
            label="Revoke tokens…",
            button="Revoke",
            explanation="Programs that use them are refused from their next request on.",
            apply=revoke,
            changed="Revoked",
            unchanged="Was revoked already",
            permission="revoke",
        )
    ]

    @admin.display(description="state")
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "Revoked"
        return "Expired" if token.expires_at <= timezone.now() else "Valid"

    @admin.display(description="may be used to")
    def allowed(self, token: ApiToken) -> str:
        return ", ".join(TokenUse(use).label.lower() for use in token.uses)

    def choices_for(self, request, field_name):
        return User.objects.filter(is_active=True) if field_name == "user" else None

    def has_revoke_permission(self, request) -> bool:
        return self.has_add_permission(request)

    def get_fields(self, request, obj=None):
        if obj is None:
            return ["user", "uses", "days"]
        return [
            "user",
            "allowed",
            "state",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    def get_urls(self):
        view = self.admin_site.admin_view(self.revoke_view)
        return [
            path("<path:object_id>/revoke/", view, name="tenants_apitoken_revoke"),
            *super().get_urls(),
        ]

    def revoke_view(self, request, object_id):
        token = self.get_object(request, object_id)
        if token is None or request.method != "POST" or not self.has_revoke_permission(request):
            raise Http404
        with refusals():
            revoked = revoke(request, token)
        if revoked:
            messages.success(request, f"{token} was revoked.")
        else:
            messages.info(request, f"{token} was revoked already; nothing was changed.")
        return redirect("admin:tenants_apitoken_change", token.pk)

    def write(self, request, form, formsets, change):
        row, request.precept_token = services.issue_token(
            user=form.cleaned_data["user"],
            uses=form.cleaned_data["uses"],
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
            "token": request.precept_token,
        }
        return TemplateResponse(request, "admin/tenants/apitoken/issued.html", context)
