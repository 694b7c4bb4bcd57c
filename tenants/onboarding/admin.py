"""Inviting people, for tenant administrators."""

from django import forms
from django.contrib import admin

from tenants.admin_base import PreceptForm, PreceptModelAdmin
from tenants.admin_bulk import bulk_action
from tenants.models import Department, Role

from . import services
from .models import Invitation


class InvitationForm(PreceptForm):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.EMPLOYEE)

    class Meta:
        help_texts = {"department": "For a department administrator only."}


@admin.register(Invitation)
class InvitationAdmin(PreceptModelAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 19
    plural, add_label, save_label = "Invitations", "Invite somebody", "Send the invitation"
    summary = "Invite people by e-mail; they choose their own password."
    empty_text = "Nobody was invited yet."
    form = InvitationForm
    list_display = ["email", "role", "current_state", "invited_by", "created_at", "expires_at"]
    search_fields = ["email"]
    actions = [
        bulk_action(
            name="invite_again",
            label="Send again",
            apply=lambda request, row, _: services.invite_again(invitation=row, actor=request.user),
            changed="On its way again, with a new link",
            unchanged="Used up already",
            permission="add",
        ),
        bulk_action(
            name="withdraw",
            label="Withdraw",
            apply=lambda request, row, _: services.withdraw_invitation(
                invitation=row, actor=request.user
            ),
            changed="Withdrawn",
            unchanged="Used up already",
            permission="add",
        ),
    ]

    def visible_rows(self, request):
        return super().visible_rows(request).select_related("invited_by")

    def choices_for(self, request, field_name):
        return Department.objects.all() if field_name == "department" else None

    def get_fields(self, request, obj=None):
        asked = ["email", "role", "department"]
        return asked if obj is None else [*asked, "current_state", "invited_by", "expires_at"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    @admin.display(description="state")
    def current_state(self, invitation: Invitation) -> str:
        return invitation.state

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        invitation = services.invite(
            email=given["email"],
            role=Role(given["role"]),
            department=given["department"],
            actor=request.user,
        )
        form.instance.pk = invitation.pk
        return [f"{invitation.email} is invited; the e-mail is on its way."]
