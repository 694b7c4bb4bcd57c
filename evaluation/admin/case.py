"""Evaluation cases: written, moved through their life, confirmed, taken in and given out as files."""

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from documents.access import readable_documents
from documents.models import Document
from evaluation.cases import (
    MOVES,
    change_case,
    confirm_case,
    create_case,
    may_see_words,
    move_case,
)
from evaluation.exchange import FileFormat, as_file, export_cases, import_cases, parse
from evaluation.models import CaseState, EvalCase
from tenants.admin_base import PreceptForm, PreceptModelAdmin, Refused, refusals
from tenants.admin_bulk import bulk_action
from tenants.models import Group, Role, User

_MOST_BYTES = 2_000_000
_LINES = forms.Textarea(attrs={"rows": 3, "cols": 70})


def _lines(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(label=label, help_text=help_text, required=False, widget=_LINES)


class CaseForm(PreceptForm):
    wanted = _lines("Must say", "Words that the answer must hold, one piece a line.")
    sections = _lines("Must cite one of these sections", "Headings, one a line.")
    unwanted = _lines("Must not say", "Words that must not appear, one piece a line.")
    documents = forms.ModelMultipleChoiceField(
        label="Must cite one of these documents",
        queryset=Document.across_tenants.none(),
        required=False,
        help_text="Only documents that you may read.",
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        case = self.instance
        if "wanted" in self.fields and case.pk and not case._state.adding:
            self.initial |= {
                "wanted": "\n".join(case.required_text),
                "sections": "\n".join(case.required_sections),
                "unwanted": "\n".join(case.forbidden_text),
                "documents": case.required_documents,
            }


class ImportForm(forms.Form):
    file = forms.FileField(
        label="File", help_text="JSON or CSV, as an export writes it. All cases of it or none."
    )

    def clean_file(self):
        file = self.cleaned_data["file"]
        ending = file.name.rpartition(".")[2].lower()
        if ending not in list(FileFormat):
            raise ValidationError("The file must end in .json or .csv.")
        if file.size > _MOST_BYTES:
            raise ValidationError("The file is larger than 2 MB; split it.")
        try:
            text = file.read().decode("utf-8")
        except UnicodeDecodeError:
            raise ValidationError("The file is not UTF-8 text.") from None
        self.cleaned_data["rows"] = parse(text, FileFormat(ending))
        return file


def _mover(state: CaseState, label: str, done: str):
    return bulk_action(
        name=f"move_to_{state}",
        label=label,
        apply=lambda request, case, _: move_case(case=case, to=state, actor=request.user),
        changed=done,
        unchanged="Was that already",
        permission="change",
    )


@admin.register(EvalCase)
class EvalCaseAdmin(PreceptModelAdmin):
    """What a case expects is shown to who may read the documents it requires, and to nobody else."""

    view_roles = change_roles = add_roles = (Role.TENANT_ADMIN, Role.REVIEWER)
    section, order = "Oversight", 41
    plural, add_label = "Evaluation cases", "Add a case"
    summary = "Questions whose outcome is known, each asked with one person's rights."
    empty_text = "No case yet. Write one, make one from feedback, or take in a file."
    stays_on_page = True
    form = CaseForm
    list_display = ["key", "kind", "language", "asker", "expected_outcome", "state", "why"]
    list_filter = ["state", "kind", "language", "expected_outcome"]
    list_select_related = ["as_user"]
    search_fields = ["key"]
    autocomplete_fields = ["as_user"]
    change_form_template = "admin/evaluation/evalcase/change_form.html"
    change_list_template = "admin/evaluation/evalcase/change_list.html"
    actions = [
        _mover(CaseState.REVIEWED, "Mark as reviewed", "Reviewed"),
        _mover(CaseState.ACTIVE, "Make active", "Active from now on"),
        _mover(CaseState.DRAFT, "Back to draft", "Drafts again"),
        bulk_action(
            name="confirm",
            label="Confirm after a change…",
            button="They hold as they are",
            explanation="Each is bound to the rights and versions of now, and is active again.",
            apply=lambda request, case, _: confirm_case(case=case, actor=request.user),
            changed="Confirmed",
            unchanged="Did not ask for review",
            permission="change",
        ),
    ]

    def _sees(self, request, obj) -> bool:
        return obj is None or may_see_words(viewer=request.user, case=obj)

    def has_change_permission(self, request, obj=None) -> bool:
        return super().has_change_permission(request, obj) and self._sees(request, obj)

    def get_fields(self, request, obj=None):
        heads = ["key", "question", "as_user", "language", "kind", "expected_outcome"]
        told = ["state", "why", "version", "created_at"] if obj else []
        if not self._sees(request, obj):
            return [*heads, *told, "withheld"]
        words = ["documents", "sections", "wanted", "unwanted", "correct_answer"]
        return [*heads, *words, *told]

    def get_readonly_fields(self, request, obj=None):
        return ["state", "why", "version", "created_at", "withheld"]

    def get_form(self, request, obj=None, change=False, **kwargs):
        form = super().get_form(request, obj, change=change, **kwargs)
        if "documents" in form.base_fields:
            form.base_fields["documents"].queryset = readable_documents(user=request.user).order_by(
                "title"
            )
        return form

    def choices_for(self, request, field_name):
        return User.objects.filter(is_active=True) if field_name == "as_user" else None

    @admin.display(description="asked as", ordering="as_user__email")
    def asker(self, case: EvalCase) -> str:
        return str(case.as_user)

    @admin.display(description="asks for review since")
    def why(self, case: EvalCase) -> str:
        if not case.review_why:
            return "–"
        sentence = case.get_review_why_display()
        group = Group.objects.filter(pk=case.review_object).first()
        return f"{sentence}: “{group}”" if group else sentence

    @admin.display(description="what it expects")
    def withheld(self, case: EvalCase) -> str:
        return "Withheld: it rests on documents that you may not read."

    def write(self, request, form, formsets, change):
        given = form.cleaned_data
        content = {
            **{name: given[name] for name in ("key", "question", "language", "kind")},
            "as_user": given["as_user"],
            "expected_outcome": given["expected_outcome"],
            "correct_answer": given["correct_answer"],
            "required_documents": [row.pk for row in given["documents"]],
            "required_text": _split(given["wanted"]),
            "required_sections": _split(given["sections"]),
            "forbidden_text": _split(given["unwanted"]),
        }
        if not change:
            case = create_case(**content, actor=request.user)
            form.instance.pk = case.pk
            return [f"“{case}” was made, as a draft."]
        if not form.changed_data:
            return []
        case = EvalCase.objects.get(pk=form.instance.pk)
        change_case(case=case, actor=request.user, **content)
        return [f"“{case}” was changed and is a draft again."]

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None and self.has_change_permission(request, obj):
            context |= {
                "moves": [(to, CaseState(to).label) for to in MOVES[CaseState(obj.state)]],
                "asks_for_review": obj.state == CaseState.NEEDS_REVIEW,
                "versions": obj.versions.select_related("changed_by")[:50],
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    def attention(self, request):
        count = EvalCase.objects.filter(state=CaseState.NEEDS_REVIEW).count()
        address = f"{reverse('admin:evaluation_evalcase_changelist')}?state__exact=needs_review"
        return [(f"{count} cases ask for review", address)] if count else []

    def get_urls(self):
        wrap = self.admin_site.admin_view
        return [
            path("import/", wrap(self.import_view), name="evaluation_evalcase_import"),
            path("export.<str:kind>", wrap(self.export_view), name="evaluation_evalcase_export"),
            path(
                "<path:object_id>/move-to-<str:state>/",
                wrap(self.move_view),
                name="evaluation_evalcase_move",
            ),
            *super().get_urls(),
        ]

    def move_view(self, request, object_id, state):
        case = self.get_object(request, object_id)
        if case is None or request.method != "POST" or state not in CaseState.values:
            raise Http404
        try:
            with refusals():
                if state == CaseState.ACTIVE and case.state == CaseState.NEEDS_REVIEW:
                    done = confirm_case(case=case, actor=request.user)
                else:
                    done = move_case(case=case, to=CaseState(state), actor=request.user)
        except Refused as refused:
            messages.error(request, " ".join(refused.error.messages))
        else:
            label = CaseState(state).label.lower()
            (messages.success if done else messages.info)(
                request, f"“{case}” is {'now' if done else 'already'} {label}."
            )
        return redirect("admin:evaluation_evalcase_change", case.pk)

    def export_view(self, request, kind):
        if not self.has_view_permission(request):
            raise PermissionDenied
        if kind not in list(FileFormat):
            raise Http404
        text = as_file(export_cases(viewer=request.user), FileFormat(kind))
        media = {"json": "application/json", "csv": "text/csv"}[kind]
        name = f'attachment; filename="cases.{kind}"'
        return HttpResponse(
            text, content_type=f"{media}; charset=utf-8", headers={"Content-Disposition": name}
        )

    def import_view(self, request):
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ImportForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            try:
                with refusals():
                    imported = import_cases(rows=form.cleaned_data["rows"], actor=request.user)
            except Refused as refused:
                form.add_error("file", refused.error)
            else:
                messages.success(request, f"{len(imported.cases)} cases were taken in, as drafts.")
                return redirect("admin:evaluation_evalcase_changelist")
        context = {
            **self.admin_site.each_context(request),
            "title": "Take in cases from a file",
            "opts": self.opts,
            "page_name": self.page_name,
            "form": form,
        }
        return TemplateResponse(request, "admin/evaluation/evalcase/import.html", context)


def _split(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
