from django.apps import AppConfig


class IdentityConfig(AppConfig):
    name = "tenants.identity"
    label = "identity"
    verbose_name = "Sign-in"
