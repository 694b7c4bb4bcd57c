"""System checks for settings of background work that would do a job twice at once, or never."""

from django.conf import settings
from django.core.checks import Error, register

from .dispatch import HAND_OVER_WITHIN


@register()
def jobs_are_retried_by_leases_alone(app_configs, **kwargs) -> list[Error]:
    queue, lease = settings.Q_CLUSTER, settings.JOB_LEASE_SECONDS
    errors = []
    if queue.get("max_attempts") != 1 or not queue.get("ack_failures"):
        errors.append(
            Error(
                "The queue would try a job again by itself; leases and attempts do that.",
                hint="Q_CLUSTER needs max_attempts 1 and ack_failures True.",
                id="precept.E010",
            )
        )
    if lease >= queue["timeout"]:
        errors.append(
            Error(
                f"A lease of {lease} s outlives a job, which the queue ends after"
                f" {queue['timeout']} s: a dead worker's job would wait for nothing.",
                hint="Set PRECEPT_JOB_LEASE_SECONDS lower than PRECEPT_JOB_TIMEOUT_SECONDS.",
                id="precept.E011",
            )
        )
    if lease >= HAND_OVER_WITHIN.total_seconds():
        errors.append(
            Error(
                f"A lease of {lease} s is longer than a job may wait in the queue.",
                hint=f"PRECEPT_JOB_LEASE_SECONDS must be below {HAND_OVER_WITHIN.total_seconds():.0f}.",
                id="precept.E012",
            )
        )
    if queue["workers"] > settings.JOBS_IN_FLIGHT:
        errors.append(
            Error(
                f"{queue['workers']} workers, but only {settings.JOBS_IN_FLIGHT} jobs of a tenant"
                " are handed out at once: workers would have nothing to do.",
                hint="Set PRECEPT_JOBS_IN_FLIGHT to PRECEPT_WORKERS at least.",
                id="precept.E013",
            )
        )
    return errors
