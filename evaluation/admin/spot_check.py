"""The reviewer's desk: an answer beside what it rests on, judged, and made into a case in one step."""

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.views.decorators.cache import never_cache

from answers.selectors import feedback_on
from documents.access import readable_documents
from documents.models import Document
from evaluation.cases import create_case
from evaluation.judgements import Desk, judge_item, open_desk
from evaluation.models import Cause, Expected, SpotCheck, Verdict
from tenants.admin_base import PreceptModelAdmin, Refused, refusals
from tenants.models import Role
from tenants.selectors import NotFound

_LINES = forms.Textarea(attrs={"rows": 3, "cols": 70})
_WIDE = forms.TextInput(attrs={"size": 60})


class JudgementForm(forms.Form):
    outcome_right = forms.TypedChoiceField(
        label="Was it right to answer, or to refuse?",
        choices=[("yes", "Yes"), ("no", "No")],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )
    cause = forms.ChoiceField(label="What is wrong", choices=Cause.choices)
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What you found. Readers of the queue see it; write no words of documents.",
    )
    makes_case = forms.BooleanField(label="Make a case of it", required=False)
    key = forms.CharField(label="Name of the case", max_length=120, required=False, widget=_WIDE)
    expected_outcome = forms.ChoiceField(
        label="What must come of it", choices=Expected.choices, required=False
    )
    correct_answer = forms.CharField(
        label="The correct answer, in one line", max_length=500, required=False, widget=_WIDE
    )
    documents = forms.ModelMultipleChoiceField(
        label="Must cite one of these documents",
        queryset=Document.across_tenants.none(),
        required=False,
    )
    sections = forms.CharField(
        label="Must cite one of these sections, one a line", required=False, widget=_LINES
    )
    wanted = forms.CharField(label="Must say, one piece a line", required=False, widget=_LINES)
    unwanted = forms.CharField(
        label="Must not say, one piece a line", required=False, widget=_LINES
    )

    def __init__(self, *args, desk: Desk, reader, **kwargs):
        draft = desk.draft
        initial = {}
        if draft is not None:
            initial = {
                "key": draft.key,
                "expected_outcome": draft.expected_outcome,
                "documents": draft.required_documents,
                "sections": "\n".join(draft.required_sections),
                "wanted": "\n".join(" ".join(one.split()) for one in draft.required_text),
            }
        super().__init__(*args, initial=initial, **kwargs)
        self.fields["documents"].queryset = readable_documents(user=reader).order_by("title")
        for number in desk.judgeable:
            self.fields[f"verdict_{number}"] = forms.ChoiceField(
                label=f"Citation {number}",
                choices=[("", "not judged"), *Verdict.choices],
                required=False,
            )

    def verdicts(self) -> dict[int, Verdict]:
        prefix = "verdict_"
        return {
            int(name.removeprefix(prefix)): Verdict(value)
            for name, value in self.cleaned_data.items()
            if name.startswith(prefix) and value
        }

    def clean(self):
        given = super().clean()
        if given.get("makes_case") and not given.get("key"):
            self.add_error("key", "Name the case.")
        return given


@admin.register(SpotCheck)
class SpotCheckAdmin(PreceptModelAdmin):
    view_roles = (Role.REVIEWER,)
    section, order = "Answers", 33
    plural = "Judgements"
    summary = "What reviewers found about answers, and the cases they made of them."
    empty_text = "No judgement yet. Judge an item of the review queue."
    list_display = ["judged_at", "judge", "outcome_right", "cause", "case_made"]
    list_filter = ["cause", "outcome_right", "judged_at"]
    list_select_related = ["judged_by", "case"]
    fields = readonly_fields = [
        "judged_at",
        "judge",
        "outcome_right",
        "cause",
        "note",
        "case_made",
    ]

    @admin.display(description="judged by")
    def judge(self, check: SpotCheck) -> str:
        return str(check.judged_by)

    @admin.display(description="case")
    def case_made(self, check: SpotCheck) -> str:
        return str(check.case or "–")

    def get_urls(self):
        view = self.admin_site.admin_view(never_cache(self.desk_view))
        return [
            path("judge/<uuid:item_id>/", view, name="evaluation_desk"),
            *super().get_urls(),
        ]

    def desk_view(self, request, item_id):
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            desk = open_desk(reviewer=request.user, item_id=item_id)
        except NotFound:
            raise Http404 from None
        form = JudgementForm(request.POST or None, desk=desk, reader=request.user)
        if request.method == "POST" and form.is_valid():
            try:
                with refusals():
                    told = _judge(request, desk, form)
            except Refused as refused:
                form.add_error(None, refused.error.messages)
            else:
                messages.success(request, told)
                return redirect("admin:answers_reviewitem_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": "Judge an answer",
            "opts": self.opts,
            "page_name": "Review queue",
            "queue": reverse("admin:answers_reviewitem_changelist"),
            "desk": desk,
            "item": desk.item,
            "answer": desk.item.answer,
            "said": str(feedback_on(desk.item.answer) or ""),
            "form": form,
            "case_fields": [form[name] for name in _CASE_FIELDS],
            "verdict_fields": [form[f"verdict_{number}"] for number in desk.judgeable],
        }
        return TemplateResponse(request, "admin/evaluation/spotcheck/desk.html", context)


_CASE_FIELDS = [
    *["makes_case", "key", "expected_outcome", "correct_answer"],
    *["documents", "sections", "wanted", "unwanted"],
]


@transaction.atomic
def _judge(request, desk: Desk, form: JudgementForm) -> str:
    given, case = form.cleaned_data, None
    if given["makes_case"] and desk.draft is not None:
        case = create_case(
            key=given["key"],
            question=desk.draft.question,
            as_user=desk.draft.as_user,
            expected_outcome=given["expected_outcome"] or desk.draft.expected_outcome,
            kind=desk.draft.kind,
            language=desk.draft.language,
            required_text=_split(given["wanted"]),
            required_documents=[row.pk for row in given["documents"]],
            required_sections=_split(given["sections"]),
            forbidden_text=_split(given["unwanted"]),
            correct_answer=given["correct_answer"],
            from_answer=desk.draft.from_answer,
            source_documents=desk.draft.source_documents,
            actor=request.user,
        )
    judge_item(
        reviewer=request.user,
        item=desk.item,
        outcome_right=given["outcome_right"],
        cause=Cause(given["cause"]),
        verdicts=form.verdicts(),
        note=given["note"],
        case=case,
    )
    return f"Judged; the case “{case}” was made as a draft." if case else "Judged."


def _split(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
