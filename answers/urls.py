from django.urls import path

from . import views
from .source_viewer import source

urlpatterns = [
    path("", views.ask, name="ask"),
    path("cancel/", views.cancel, name="cancel"),
    path("history/", views.history, name="history"),
    path("answers/<uuid:answer_id>/", views.answer, name="answer"),
    path("answers/<uuid:answer_id>/feedback/", views.feedback, name="feedback"),
    path("sources/<uuid:document_id>/versions/<int:number>/", source, name="source"),
]
