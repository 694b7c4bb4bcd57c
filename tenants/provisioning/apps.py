from django.apps import AppConfig


class ProvisioningConfig(AppConfig):
    name = "tenants.provisioning"
    label = "provisioning"
    verbose_name = "Provisioning"
