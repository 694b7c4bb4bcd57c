"""Groups, which documents are opened to, and who is in them."""

from django.contrib import admin
from django.db.models import Count
from django.urls import reverse
from django.utils.html import format_html

from .. import services
from ..admin_base import PreceptInline, PreceptModelAdmin, added_and_removed
from ..models import Group, GroupMembership, Role, User

# Beyond this the form would be too long to send; the list of people does the same in pages.
MEMBERS_IN_FORM = 200


class MemberInline(PreceptInline):
    model = GroupMembership
    fields = ["user", "managed"]
    readonly_fields = ["managed"]
    autocomplete_fields = ["user"]
    labels = {"user": "Person"}
    verbose_name = "member"
    verbose_name_plural = "members"

    def get_queryset(self, request):
        return super().get_queryset(request).select_related("user").order_by("user__email")

    def choices_for(self, request, field_name):
        return User.objects.all() if field_name == "user" else None

    @admin.display(description="where from")
    def managed(self, membership: GroupMembership) -> str:
        return "" if membership._state.adding else membership.get_source_display()


@admin.register(Group)
class GroupAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.DEPARTMENT_ADMIN)
    change_roles = add_roles = delete_roles = (Role.TENANT_ADMIN,)
    section, order = "People", 21
    add_label = "Add a group"
    summary = "Documents are opened to groups; put people into them here."
    empty_text = "No group but “everyone” yet. Add one for each circle of readers."
    deletion_warning = (
        "Its grants go with it: everybody who could read a document only through this group "
        "loses that at once, also in answers being made right now."
    )
    list_display = ["name", "member_count", "source", "built_in"]
    list_filter = ["source"]
    search_fields = ["name"]
    ordering = ["name"]
    fields = ["name", "who"]
    readonly_fields = ["who"]
    inlines = [MemberInline]

    def visible_rows(self, request):
        return super().visible_rows(request).annotate(size=Count("memberships"))

    @admin.display(description="members", ordering="size")
    def member_count(self, group: Group) -> int:
        return group.size

    @admin.display(description="who is in it")
    def who(self, group: Group) -> str:
        if group._state.adding:
            return "Add members below, or later from the list of people."
        return format_html(
            '<a href="{}?member_of__id__exact={}">{} in the list of people</a>{}',
            reverse("admin:tenants_user_changelist"),
            group.pk,
            group.size,
            ", every account of this tenant, by itself" if group.built_in else "",
        )

    def has_change_permission(self, request, obj=None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.built_in)

    def has_delete_permission(self, request, obj=None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.built_in)

    def get_inlines(self, request, obj):
        if obj and (obj.built_in or obj.size > MEMBERS_IN_FORM):
            return []
        return super().get_inlines(request, obj)

    def write(self, request, form, formsets, change):
        actor, name = request.user, form.cleaned_data["name"]
        added, removed = added_and_removed(formsets[0]) if formsets else ([], [])
        newcomers = [row["user"] for row in added]
        services.lock_people([*(user.id for user in newcomers), *(row.user_id for row in removed)])
        done = []
        if not change:
            group = services.create_group(name=name, actor=actor)
            form.instance.pk = group.pk
            done.append(f"Group “{group}” was created.")
        else:
            group = Group.objects.get(pk=form.instance.pk)
            if group.name != name:
                done.append(f"Group “{group}” is now called “{name}”.")
                services.rename_group(group=group, name=name, actor=actor)
        for user in newcomers:
            if services.add_to_group(user=user, group=group, actor=actor):
                done.append(f"{user} is now in “{group}”.")
        for row in removed:
            if services.remove_from_group(user=row.user, group=group, actor=actor):
                done.append(f"{row.user} is no longer in “{group}”.")
        return done

    def erase(self, request, obj):
        services.delete_group(group=obj, actor=request.user)
