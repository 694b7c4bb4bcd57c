from django.urls import path

from . import api
from .cited_page import CitedPageView

urlpatterns = [
    path("answers", api.AnswersView.as_view(), name="api_answers"),
    path("answers/<uuid:answer_id>", api.AnswerView.as_view(), name="api_answer"),
    path("answers/<uuid:answer_id>/cancel", api.CancelView.as_view(), name="api_cancel"),
    path("answers/<uuid:answer_id>/feedback", api.FeedbackView.as_view(), name="api_feedback"),
    path(
        "sources/<uuid:document_id>/versions/<int:number>/pages/<int:page>.png",
        CitedPageView.as_view(),
        name="api_source_page",
    ),
]
