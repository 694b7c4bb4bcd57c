"""HTML for answers: ask, read one's own answers again, say whether they helped."""

import uuid
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from tenants.views import personal_page

from . import services
from .answer_page import answer_page
from .limits import RateLimited
from .models import FeedbackCategory
from .selectors import (
    feedback_on,
    get_own_answer,
    get_own_answer_by_request,
    own_answers,
    present_answer,
)
from .transport import answer_to_the_end

QUESTIONS_PER_PAGE = 20


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def ask(request: HttpRequest) -> HttpResponse:
    """The question box. A POST is how browsers without JavaScript ask; the others stream /v1/."""
    if request.method != "POST":
        return _ask_page(request)
    question = request.POST.get("question", "")
    try:
        started = _start(request, question)
    except ValidationError as error:
        return _ask_page(request, question=question, error=" ".join(error.messages), status=400)
    except RateLimited as refused:
        page = _ask_page(request, question=question, error=refused.sentence, status=429)
        page["Retry-After"] = str(refused.retry_after)
        return page
    view = answer_to_the_end(user=request.user, started=started)
    return redirect("answer", answer_id=view.answer.id)


def _start(request: HttpRequest, question: str) -> services.Started:
    request_id = request.POST.get("request_id") or str(uuid.uuid4())
    try:
        return services.start_answer(user=request.user, request_id=request_id, question=question)
    except services.RequestIdConflict:
        # A page kept by the browser, sent again with another question: a question of its own.
        return services.start_answer(
            user=request.user, request_id=str(uuid.uuid4()), question=question
        )


def _ask_page(
    request: HttpRequest, *, question: str = "", error: str = "", status: int = 200
) -> HttpResponse:
    context = _form(question) | {"error": error}
    return render(request, "ask.html", context, status=status)


def _form(question: str) -> dict[str, object]:
    return {
        "question": question,
        "request_id": uuid.uuid4(),
        "limit": settings.MAX_QUESTION_CHARACTERS,
        "feedback_categories": FeedbackCategory.choices,
    }


@require_safe
@personal_page
def answer(request: HttpRequest, answer_id: UUID) -> HttpResponse:
    """An own answer, authorised afresh."""
    own = get_own_answer(user=request.user, answer_id=answer_id)
    view = present_answer(user=request.user, answer=own)
    context = _form("" if view.is_released else own.question) | {
        "result": answer_page(view, feedback=feedback_on(own)),
    }
    return render(request, "answer.html", context)


@require_safe
@personal_page
def history(request: HttpRequest) -> HttpResponse:
    """The person's own questions. What was answered is shown, and authorised, on opening one."""
    asked = Paginator(own_answers(user=request.user), QUESTIONS_PER_PAGE)
    return render(request, "history.html", {"page": asked.get_page(request.GET.get("page"))})


@require_POST
@personal_page
def cancel(request: HttpRequest) -> HttpResponse:
    """Stop the attempt with this request id at its next step.

    By request id, since the page learns the answer's id only with the answer.
    """
    request_id = request.POST.get("request_id", "")
    own = get_own_answer_by_request(user=request.user, request_id=request_id)
    services.cancel_answer(answer=own)
    return HttpResponse(status=204)


@require_POST
@personal_page
def feedback(request: HttpRequest, answer_id: UUID) -> HttpResponse:
    """Helpful or not, from a browser without JavaScript."""
    own = get_own_answer(user=request.user, answer_id=answer_id)
    try:
        services.give_feedback(
            user=request.user,
            answer=own,
            helpful=request.POST.get("helpful") == "true",
            category=request.POST.get("category", "").replace("\x00", ""),
            comment=request.POST.get("comment", "").replace("\x00", ""),
        )
        messages.success(request, "Thank you. Your feedback was sent.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("answer", answer_id=own.id)
