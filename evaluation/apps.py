from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from documents.retention import Keeper, register_keeper

        from .retention import forget_document

        register_keeper(Keeper(forget_document))
