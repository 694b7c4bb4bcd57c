"""HTTP for evaluation runs: validate, call, respond."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from tenants.api import Input
from tenants.models import TokenUse

from .gates import candidate_named
from .models import EvalRun
from .runs import cancel_run, start_run
from .runs.starting import MOST_REPEATS, require_runner
from .selectors import failed_cases, get_run, visible_runs

PAGE_SIZE = 50


class RunInput(Input):
    cases = serializers.ListField(
        child=serializers.CharField(max_length=120), required=False, default=list, max_length=5000
    )
    candidate = serializers.CharField(
        max_length=250,
        required=False,
        default="",
        help_text="Name of an index generation or an answer configuration.",
    )
    compared = serializers.BooleanField(required=False, default=False)
    repeats = serializers.IntegerField(
        required=False, default=1, min_value=1, max_value=MOST_REPEATS
    )
    most_minutes = serializers.IntegerField(required=False, min_value=1, max_value=1440)
    most_tokens = serializers.IntegerField(required=False, min_value=1, max_value=10**9)


class RunOutput(serializers.Serializer):
    run_id = serializers.UUIDField()
    state = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    not_run = serializers.IntegerField(help_text="Cases that ask for review first.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    measures = serializers.DictField()


class FailureOutput(serializers.Serializer):
    case = serializers.CharField()
    outcome = serializers.CharField()
    expected = serializers.CharField()
    why = serializers.ListField(child=serializers.CharField())


class WholeRunOutput(RunOutput):
    failures = FailureOutput(many=True)


class RunsView(APIView):
    token_uses = {"GET": TokenUse.EVALUATE, "POST": TokenUse.EVALUATE}

    @extend_schema(operation_id="listEvaluationRuns", responses=RunOutput(many=True))
    def get(self, request) -> Response:
        """The latest runs."""
        require_runner(request.user)
        return Response([_run(run) for run in visible_runs(caller=request.user)[:PAGE_SIZE]])

    @extend_schema(operation_id="startEvaluationRun", request=RunInput, responses={202: RunOutput})
    def post(self, request) -> Response:
        """Run the active cases in the background, or those named."""
        require_runner(request.user)
        data = RunInput(data=request.data)
        data.is_valid(raise_exception=True)
        given = data.validated_data
        run = start_run(
            actor=request.user,
            keys=given["cases"],
            candidate=candidate_named(given["candidate"]) if given["candidate"] else None,
            compared=given["compared"],
            repeats=given["repeats"],
            most_minutes=given.get("most_minutes"),
            most_tokens=given.get("most_tokens"),
        )
        return Response(_run(run), status=202)


class RunView(APIView):
    token_uses = {"GET": TokenUse.EVALUATE}

    @extend_schema(operation_id="getEvaluationRun", responses=WholeRunOutput)
    def get(self, request, run_id: UUID) -> Response:
        """One run, with the cases that failed."""
        run = get_run(caller=request.user, run_id=run_id)
        failures = [
            {"case": one.key, "outcome": one.outcome, "expected": one.expected, "why": one.why}
            for one in failed_cases(run)
        ]
        return Response({**_run(run), "failures": failures})


class CancelRunView(APIView):
    token_uses = {"POST": TokenUse.EVALUATE}

    @extend_schema(operation_id="cancelEvaluationRun", request=None, responses=RunOutput)
    def post(self, request, run_id: UUID) -> Response:
        """End a run before its next case."""
        run = get_run(caller=request.user, run_id=run_id)
        cancel_run(run=run, actor=request.user)
        run.refresh_from_db()
        return Response(_run(run))


def _run(run: EvalRun) -> dict[str, object]:
    return {
        "run_id": run.pk,
        "state": run.state,
        "total": run.total,
        "done": run.done,
        "not_run": run.not_run,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
        "measures": run.measures,
    }
