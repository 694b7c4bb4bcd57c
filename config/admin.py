"""The admin site of Precept replaces Django's default one."""

from django.contrib.admin.apps import AdminConfig


class PreceptAdminConfig(AdminConfig):
    default_site = "tenants.admin_site.PreceptAdminSite"
