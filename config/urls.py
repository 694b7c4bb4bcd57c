"""Every URL of Precept. Each room brings its own; this file only joins them."""

from django.contrib import admin
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from tenants.api import NothingHereView

from . import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("v1/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api_docs"),
    path("v1/", include("answers.api_urls")),
    path("v1/", include("documents.api_urls")),
    path("v1/", include("evaluation.api_urls")),
    re_path(r"^v1/", NothingHereView.as_view()),
    path("admin/", admin.site.urls),
    path("", include("tenants.urls")),
    path("", include("documents.urls")),
    path("", include("answers.urls")),
]
