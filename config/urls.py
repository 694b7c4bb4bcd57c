"""Every URL of Precept. Each room brings its own; this file only joins them."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
]
