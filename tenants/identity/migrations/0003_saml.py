"""Providers that speak SAML 2.0, and which of their assertions were used."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import tenants.scope


class Migration(migrations.Migration):
    dependencies = [
        ("identity", "0002_rules"),
        ("tenants", "0007_review_sample"),
    ]

    operations = [
        migrations.CreateModel(
            name="UsedAssertion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="identityprovider",
            name="confirms_addresses",
            field=models.BooleanField(
                default=False,
                help_text="A first sign-in needs that. Only where nobody can choose their own address.",
                verbose_name="its addresses are confirmed",
            ),
        ),
        migrations.AddField(
            model_name="identityprovider",
            name="email_attribute",
            field=models.CharField(blank=True, default="email", max_length=200),
        ),
        migrations.AddField(
            model_name="identityprovider",
            name="name_attribute",
            field=models.CharField(blank=True, default="name", max_length=200),
        ),
        migrations.AddField(
            model_name="identityprovider",
            name="protocol",
            field=models.CharField(
                choices=[("oidc", "OpenID Connect"), ("saml", "SAML 2.0")],
                default="oidc",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="identityprovider",
            name="saml_metadata",
            field=models.TextField(blank=True, verbose_name="metadata"),
        ),
        migrations.AlterField(
            model_name="identityprovider",
            name="client_id",
            field=models.CharField(blank=True, max_length=255, verbose_name="client ID"),
        ),
        migrations.AlterField(
            model_name="identityprovider",
            name="issuer",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddConstraint(
            model_name="identityprovider",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("issuer", ""), _negated=True),
                    models.Q(
                        models.Q(
                            ("protocol", "oidc"),
                            ("saml_metadata", ""),
                            models.Q(("client_id", ""), _negated=True),
                        ),
                        models.Q(
                            ("client_id", ""),
                            ("client_secret", ""),
                            ("protocol", "saml"),
                            models.Q(("saml_metadata", ""), _negated=True),
                        ),
                        _connector="OR",
                    ),
                ),
                name="provider_has_what_its_protocol_needs",
            ),
        ),
        migrations.AddField(
            model_name="usedassertion",
            name="provider",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="identity.identityprovider",
            ),
        ),
        migrations.AddField(
            model_name="usedassertion",
            name="tenant",
            field=models.ForeignKey(
                default=tenants.scope.tenant_of_new_row,
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="usedassertion",
            constraint=models.UniqueConstraint(
                fields=("provider", "digest"), name="assertion_used_once"
            ),
        ),
    ]
