"""The admin site: who may open which page is decided by role, page by page."""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.template.response import TemplateResponse
from django.urls import path, reverse

from .admin_base import PreceptModelAdmin, request_roles
from .models import Role
from .role_table import NOTES, STAFF_ROLES, role_table
from .selectors import names_of_people

# The front page follows what people come to do, not the rooms of the code.
SECTIONS = ("Documents", "People", "Sign-in", "Answers", "Oversight")


class PreceptAdminSite(admin.AdminSite):
    site_header = site_title = "Precept administration"
    index_title = "Administration"
    enable_nav_sidebar = False
    empty_value_display = "–"

    def __init__(self, name: str = "admin"):
        super().__init__(name)
        self.disable_action("delete_selected")

    def register(self, model_or_iterable, admin_class=None, **options) -> None:
        """Only pages that say who may open them; those of other packages have no role table."""
        if not hasattr(admin_class, "view_roles"):
            return
        if not issubclass(admin_class, PreceptModelAdmin):
            # A room below this one cannot import the base class, so it is given to it here.
            admin_class = type(admin_class.__name__, (admin_class, PreceptModelAdmin), {})
        super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request_roles(request) - {Role.EMPLOYEE})

    def admin_view(self, view, cacheable=False):
        inner = super().admin_view(view, cacheable)

        def guarded(request, *args, **kwargs):
            # Sending somebody who is signed in to the sign-in page would only send them back.
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            return inner(request, *args, **kwargs)

        guarded.csrf_exempt = getattr(inner, "csrf_exempt", False)
        return guarded

    def get_urls(self):
        # "View on site" would tell an id that exists from one that does not.
        urls = [url for url in super().get_urls() if getattr(url, "name", "") != "view_on_site"]
        return [path("roles/", self.admin_view(self.roles_view), name="roles"), *urls]

    def roles_view(self, request) -> HttpResponse:
        """Who may do what, for everybody with a role."""
        order = {name: place for place, name in enumerate(SECTIONS)}
        pages = sorted(self._registry.values(), key=lambda page: (order[page.section], page.order))
        context = {
            **self.each_context(request),
            "title": "Who may do what",
            "sections": [
                (name, role_table(page for page in pages if page.section == name))
                for name in SECTIONS
            ],
            "roles": [(role.label, NOTES[role]) for role in STAFF_ROLES],
            "employees": NOTES[Role.EMPLOYEE],
        }
        return TemplateResponse(request, "admin/roles.html", context)

    def login(self, request, extra_context=None) -> HttpResponse:
        """There is one sign-in page."""
        if request.user.is_authenticated:
            return redirect("admin:index")
        where = request.GET.get("next") or reverse("admin:index")
        return redirect_to_login(where, resolve_url(settings.LOGIN_URL))

    def password_change(self, request, extra_context=None) -> HttpResponse:
        return redirect("account_change_password")

    def app_index(self, request, app_label, extra_context=None) -> HttpResponse:
        return redirect("admin:index")  # pages are grouped by task, not by app

    def index(self, request, extra_context=None) -> HttpResponse:
        sections = []
        for name in SECTIONS:
            pages = [
                page | {"attention": page["admin"].attention(request)}
                for page in self._pages(request)
                if page["admin"].section == name
            ]
            if pages:
                sections.append({"name": name, "pages": pages})
        return super().index(request, {"sections": sections, **(extra_context or {})})

    def _pages(self, request) -> list[dict]:
        apps = self.get_app_list(request)
        pages = [
            page | {"admin": self._registry[page["model"]]}
            for app in apps
            for page in app["models"]
        ]
        return sorted(pages, key=lambda page: page["admin"].order)

    def names_of_people(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        """For rooms that keep ids only."""
        return names_of_people(ids=ids)
