"""Evaluation runs: started, watched, cancelled, compared and read."""

import csv
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from answers.canaries import can_be_tried
from evaluation.gates import candidates
from evaluation.measures import PARTS, parts, summary
from evaluation.models import EvalRun, RunState
from evaluation.runs import cancel_run, start_run
from evaluation.runs.comparing import compare, variation
from evaluation.runs.junit import junit
from evaluation.selectors import failed_cases, failure_kinds, visible_runs
from tenants.admin_base import PreceptForm, PreceptModelAdmin, refusals
from tenants.models import Role, User
from tenants.spreadsheets import harmless

_COLUMNS = [
    *["case", "variant", "repeat", "kind", "language", "expected", "outcome", "passed"],
    *["violations", "citations", "citationsRight", "ungrounded", "firstRank", "answerMs"],
    *["tokens", "why"],
]
# What the page shows of all measures, in this order: (key, label, is a share).
SHOWN = [
    ("passRate", "Cases passed", True),
    ("outcomeAccuracy", "Outcome as expected", True),
    ("citationCorrectness", "Citations of a required document", True),
    ("answerableAnswered", "Answerable questions answered", True),
    ("unanswerableRefused", "Unanswerable questions refused", True),
    ("recallAt10", "Required documents among the first 10 candidates", True),
    ("mrr", "Reciprocal rank of the first one", False),
    ("ungroundedSentences", "Ungrounded sentences", False),
    ("quotesNotVerbatim", "Quotes that are not verbatim", False),
    ("violations", "Permission violations", False),
    ("firstStatusMs", "Milliseconds to the first status", False),
    ("answerMsMedian", "Milliseconds to the answer, median", False),
    ("answerMsP95", "Milliseconds to the answer, 95 % within", False),
    ("tokensPerAnswered", "Tokens of an answered question", False),
    ("costPerAnswered", "Cost of an answered question", False),
]


class RunForm(PreceptForm):
    candidate = forms.ChoiceField(
        required=False,
        help_text="An index generation or answer configuration beside what serves. "
        "Empty: as questions are answered now.",
    )
    compared = forms.BooleanField(
        label="Compare with the serving one",
        required=False,
        help_text="Runs each case through both.",
    )
    times = forms.TypedChoiceField(
        label="How often",
        coerce=int,
        choices=[(1, "Once"), (3, "3 times, to see what varies"), (5, "5 times")],
        initial=1,
    )
    minutes = forms.IntegerField(
        label="Stop after minutes", required=False, min_value=1, max_value=1440
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "candidate" in self.fields:
            self.chosen = {str(one.pk): one for one in candidates() if can_be_tried(one)}
            names = [(key, one.name) for key, one in self.chosen.items()]
            self.fields["candidate"].choices = [("", "What serves"), *names]

    def clean_candidate(self):
        return self.chosen.get(self.cleaned_data["candidate"])


@admin.register(EvalRun)
class EvalRunAdmin(PreceptModelAdmin):
    view_roles = add_roles = (Role.TENANT_ADMIN, Role.REVIEWER)
    section, order = "Oversight", 42
    plural = "Evaluation runs"
    summary = "How the answers did when all cases were asked; run them again."
    empty_text = "No run yet. Start one to see how all active cases do."
    add_label = save_label = "Start a run"
    stays_on_page = True
    form = RunForm
    list_display = ["created_at", "state", "progress", "through", "passed", "violated"]
    list_filter = ["state", "created_at", "finished_at"]
    change_form_template = "admin/evaluation/evalrun/change_form.html"

    def visible_rows(self, request):
        return visible_runs(caller=request.user)

    def get_fields(self, request, obj=None):
        if obj is None:
            return ["candidate", "compared", "times", "minutes"]
        return ["state", "progress", "through", "asked_for_by", "started_at", "finished_at"]

    def get_readonly_fields(self, request, obj=None):
        return [] if obj is None else self.get_fields(request, obj)

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        run = start_run(
            actor=request.user,
            candidate=given["candidate"],
            compared=given["compared"],
            repeats=given["times"],
            most_minutes=given["minutes"],
        )
        form.instance.pk = run.pk
        return [f"The run was started: {run.total} answers. It goes on in the background."]

    @admin.display(description="progress")
    def progress(self, run: EvalRun) -> str:
        return f"{run.done} of {run.total}"

    @admin.display(description="asked for by")
    def asked_for_by(self, run: EvalRun) -> str:
        return str(run.requested_by or "the operator")

    @admin.display(description="through")
    def through(self, run: EvalRun) -> str:
        names = {
            "serving": run.generation or "what serves",
            "candidate": run.candidate_generation
            or run.candidate_configuration
            or "a candidate that is gone",
        }
        return " and ".join(str(names[variant]) for variant in run.variants) or "–"

    @admin.display(description="passed")
    def passed(self, run: EvalRun) -> str:
        cases = run.measures.get("cases")
        return f"{run.measures['passed']} of {cases}" if cases is not None else "–"

    @admin.display(description="permission violations")
    def violated(self, run: EvalRun) -> str:
        return str(run.measures.get("violations", "–"))

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None:
            context |= {"is_open": obj.state in (RunState.QUEUED, RunState.RUNNING)}
            if obj.measures:
                context |= _shown(obj, request.GET.get("by", "kind"))
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_urls(self):
        wrap = self.admin_site.admin_view
        return [
            path(
                "<path:object_id>/cancel/", wrap(self.cancel_view), name="evaluation_evalrun_cancel"
            ),
            path(
                "<path:object_id>/results.<str:kind>",
                wrap(self.export_view),
                name="evaluation_evalrun_export",
            ),
            *super().get_urls(),
        ]

    def cancel_view(self, request, object_id):
        run = self.get_object(request, object_id)
        if run is None or request.method != "POST":
            raise Http404
        with refusals():
            asked = cancel_run(run=run, actor=request.user)
        if asked:
            messages.success(request, "The run ends before its next case.")
        else:
            messages.info(request, "The run had ended already; nothing was changed.")
        return redirect("admin:evaluation_evalrun_change", run.pk)

    def export_view(self, request, object_id, kind):
        run = self.get_object(request, object_id)
        if run is None or kind not in ("csv", "xml"):
            raise Http404
        if kind == "xml":
            return _file(junit(run), "text/xml", "xml")
        response = _file(b"", "text/csv; charset=utf-8", "csv")
        write_results(run, response)
        return response


def _file(content: bytes, media_type: str, ending: str) -> HttpResponse:
    name = f'attachment; filename="evaluation.{ending}"'
    return HttpResponse(content, headers={"Content-Type": media_type, "Content-Disposition": name})


def write_results(run: EvalRun, target) -> None:
    """One row a result; counts and kinds, no words of any document."""
    rows = csv.writer(target)
    rows.writerow(_COLUMNS)
    for result in run.results.select_related("case").order_by("case__key", "variant", "repeat"):
        rows.writerow(
            [
                harmless(result.case.key),
                result.variant,
                result.repeat,
                harmless(result.kind),
                result.language,
                result.expected_outcome,
                result.outcome,
                int(result.passed),
                len(result.violations),
                result.citations,
                result.citations_right,
                result.ungrounded,
                result.first_rank,
                result.answer_ms,
                result.tokens,
                "; ".join(failure_kinds(result)),
            ]
        )


def _shown(run: EvalRun, by: str) -> dict[str, object]:
    by = by if by in PARTS else "kind"
    results = list(run.results.filter(variant=run.variants[-1]))
    split = parts(results, by)
    if by == "person":
        people = User.objects.in_bulk([key for key in split if key])
        split = {
            str(people.get(UUID(key) if key else None, key)): value for key, value in split.items()
        }
    context: dict[str, object] = {
        "measures": [
            (label, _said(run.measures.get(key), is_share)) for key, label, is_share in SHOWN
        ],
        "by": by,
        "ways": list(PARTS),
        "parts": [
            (
                name or "–",
                part["cases"],
                _said(part["passRate"], True),
                _said(part["citationCorrectness"], True),
                part["violations"],
            )
            for name, part in split.items()
        ],
        "failing": failed_cases(run)[:500],
    }
    if run.is_comparison:
        comparison = compare(run)
        context |= {
            "comparison": comparison,
            "changed": [
                (
                    one.case.key,
                    one.serving.outcome,
                    one.serving.passed,
                    one.candidate.outcome,
                    one.candidate.passed,
                )
                for one in comparison.changed[:500]
            ],
            "serving_summary": summary(list(run.results.filter(variant="serving"))),
        }
    if run.repeats > 1:
        context["variation"] = variation(run)
    return context


def _said(value, is_share: bool) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if is_share else f"{value:g}"
