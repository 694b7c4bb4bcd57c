from django.apps import AppConfig


class AnswersConfig(AppConfig):
    name = "answers"
    verbose_name = "Answers"

    def ready(self) -> None:
        from documents.dispatch import register_sweep
        from documents.retention import Keeper, register_keeper

        from . import checks  # noqa: F401
        from .abandoned import end_abandoned_everywhere
        from .retention import forget_document, forget_expired
        from .sampling import sample_everywhere

        register_sweep(end_abandoned_everywhere)
        register_sweep(sample_everywhere)
        register_keeper(Keeper(forget_document, forget_expired))
