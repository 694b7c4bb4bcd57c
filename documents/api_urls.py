from django.urls import include, path

from . import api

urlpatterns = [
    path("documents", api.DocumentsView.as_view(), name="api_documents"),
    path("documents/<uuid:document_id>", api.DocumentView.as_view(), name="api_document"),
    path("documents/<uuid:document_id>/versions", api.VersionsView.as_view(), name="api_versions"),
    path("documents/<uuid:document_id>/grants", api.GrantsView.as_view(), name="api_grants"),
    path("", include("documents.sources.urls")),
]
