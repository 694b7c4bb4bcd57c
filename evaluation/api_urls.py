from django.urls import path

from . import api

urlpatterns = [
    path("evaluation/runs", api.RunsView.as_view(), name="api_runs"),
    path("evaluation/runs/<uuid:run_id>", api.RunView.as_view(), name="api_run"),
    path(
        "evaluation/runs/<uuid:run_id>/cancel", api.CancelRunView.as_view(), name="api_cancel_run"
    ),
]
