"""What every admin page shares: the role table, writing through services, and plain 404s.

An admin class states `view_roles` and so on, and writes in `write`, `erase` and its actions only.
Django's own log is not written, since it belongs to no tenant: the audit record is.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from .models import Role
from .selectors import NotFound, roles_of

# What a filter may ask of a field; everything else could be used to guess at hidden columns.
_LOOKUPS = {"", "exact", "id__exact", "isnull", "isempty", "in", "gte", "lt"}


class Refused(Exception):
    """A service said no. The form is shown again with its reason; nothing was written."""

    def __init__(self, error: ValidationError):
        super().__init__(str(error))
        self.error = error


@contextmanager
def refusals() -> Iterator[None]:
    """Turns what services raise into Refused, apart from a 403 for a page of another role."""
    try:
        yield
    except ValidationError as error:
        raise Refused(error) from None
    except PermissionDenied as error:
        raise Refused(ValidationError(str(error) or "You do not have the role for this.")) from None
    except NotFound:
        gone = "What you are changing is no longer there; go back to the list."
        raise Refused(ValidationError(gone)) from None


class PreceptForm(forms.ModelForm):
    """A form whose model rules are the service's and the database's to check."""

    refusal: ValidationError | None = None

    def _get_validation_exclusions(self) -> set[str]:
        # Django would say of an address taken here that it is, and not of one taken elsewhere.
        return {field.name for field in self._meta.model._meta.fields}

    def validate_unique(self) -> None:
        """As above."""

    def full_clean(self) -> None:
        super().full_clean()
        if not self.is_bound or self.refusal is None:
            return
        if not hasattr(self.refusal, "error_dict"):
            self.add_error(None, self.refusal)
            return
        for field, errors in self.refusal.error_dict.items():
            self.add_error(field if field in self.fields else None, errors)


class Autocomplete(AutocompleteSelect):
    """A value that is no id selects nothing; Django would raise while it shows the form again."""

    def optgroups(self, name, value, attr=None):
        key = self.field.remote_field.model._meta.pk
        return super().optgroups(name, [one for one in value if _is_key(key, one)], attr)


class RoleGate:
    """What model admins and inlines share: the role table and choices within the caller's scope."""

    view_roles: Iterable[str] = ()
    change_roles: Iterable[str] = ()
    add_roles: Iterable[str] = ()
    delete_roles: Iterable[str] = ()

    formfield_overrides = {
        models.DateField: {
            "widget": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        },
    }

    def has_view_permission(self, request, obj=None) -> bool:
        return holds(request, self.view_roles) or self.has_change_permission(request, obj)

    def has_change_permission(self, request, obj=None) -> bool:
        return holds(request, self.change_roles)

    def has_add_permission(self, request, obj=None) -> bool:
        return holds(request, self.add_roles)

    def has_delete_permission(self, request, obj=None) -> bool:
        return holds(request, self.delete_roles)

    def has_module_permission(self, request) -> bool:
        return self.has_view_permission(request)

    def choices_for(self, request, field_name: str) -> models.QuerySet | None:
        """Rows a reference may point to; None leaves all of the tenant's."""
        return None

    def formfield_for_foreignkey(self, db_field, request, **kwargs):
        choices = self.choices_for(request, db_field.name)
        if choices is not None:
            kwargs["queryset"] = choices
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs["widget"] = Autocomplete(db_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field, request, **kwargs):
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        for link in ("add", "change", "delete", "view"):
            if hasattr(field, "widget") and hasattr(field.widget, f"can_{link}_related"):
                setattr(field.widget, f"can_{link}_related", False)
        return field


class PreceptModelAdmin(RoleGate, admin.ModelAdmin):
    form = PreceptForm
    section = ""
    order = 0
    plural = ""  # what the page is called; empty: as the model is
    summary = ""  # one sentence for the front page
    empty_text = "Nothing here yet."
    add_label = "Add"
    save_label = "Save"
    stays_on_page = False  # after saving; else back to the list
    deletion_warning = ""  # what deleting does, in the words of who does it
    list_per_page = 50
    show_full_result_count = False

    def visible_rows(self, request) -> models.QuerySet:
        """What somebody with a role for this page sees of it."""
        return super().get_queryset(request)

    def write(self, request, form, formsets, change: bool) -> list[str]:
        """Call the services; return one sentence for each thing done. May raise what they raise."""
        raise NotImplementedError(f"{type(self).__name__} changes nothing")

    def erase(self, request, obj) -> None:
        raise NotImplementedError(f"{type(self).__name__} deletes nothing")

    def attention(self, request) -> list[tuple[str, str]]:
        """(sentence, address) of what waits for somebody, for the front page."""
        return []

    @property
    def page_name(self) -> str:
        return self.plural or str(self.opts.verbose_name_plural).capitalize()

    def title_of(self, obj) -> str:
        return str(obj)

    def changelist_view(self, request, extra_context=None):
        context = {"title": self.page_name, "page_name": self.page_name, **(extra_context or {})}
        return super().changelist_view(request, context)

    def get_search_results(self, request, queryset, search_term):
        # The list's form refuses NUL; what autocomplete sends arrives here as it is.
        return super().get_search_results(request, queryset, search_term.replace("\x00", ""))

    def get_changeform_initial_data(self, request) -> dict[str, str]:
        return {}  # a link fills in nothing

    def get_queryset(self, request) -> models.QuerySet:
        if not self.has_view_permission(request):
            return super().get_queryset(request).none()
        return self.visible_rows(request)

    def lookup_allowed(self, lookup, value, request) -> bool:
        if "\x00" in str(value):
            return False  # PostgreSQL would raise
        for item in self.get_list_filter(request):
            name = item[0] if isinstance(item, list | tuple) else item
            if not isinstance(name, str):
                if lookup == getattr(name, "parameter_name", None):
                    return True  # a filter of our own, which asks what it likes of any value
                continue
            rest = lookup.removeprefix(f"{name}__") if lookup != name else ""
            if rest in _LOOKUPS and rest != lookup:
                return True
        return False

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"refusal": getattr(request, "precept_refusal", None)})

    def changeform_view(self, request, object_id=None, form_url="", extra_context=None):
        context = {
            "show_save_and_continue": False,
            "show_save_and_add_another": False,
            "save_label": self.save_label,
            **(extra_context or {}),
        }
        try:
            return super().changeform_view(request, object_id, form_url, context)
        except Refused as refused:
            # Its transaction is rolled back; the same input is shown again with the reason.
            request.precept_refusal = refused.error
            return super().changeform_view(request, object_id, form_url, context)

    def save_model(self, request, obj, form, change) -> None:
        """Nothing: save_related has the whole input."""

    def save_related(self, request, form, formsets, change) -> None:
        with refusals():
            request.precept_done = self.write(request, form, formsets, change)

    def delete_model(self, request, obj) -> None:
        with refusals():
            self.erase(request, obj)

    def delete_view(self, request, object_id, extra_context=None):
        context = {
            "deletion_warning": self.deletion_warning,
            "page_name": self.page_name,
            **(extra_context or {}),
        }
        try:
            return super().delete_view(request, object_id, context)
        except Refused as refused:
            for sentence in refused.error.messages:
                messages.error(request, sentence)
            return redirect(request.get_full_path())

    def get_deleted_objects(self, objs, request):
        return [str(obj) for obj in objs], {}, set(), []

    def response_add(self, request, obj, post_url_continue=None) -> HttpResponse:
        self.say_what_was_done(request)
        return self._own_page(obj) or self.response_post_save_add(request, obj)

    def response_change(self, request, obj) -> HttpResponse:
        self.say_what_was_done(request)
        return self._own_page(obj) or self.response_post_save_change(request, obj)

    def _own_page(self, obj) -> HttpResponse | None:
        if not self.stays_on_page:
            return None
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", obj.pk)

    def say_what_was_done(self, request) -> None:
        for sentence in request.precept_done:
            messages.success(request, sentence)
        if not request.precept_done:
            messages.info(request, "Nothing was changed: everything was already as you entered it.")

    def response_action(self, request, queryset):
        # Ids that are no ids select nothing, as ids of somebody else's rows do.
        pk = self.model._meta.pk
        chosen = [value for value in request.POST.getlist("_selected_action") if _is_key(pk, value)]
        request.POST = request.POST.copy()
        request.POST.setlist("_selected_action", chosen)
        return super().response_action(request, queryset)

    def history_view(self, request, object_id, extra_context=None):
        """The audit record tells an object's history."""
        obj = self.get_object(request, object_id)
        address = self.audit_trail_address(request, obj) if obj else ""
        if not address:
            raise Http404
        return redirect(address)

    def audit_trail_address(self, request, obj) -> str:
        if not holds(request, (Role.TENANT_ADMIN, Role.AUDITOR)):
            return ""
        return f"{reverse('admin:audit_auditrecord_changelist')}?{urlencode({'q': obj.pk})}"

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        context |= {
            "title": self.title_of(obj) if change else self.add_label,
            "subtitle": None,
            "page_name": self.page_name,
            "audit_trail_address": self.audit_trail_address(request, obj) if change else "",
        }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _get_obj_does_not_exist_redirect(self, request, opts, object_id):
        # Django would name the id and redirect; not there and not yours are both a plain 404.
        raise Http404

    def construct_change_message(self, request, form, formsets, add=False) -> str:
        return ""

    def log_addition(self, request, obj, message) -> None:
        """Services write the audit record."""

    def log_change(self, request, obj, message) -> None:
        """As above."""

    def log_deletions(self, request, queryset) -> None:
        """As above."""


class PreceptInline(RoleGate, admin.TabularInline):
    """Rows of a parent page: existing ones are shown and can be taken away, new ones added."""

    form = PreceptForm
    extra = 1
    labels: dict[str, str] = {}

    def get_formset(self, request, obj=None, **kwargs):
        return super().get_formset(request, obj, labels=self.labels, **kwargs)

    def has_view_permission(self, request, obj=None) -> bool:
        return self._parent().has_view_permission(request, obj)

    def has_change_permission(self, request, obj=None) -> bool:
        return False

    def has_add_permission(self, request, obj=None) -> bool:
        page = self._parent()
        return page.has_change_permission(request, obj) if obj else page.has_add_permission(request)

    def has_delete_permission(self, request, obj=None) -> bool:
        return self._parent().has_change_permission(request, obj)

    def _parent(self) -> PreceptModelAdmin:
        return self.admin_site.get_model_admin(self.parent_model)


def request_roles(request: HttpRequest) -> frozenset[Role]:
    """The caller's roles, asked once per request."""
    if not hasattr(request, "precept_roles"):
        request.precept_roles = roles_of(request.user)
    return request.precept_roles


def holds(request: HttpRequest, roles: Iterable[str]) -> bool:
    return not request_roles(request).isdisjoint(roles)


def added_and_removed(formset) -> tuple[list[dict], list[models.Model]]:
    """(cleaned data of new rows, existing rows ticked for removal) of a valid inline formset."""
    deleted = formset.deleted_forms
    # Read again: fields of an existing row are not sent, so its form has emptied them.
    keys = [form.instance.pk for form in formset.initial_forms if form in deleted]
    removed = list(formset.model.objects.filter(pk__in=keys))
    added = [
        form.cleaned_data
        for form in formset.extra_forms
        if form.has_changed() and form not in deleted
    ]
    return added, removed


def _is_key(field, value: str) -> bool:
    try:
        field.to_python(value)
    except ValidationError:
        return False
    return True
