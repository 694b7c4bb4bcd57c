from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "tenants"
    verbose_name = "People and groups"

    def ready(self) -> None:
        from . import checks, openapi  # noqa: F401
