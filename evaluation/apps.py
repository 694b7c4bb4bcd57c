from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from documents.dispatch import register_sweep
        from documents.retention import Keeper, register_keeper

        from .canary import watch_canaries_everywhere
        from .reports.weekly import make_reports_everywhere
        from .retention import forget_document
        from .runs.running import resume_runs_everywhere

        register_keeper(Keeper(forget_document))
        register_sweep(resume_runs_everywhere)
        register_sweep(make_reports_everywhere)
        register_sweep(watch_canaries_everywhere)
