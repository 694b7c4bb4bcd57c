"""Background work: the outbox dispatcher hands events to django-q2, whose broker is the database."""

from .environment import env, positive_int

# A job renews its lease while it lives; one whose lease ran out is handed out again.
JOB_LEASE_SECONDS = positive_int("PRECEPT_JOB_LEASE_SECONDS", default=30)
JOB_MAX_ATTEMPTS = positive_int("PRECEPT_JOB_MAX_ATTEMPTS", default=5)
OUTBOX_SWEEP_SECONDS = positive_int("PRECEPT_OUTBOX_SWEEP_SECONDS", default=10)

_TIMEOUT = positive_int("PRECEPT_JOB_TIMEOUT_SECONDS", default=1800)

Q_CLUSTER = {
    "name": "precept",
    "orm": "default",
    "workers": positive_int("PRECEPT_WORKERS", default=1),
    "timeout": _TIMEOUT,
    "retry": _TIMEOUT + 60,  # must exceed the timeout, or a long job runs twice at once
    "max_attempts": 1,  # retries are ours (lease and attempts), not the queue's
    "ack_failures": True,
    "poll": 0.5,
    "save_limit": 500,
    "catch_up": False,
    "label": "Queue",
}
if redis_url := env.str("PRECEPT_REDIS_URL", default=""):
    Q_CLUSTER.pop("orm")
    Q_CLUSTER["redis"] = redis_url
