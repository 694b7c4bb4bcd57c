from django.urls import path

from . import views

urlpatterns = [
    path("invitation/<str:token>/", views.accept, name="accept_invitation"),
    path("accounts/password/reset/", views.ask_for_new_password, name="ask_for_new_password"),
    path(
        "accounts/password/reset/<str:uidb64>/<str:token>/",
        views.RecoverAccountView.as_view(),
        name="recover_account",
    ),
]
