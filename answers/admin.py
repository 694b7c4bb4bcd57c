"""The review queue, and what is known about each answer without its words."""

import json

from django import forms
from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.timezone import localtime

from tenants.admin_base import PreceptForm, PreceptInline, PreceptModelAdmin, holds
from tenants.models import Role

from . import services
from .admin_explanation import ExplanationPage
from .models import Answer, ContextPermit, Feedback, Purpose, ReviewItem, ReviewState
from .selectors import feedback_on, present_review, review_items, rule_of


class ReviewForm(PreceptForm):
    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 60}),
        help_text="What you found and what was done about it. It stays with the item.",
    )


@admin.register(ReviewItem)
class ReviewItemAdmin(PreceptModelAdmin):
    view_roles = change_roles = (Role.REVIEWER,)
    section, order, plural = "Answers", 30, "Review queue"
    summary = (
        "Drafts that failed a check, answers somebody found unhelpful, and the week's spot checks."
    )
    empty_text = "Nothing to review. Blocked drafts and unhelpful answers appear by themselves."
    save_label = "Close this item"
    form = ReviewForm
    list_display = ["created_at", "kind", "rule", "asker", "state", "closer"]
    list_filter = ["state", "kind", "created_at"]
    list_select_related = ["answer__user", "closed_by"]
    change_form_template = "admin/answers/reviewitem/change_form.html"

    def visible_rows(self, request):
        return review_items()

    def has_change_permission(self, request, obj=None) -> bool:
        is_closed = obj is not None and obj.state != ReviewState.OPEN
        return super().has_change_permission(request, obj) and not is_closed

    def title_of(self, item: ReviewItem) -> str:
        return f"{item.get_kind_display()}, {item.get_state_display().lower()}"

    @admin.display(description="why")
    def rule(self, item: ReviewItem) -> str:
        return rule_of(item)

    @admin.display(description="asked by", ordering="answer__user__email")
    def asker(self, item: ReviewItem) -> str:
        return str(item.answer.user)

    @admin.display(description="closed by", ordering="closed_by__email")
    def closer(self, item: ReviewItem) -> str:
        return str(item.closed_by or "")

    def get_fields(self, request, obj=None):
        closed = ["closer", "closed_at"] if obj and obj.state == ReviewState.DONE else []
        return ["note", *closed]

    def get_readonly_fields(self, request, obj=None):
        return ["closer", "closed_at"]

    def attention(self, request):
        waiting = self.get_queryset(request).filter(state=ReviewState.OPEN).count()
        address = reverse("admin:answers_reviewitem_changelist")
        return [(f"{waiting} open", f"{address}?state__exact=open")] if waiting else []

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        if obj is not None:
            context["review"] = present_review(reviewer=request.user, item=obj)
            context["said"] = str(feedback_on(obj.answer) or "")
        return super().render_change_form(request, context, add, change, form_url, obj)

    def write(self, request, form, formsets, change):
        item = ReviewItem.objects.get(pk=form.instance.pk)
        services.close_review_item(item=item, reviewer=request.user, note=form.cleaned_data["note"])
        return ["The item was closed."]


class PermitInline(PreceptInline):
    model = ContextPermit
    fields = readonly_fields = [
        "attempt",
        "step",
        "processor",
        "passages",
        "rejected",
        "versions",
        "admitted_at",
    ]
    verbose_name_plural = "admissions: which processor received which versions"
    extra = 0

    def has_add_permission(self, request, obj=None) -> bool:
        return False

    @admin.display(description="passages")
    def passages(self, permit: ContextPermit) -> int:
        return len(permit.chunks)

    @admin.display(description="versions, by document")
    def versions(self, permit: ContextPermit) -> str:
        pairs = permit.document_versions.items()
        return format_html_join("", "<div>{} in {}</div>", ((v, d) for d, v in pairs))


@admin.register(Answer)
class AnswerAdmin(ExplanationPage, PreceptModelAdmin):
    """The question only for reviewers, the answer's words for nobody but its asker."""

    view_roles = (Role.TENANT_ADMIN, Role.REVIEWER, Role.AUDITOR)
    section, order = "Answers", 31
    summary = "Who asked when, how it ended, and which versions were used. Not what was said."
    empty_text = "Nobody has asked anything yet."
    list_display = ["created_at", "asker", "outcome", "reason", "generator", "seconds"]
    list_filter = ["outcome", "reason", "language", "created_at"]
    list_select_related = ["user"]
    search_fields = ["user__email", "user__name"]
    inlines = [PermitInline]
    change_form_template = "admin/answers/answer/change_form.html"

    def visible_rows(self, request):
        return super().visible_rows(request).filter(purpose=Purpose.LIVE)

    @admin.display(description="asked by", ordering="user__email")
    def asker(self, answer: Answer) -> str:
        return str(answer.user)

    @admin.display(description="seconds")
    def seconds(self, answer: Answer) -> str:
        if answer.finished_at is None:
            return ""
        return f"{(answer.finished_at - answer.created_at).total_seconds():.1f}"

    @admin.display(description="milliseconds per step")
    def timings(self, answer: Answer) -> str:
        return _pretty(answer.stage_timings)

    @admin.display(description="scores that decided")
    def scores(self, answer: Answer) -> str:
        return _pretty(answer.signals)

    @admin.display(description="release permit")
    def release(self, answer: Answer) -> str:
        permit = getattr(answer, "release_permit", None)
        if permit is None:
            return "None: nothing was released."
        return f"{permit.id}, admitted {localtime(permit.admitted_at):%d/%m/%Y %H:%M:%S}"

    def get_fields(self, request, obj=None):
        question = ["question"] if holds(request, (Role.REVIEWER,)) else []
        return [
            "asker",
            *question,
            "state",
            "outcome",
            "reason",
            "language",
            "generator",
            "model",
            "prompt_version",
            "tokens_in",
            "tokens_out",
            "attempt",
            "created_at",
            "finished_at",
            "timings",
            "scores",
            "release",
            "digest",
        ]

    def get_readonly_fields(self, request, obj=None):
        return self.get_fields(request, obj)


@admin.register(Feedback)
class FeedbackAdmin(PreceptModelAdmin):
    view_roles = (Role.REVIEWER,)
    section, order, plural = "Answers", 32, "Feedback"
    summary = "What people said of their answers."
    empty_text = "No feedback yet. People give it below an answer."
    list_display = ["created_at", "giver", "helpful", "reason", "comment_start"]
    list_filter = ["helpful", "category", "created_at"]
    list_select_related = ["user"]
    fields = readonly_fields = ["giver", "answer", "helpful", "reason", "comment", "created_at"]

    def visible_rows(self, request):
        return super().visible_rows(request).filter(answer__purpose=Purpose.LIVE)

    @admin.display(description="given by", ordering="user__email")
    def giver(self, feedback: Feedback) -> str:
        return str(feedback.user)

    @admin.display(description="reason", ordering="category")
    def reason(self, feedback: Feedback) -> str:
        return feedback.why or "–"

    @admin.display(description="comment")
    def comment_start(self, feedback: Feedback) -> str:
        text = feedback.comment
        return f"{text[:80]}…" if len(text) > 80 else text


def _pretty(value: object) -> str:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))
