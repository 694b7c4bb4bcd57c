from django.urls import path

from .views import scim

urlpatterns = [
    path("scim/v2/", scim, name="scim"),
    path("scim/v2/<path:resource>", scim, name="scim_resource"),
]
