from django.apps import AppConfig


class AnswersConfig(AppConfig):
    name = "answers"
    verbose_name = "Answers"

    def ready(self) -> None:
        from documents.dispatch import register_sweep

        from .abandoned import end_abandoned_everywhere

        register_sweep(end_abandoned_everywhere)
