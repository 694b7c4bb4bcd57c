"""The admin site: who may open which page is decided by role, page by page."""

from django.contrib import admin


class PreceptAdminSite(admin.AdminSite):
    site_header = site_title = "Precept administration"
    index_title = "Administration"
    enable_nav_sidebar = False

    def has_permission(self, request) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_staff", False))
