from django.urls import path

from . import api

_version = "sources/<uuid:document_id>/versions/<int:number>"

urlpatterns = [
    path(_version, api.SourceView.as_view(), name="api_source"),
    path(f"{_version}/text", api.TextView.as_view(), name="api_source_text"),
    path(f"{_version}/file", api.FileView.as_view(), name="api_source_file"),
]
