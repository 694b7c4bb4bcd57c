from django.apps import AppConfig


class FactorsConfig(AppConfig):
    name = "tenants.factors"
    label = "factors"
    verbose_name = "Second factors"

    def ready(self) -> None:
        from . import record  # noqa: F401  connects to what allauth tells
