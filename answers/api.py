"""HTTP for answers: validate, call, respond."""

from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import renderers, serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from tenants.api import Input, Problem
from tenants.camel_case import CamelCaseJSONRenderer
from tenants.models import ApiToken, TokenUse
from tenants.openapi import refusals

from . import services
from .limits import RateLimited
from .models import Channel
from .present import answer_object
from .selectors import get_own_answer, present_answer
from .transport import answer_to_the_end, event_stream


class EventStreamRenderer(renderers.BaseRenderer):
    """Lets `Accept: text/event-stream` through negotiation; the stream writes itself."""

    media_type = "text/event-stream"
    format = "event-stream"

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return CamelCaseJSONRenderer().render(data)


class QuestionField(serializers.CharField):
    """Runs of white space are one character before the length is looked at, as on the page."""

    def to_internal_value(self, data) -> str:
        return " ".join(super().to_internal_value(data).split())


class QuestionInput(Input):
    request_id = serializers.CharField(max_length=100)
    question = QuestionField(max_length=settings.MAX_QUESTION_CHARACTERS)
    language = serializers.ChoiceField(choices=["en", "nl", "fr", "de"], required=False)


class FeedbackInput(Input):
    helpful = serializers.BooleanField()
    category = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")
    comment = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class ClaimOutput(serializers.Serializer):
    text = serializers.CharField()
    citations = serializers.ListField(child=serializers.IntegerField())


class CitationOutput(serializers.Serializer):
    n = serializers.IntegerField()
    document_id = serializers.UUIDField()
    title = serializers.CharField()
    version = serializers.IntegerField()
    chunk_id = serializers.UUIDField()
    page = serializers.IntegerField()
    page_label = serializers.CharField(
        allow_blank=True, help_text="What is printed on the page, if that is not its number."
    )
    recognised = serializers.BooleanField(help_text="The words were recognised from a picture.")
    section = serializers.CharField(allow_blank=True)
    start_offset = serializers.IntegerField(help_text="In Unicode code points of …/text.")
    end_offset = serializers.IntegerField()
    quote = serializers.CharField(help_text="Exactly text[startOffset:endOffset].")
    language = serializers.CharField()
    effective_date = serializers.DateField(allow_null=True)
    withdrawn_date = serializers.DateField(allow_null=True)
    url = serializers.CharField()


class UsageOutput(serializers.Serializer):
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class AnswerOutput(serializers.Serializer):
    answer_id = serializers.UUIDField()
    request_id = serializers.CharField()
    question = serializers.CharField()
    state = serializers.CharField()
    outcome = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    claims = ClaimOutput(many=True)
    citations = CitationOutput(many=True)
    language = serializers.CharField()
    generated_by = serializers.CharField(allow_null=True)
    usage = UsageOutput()


class FeedbackOutput(serializers.Serializer):
    answer_id = serializers.UUIDField()
    helpful = serializers.BooleanField()
    category = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)


class AnswersView(APIView):
    token_uses = {"POST": TokenUse.ASK}
    renderer_classes = [CamelCaseJSONRenderer, EventStreamRenderer]

    @extend_schema(
        operation_id="ask",
        request=QuestionInput,
        responses={
            (200, "application/json"): AnswerOutput,
            (200, "text/event-stream"): OpenApiTypes.STR,
        },
        parameters=[
            OpenApiParameter(
                "Last-Event-ID",
                str,
                OpenApiParameter.HEADER,
                description="Of the last status event seen of an attempt that is running already:"
                " the stream goes on after it.",
            )
        ],
        extensions=refusals(409, 429),
    )
    def post(self, request) -> HttpResponseBase:
        """Ask a question. As an event stream: `status` events, then exactly one `answer`.

        The same requestId with the same question follows the same attempt, also while it runs.
        """
        data = QuestionInput(data=request.data)
        data.is_valid(raise_exception=True)
        try:
            started = services.start_answer(
                user=request.user, **_channel(request), **data.validated_data
            )
        except services.RequestIdConflict:
            raise Problem(
                status_code=409,
                code="request_id_conflict",
                detail="This requestId was used for another question. Use a new one.",
            ) from None
        except RateLimited as refused:
            raise Problem(
                status_code=429,
                code="rate_limited",
                detail=refused.sentence,
                retry_after=refused.retry_after,
            ) from None
        if request.accepted_renderer.media_type == EventStreamRenderer.media_type:
            return _stream(request, started)
        view = answer_to_the_end(user=request.user, started=started)
        return Response(answer_object(view))


class AnswerView(APIView):
    token_uses = {"GET": TokenUse.ASK}

    @extend_schema(operation_id="getAnswer", responses=AnswerOutput)
    def get(self, request, answer_id: UUID) -> Response:
        """An own answer, authorised afresh: if a source was revoked, nothing of it is shown."""
        answer = get_own_answer(user=request.user, answer_id=answer_id)
        return Response(answer_object(present_answer(user=request.user, answer=answer)))


class CancelView(APIView):
    token_uses = {"POST": TokenUse.ASK}

    @extend_schema(operation_id="cancelAnswer", request=None, responses=AnswerOutput)
    def post(self, request, answer_id: UUID) -> Response:
        """End a running attempt; nothing of it is shown any more. One that has ended stays as it is."""
        answer = get_own_answer(user=request.user, answer_id=answer_id)
        services.cancel_answer(answer=answer)
        return Response(answer_object(present_answer(user=request.user, answer=answer)))


class FeedbackView(APIView):
    token_uses = {"POST": TokenUse.ASK}

    @extend_schema(operation_id="giveFeedback", request=FeedbackInput, responses=FeedbackOutput)
    def post(self, request, answer_id: UUID) -> Response:
        """Say whether an own answer helped."""
        answer = get_own_answer(user=request.user, answer_id=answer_id)
        data = FeedbackInput(data=request.data)
        data.is_valid(raise_exception=True)
        feedback = services.give_feedback(user=request.user, answer=answer, **data.validated_data)
        return Response(
            {
                "answer_id": str(answer.id),
                "helpful": feedback.helpful,
                "category": feedback.category,
                "comment": feedback.comment,
            }
        )


def _channel(request) -> dict[str, object]:
    """A token may have been issued by an administrator: whoever asks with it is told apart."""
    if isinstance(request.auth, ApiToken):
        return {"channel": Channel.TOKEN, "token_id": request.auth.pk}
    return {"channel": Channel.SESSION}


def _stream(request, started: services.Started) -> StreamingHttpResponse:
    response = StreamingHttpResponse(
        event_stream(
            user=request.user,
            started=started,
            tenant_id=request.user.tenant_id,
            last_event_id=request.headers.get("Last-Event-ID", ""),
        ),
        content_type="text/event-stream; charset=utf-8",
    )
    # Neither kept, nor held back to be compressed or collected.
    response["Cache-Control"] = "no-store, no-transform"
    # Known before the answer is, so that a client can cancel while it waits.
    response["Content-Location"] = reverse("api_answer", args=[started.answer.id])
    response["X-Accel-Buffering"] = "no"
    return response
