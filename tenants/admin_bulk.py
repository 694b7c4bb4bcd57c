"""Actions on many rows of a list: one confirmation page, and exactly what was done, or not done."""

from collections.abc import Callable, Sequence

from django import forms
from django.contrib import messages
from django.db import models
from django.http import HttpRequest
from django.template.response import TemplateResponse

from .admin_base import PreceptModelAdmin, Refused, refusals

_NAMED_AT_MOST = 8
_ROWS_AT_MOST = 500  # each is a field of the confirmation form, and Django takes 1000


def bulk_action(
    *,
    name: str,
    label: str,
    apply: Callable[[HttpRequest, models.Model, dict], bool],
    changed: str,
    unchanged: str,
    button: str = "",
    explanation: str = "",
    form: Callable[[HttpRequest, Sequence[models.Model]], forms.Form] | None = None,
    foresee: Callable[[Sequence[models.Model], Callable[[models.Model], object]], object]
    | None = None,
    foreseen_template: str = "",
    at_most: int | None = None,
    permission: str = "change",
):
    """An admin action that calls `apply` for each row, which says whether that changed anything.

    `changed` and `unchanged` are sentence openings such as "Archived" and "Archived already".
    With a `button`, a page first asks for confirmation and for what `form` wants to know; the
    form's cleaned data reaches `apply` and may fill `{…}` in the sentences. `foresee` is given the
    rows and a way to try the action on one; what it returns, unless it is false, is shown with
    `foreseen_template` and has to be confirmed by its `digest` first.
    """

    def action(page: PreceptModelAdmin, request: HttpRequest, queryset: models.QuerySet):
        most = at_most or _ROWS_AT_MOST
        rows = list(queryset[: most + 1])
        if len(rows) > most:
            messages.error(request, f"Choose at most {most} at once. Nothing was changed.")
            return None
        asked = form(request, rows) if form else None
        is_asked = not button or (
            "confirmed" in request.POST and (asked is None or asked.is_valid())
        )
        foreseen = None
        if is_asked and foresee:
            answers = asked.cleaned_data if asked else {}
            foreseen = foresee(rows, lambda row: apply(request, row, answers))
            is_asked = not foreseen or request.POST.get("foreseen") == foreseen.digest
        if not is_asked:
            context = {
                **page.admin_site.each_context(request),
                "title": label.rstrip("…"),
                "opts": page.opts,
                "page_name": page.page_name,
                "rows": rows,
                "form": asked,
                "explanation": explanation,
                "button": button,
                "action": name,
                "foreseen": foreseen,
                "foreseen_template": foreseen_template,
            }
            return TemplateResponse(request, "admin/bulk_action.html", context)
        answers = asked.cleaned_data if asked else {}
        _run(request, rows, answers)
        return None

    def _run(request: HttpRequest, rows: list, answers: dict) -> None:
        done, same = [], []
        for row in rows:
            try:
                with refusals():
                    (done if apply(request, row, answers) else same).append(row)
            except Refused as refused:
                messages.error(request, f"Not changed: {row}. {' '.join(refused.error.messages)}")
        if done:
            messages.success(request, f"{changed.format(**answers)}: {_names(done)}.")
        if same:
            messages.info(request, f"{unchanged.format(**answers)}: {_names(same)}.")
        if not done:
            messages.warning(request, "Nothing was changed.")

    action.__name__ = name
    action.short_description = label
    action.allowed_permissions = [permission]
    return action


def _names(rows: list) -> str:
    named = ", ".join(str(row) for row in rows[:_NAMED_AT_MOST])
    rest = len(rows) - _NAMED_AT_MOST
    return f"{named} and {rest} more" if rest > 0 else named
