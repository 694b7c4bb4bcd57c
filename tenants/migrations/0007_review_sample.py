"""How large a share of a week's answers is drawn for spot checks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_token_for_evaluation")]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="review_sample_percent",
            field=models.DecimalField(
                decimal_places=2,
                default=2,
                help_text="Share of a week's answers that are drawn for spot checks.",
                max_digits=5,
            ),
        ),
        migrations.AddConstraint(
            model_name="tenant",
            constraint=models.CheckConstraint(
                condition=models.Q(review_sample_percent__gte=0, review_sample_percent__lte=100),
                name="sample_is_a_percentage",
            ),
        ),
    ]
