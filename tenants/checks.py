"""System checks for settings that would quietly switch a guard off."""

from django.conf import settings
from django.core.checks import Error, Tags, register
from django.db import connection


@register(Tags.database)
def application_role_is_harmless(app_configs, databases, **kwargs) -> list[Error]:
    """The role the product runs as must not bypass row-level security or own its tables."""
    if not databases or settings.DATABASE_ROLE == "owner":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
        bypasses = cursor.fetchone()[0]
        cursor.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tableowner = current_user"
        )
        owned = cursor.fetchone()[0]
    errors = []
    if bypasses:
        errors.append(
            Error(
                "DATABASE_URL connects as a role that bypasses row-level security.",
                hint="Create a role with NOSUPERUSER NOBYPASSRLS; see docs/operations.md.",
                id="precept.E001",
            )
        )
    if owned:
        errors.append(
            Error(
                f"DATABASE_URL connects as the owner of {owned} tables.",
                hint="Migrate with DATABASE_OWNER_URL and run as another role; see docs/operations.md.",
                id="precept.E002",
            )
        )
    return errors


@register()
def queue_never_runs_a_job_twice_at_once(app_configs, **kwargs) -> list[Error]:
    queue = settings.Q_CLUSTER
    if queue["retry"] > queue["timeout"]:
        return []
    return [
        Error(
            "The queue's retry must be longer than its timeout, or a long job runs twice at once.",
            hint="Set PRECEPT_JOB_TIMEOUT_SECONDS only; retry follows it.",
            id="precept.E003",
        )
    ]
