"""Accounts: who they are, what they may do here, and which groups they are in."""

from django import forms
from django.contrib import admin
from django.contrib.auth.password_validation import (
    password_validators_help_texts,
    validate_password,
)
from django.db.models import Count, Q

from .. import services
from ..admin_base import PreceptForm, PreceptInline, PreceptModelAdmin, added_and_removed, holds
from ..admin_bulk import bulk_action
from ..factors.services import reset_factors
from ..models import Department, Group, GroupMembership, Role, RoleAssignment, User

ASSIGNABLE = [(role.value, role.label) for role in Role if role != Role.EMPLOYEE]


class RoleForm(PreceptForm):
    role = forms.ChoiceField(choices=[("", "Choose a role"), *ASSIGNABLE])

    def clean(self):
        cleaned = super().clean()
        of_department = cleaned.get("role") == Role.DEPARTMENT_ADMIN
        if of_department and not cleaned.get("department"):
            self.add_error("department", "Choose the department this person administers.")
        if not of_department and cleaned.get("department") and cleaned.get("role"):
            self.add_error("department", "Only department administrators have a department.")
        return cleaned


class RoleInline(PreceptInline):
    model = RoleAssignment
    form = RoleForm
    fields = ["role", "department"]
    verbose_name = "role"
    verbose_name_plural = "roles (everybody is an employee and may ask questions)"

    def get_queryset(self, request):
        return super().get_queryset(request).select_related("department")

    def choices_for(self, request, field_name):
        return Department.objects.all() if field_name == "department" else None


class MembershipInline(PreceptInline):
    model = GroupMembership
    fields = ["group", "managed"]
    readonly_fields = ["managed"]
    verbose_name = "group"
    verbose_name_plural = "groups (besides “everyone”)"

    def get_queryset(self, request):
        rows = super().get_queryset(request).filter(group__built_in=False)
        return rows.select_related("group").order_by("group__name")

    def choices_for(self, request, field_name):
        return Group.objects.filter(built_in=False) if field_name == "group" else None

    @admin.display(description="where from")
    def managed(self, membership: GroupMembership) -> str:
        return "" if membership._state.adding else membership.get_source_display()


class UserForm(PreceptForm):
    new_password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "new_password" in self.fields:
            effect = (
                "Leave empty to keep the present one. A new one signs the person out everywhere."
                if self.instance.pk and not self.instance._state.adding
                else "Leave empty if the person signs in through an identity provider."
            )
            rules = " ".join(password_validators_help_texts())
            self.fields["new_password"].help_text = f"{effect} {rules}"

    def clean_new_password(self):
        password = self.cleaned_data["new_password"]
        if password:
            validate_password(password, self.instance)
        return password


class RoleFilter(admin.SimpleListFilter):
    title = "role"
    parameter_name = "role"

    def lookups(self, request, model_admin):
        return ASSIGNABLE

    def queryset(self, request, queryset):
        if self.value() not in Role.values:
            return queryset
        holders = RoleAssignment.objects.filter(role=self.value()).values("user")
        return queryset.filter(pk__in=holders)


class GroupChoice(forms.Form):
    group = forms.ModelChoiceField(
        queryset=Group.across_tenants.none(), empty_label="Choose a group"
    )


def choose_group(request, rows) -> GroupChoice:
    form = GroupChoice(request.POST if "confirmed" in request.POST else None)
    form.fields["group"].queryset = Group.objects.filter(built_in=False)
    return form


@admin.register(User)
class UserAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN)
    change_roles = add_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 20
    plural, add_label = "People", "Add a person"
    summary = "Create accounts, give roles, and let people go."
    empty_text = "No account yet. Add the first person."
    form = UserForm
    list_display = ["email", "name", "role_names", "group_count", "is_active", "last_login"]
    list_filter = ["is_active", RoleFilter, "member_of"]
    search_fields = ["email", "name"]
    ordering = ["email"]
    inlines = [RoleInline, MembershipInline]
    actions = [
        bulk_action(
            name="deactivate",
            label="Deactivate accounts…",
            button="Deactivate",
            explanation="They are signed out everywhere and lose access at once. You can activate "
            "them again; their groups and roles stay.",
            apply=lambda request, user, _: services.set_user_active(
                user=user, active=False, actor=request.user
            ),
            changed="Deactivated",
            unchanged="Was inactive already",
        ),
        bulk_action(
            name="activate",
            label="Activate accounts",
            apply=lambda request, user, _: services.set_user_active(
                user=user, active=True, actor=request.user
            ),
            changed="Activated",
            unchanged="Was active already",
        ),
        bulk_action(
            name="add_to_group",
            label="Add to a group…",
            button="Add to the group",
            form=choose_group,
            apply=lambda request, user, chosen: services.add_to_group(
                user=user, group=chosen["group"], actor=request.user
            ),
            changed="Added to “{group}”",
            unchanged="Was in “{group}” already",
        ),
        bulk_action(
            name="remove_from_group",
            label="Remove from a group…",
            button="Remove from the group",
            form=choose_group,
            apply=lambda request, user, chosen: services.remove_from_group(
                user=user, group=chosen["group"], actor=request.user
            ),
            changed="Removed from “{group}”",
            unchanged="Was not in “{group}”",
        ),
        bulk_action(
            name="reset_factors",
            label="Reset second factors…",
            button="Reset",
            explanation="Be sure that it is the person who asks: until they set up another one, the "
            "password alone lets them in.",
            apply=lambda request, user, _: reset_factors(user=user, actor=request.user),
            changed="Second factors taken away",
            unchanged="Had no second factor",
        ),
    ]

    def visible_rows(self, request):
        rows = super().visible_rows(request).prefetch_related("role_assignments__department")
        own_groups = Count(
            "memberships", filter=Q(memberships__group__built_in=False), distinct=True
        )
        return rows.annotate(own_groups=own_groups)

    @admin.display(description="roles")
    def role_names(self, user: User) -> str:
        return ", ".join(str(role) for role in user.role_assignments.all()) or "Employee"

    @admin.display(description="groups", ordering="own_groups")
    def group_count(self, user: User) -> int:
        return user.own_groups

    def get_fields(self, request, obj=None):
        if obj is None:
            return ["email", "name", "new_password"]
        if holds(request, self.change_roles):
            return ["email", "name", "is_active", "new_password", "created_at", "last_login"]
        return ["email", "name", "is_active"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else ["email", "created_at", "last_login"]

    def write(self, request, form, formsets, change):
        roles, groups = (added_and_removed(formset) for formset in formsets)
        if change:
            return self._change(request, form, roles, groups)
        user = services.create_user(
            email=form.cleaned_data["email"],
            name=form.cleaned_data["name"],
            password=form.cleaned_data["new_password"] or None,
            roles=_roles(row for row in roles[0]),
            groups=list({row["group"] for row in groups[0]}),
            actor=request.user,
        )
        form.instance.pk = user.pk
        return [f"The account {user.email} was created."]

    def _change(self, request, form, roles, groups) -> list[str]:
        actor, given = request.user, form.cleaned_data
        services.lock_people([form.instance.pk])
        user, done = User.objects.get(pk=form.instance.pk), []
        if user.name != given["name"].strip():
            services.update_user(user=user, name=given["name"], actor=actor)
            done.append(f"{user.email} is now called “{user}”.")
        if given["new_password"]:
            services.set_password(user=user, password=given["new_password"], actor=actor)
            done.append(f"{user} has a new password and is signed out everywhere.")
        if services.set_user_active(user=user, active=given["is_active"], actor=actor):
            done.append(f"{user} is now {'active' if user.is_active else 'inactive'}.")
        if roles[0] or roles[1]:
            kept = user.role_assignments.exclude(pk__in=[row.pk for row in roles[1]])
            before = [{"role": row.role, "department": row.department} for row in kept]
            services.set_roles(user=user, roles=_roles([*before, *roles[0]]), actor=actor)
            done.append(f"Roles of {user}: {self.role_names(User.objects.get(pk=user.pk))}.")
        for row in groups[0]:
            if services.add_to_group(user=user, group=row["group"], actor=actor):
                done.append(f"{user} is now in “{row['group']}”.")
        for row in groups[1]:
            if services.remove_from_group(user=user, group=row.group, actor=actor):
                done.append(f"{user} is no longer in “{row.group}”.")
        return done


def _roles(rows) -> list[tuple[Role, Department | None]]:
    """Each role once, in the order given."""
    pairs = ((Role(row["role"]), row.get("department")) for row in rows)
    return list(dict.fromkeys(pairs))
