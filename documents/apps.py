from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "documents"
    verbose_name = "Documents"

    def ready(self) -> None:
        from . import checks, worker  # noqa: F401
        from .dispatch import register_sweep
        from .retention import purge_everywhere

        register_sweep(purge_everywhere)
