from django.urls import path

from . import views

urlpatterns = [
    path("sign-in/", views.organisation, name="sign_in_organisation"),
    path("sign-in/callback/", views.callback, name="sign_in_callback"),
    path("sign-in/<uuid:provider_id>/", views.start, name="sign_in_start"),
    path("sign-in/<uuid:provider_id>/try/", views.try_provider, name="sign_in_try"),
    path("sign-in/<uuid:provider_id>/metadata/", views.saml_metadata, name="sign_in_saml_metadata"),
    path("sign-in/<uuid:provider_id>/answer/", views.saml_answer, name="sign_in_saml_answer"),
]
