"""Only these of allauth's routes exist: accounts are made by administrators, not by visitors."""

from django.urls import include, path

from . import views

urlpatterns = [
    path("accounts/login/", views.SignInView.as_view(), name="account_login"),
    path("accounts/logout/", views.SignOutView.as_view(), name="account_logout"),
    path("accounts/password/", views.ChangePasswordView.as_view(), name="account_change_password"),
    path("", include("tenants.identity.urls")),
    path("", include("tenants.onboarding.urls")),
    path("", include("tenants.provisioning.urls")),
    path("", include("tenants.factors.urls")),
]
