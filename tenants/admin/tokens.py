"""Bearer tokens for programs: issued, shown once, revoked."""

from datetime import timedelta

from django import forms
from django.contrib import admin

from .. import services
from ..admin_base import PreceptForm
from ..admin_bulk import bulk_action
from ..admin_pages import IssuedTokenAdmin
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


def _revoke(request, token: ApiToken, answers: dict | None = None) -> bool:
    if token.revoked_at is not None:
        return False
    services.revoke_token(token=token, actor=request.user)
    return True


@admin.register(ApiToken)
class ApiTokenAdmin(IssuedTokenAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 23
    plural = "API tokens"
    summary = "Let a program ask in somebody's name; take that back."
    empty_text = "No token yet. Issue one when a program needs to ask questions."
    form = TokenForm
    list_display = ["user", "allowed", "state", "created_at", "expires_at", "last_used_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["user__email", "user__name"]
    autocomplete_fields = ["user"]
    change_form_template = "admin/tenants/apitoken/change_form.html"
    issued_fields, told_fields = ("user", "uses", "days"), ("user", "allowed")
    actions = [
        bulk_action(
            name="revoke",
            label="Revoke tokens…",
            button="Revoke",
            explanation="Programs that use them are refused from their next request on.",
            apply=_revoke,
            changed="Revoked",
            unchanged="Was revoked already",
            permission="revoke",
        )
    ]

    @admin.display(description="may be used to")
    def allowed(self, token: ApiToken) -> str:
        return ", ".join(TokenUse(use).label.lower() for use in token.uses)

    def choices_for(self, request, field_name):
        return User.objects.filter(is_active=True) if field_name == "user" else None

    def issue(self, request, given):
        return services.issue_token(
            user=given["user"],
            uses=given["uses"],
            lifetime=timedelta(days=given["days"]),
            actor=request.user,
        )

    def revoke(self, request, token: ApiToken) -> bool:
        return _revoke(request, token)
