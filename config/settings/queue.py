"""Background work: the outbox dispatcher hands events to django-q2, whose broker is the database."""

from .environment import env, positive_int

# A job renews its lease while it lives; one whose lease ran out is handed out again.
JOB_LEASE_SECONDS = positive_int("PRECEPT_JOB_LEASE_SECONDS", default=30)
JOB_MAX_ATTEMPTS = positive_int("PRECEPT_JOB_MAX_ATTEMPTS", default=5)
OUTBOX_SWEEP_SECONDS = positive_int("PRECEPT_OUTBOX_SWEEP_SECONDS", default=10)

_TIMEOUT = positive_int("PRECEPT_JOB_TIMEOUT_SECONDS", default=1800)

_WORKERS = positive_int("PRECEPT_WORKERS", default=1)
# How many jobs of one tenant are in the queue or at work. The queue is first in, first out: the
# dispatcher keeps it short, so that a correction does not wait behind a bulk load.
JOBS_IN_FLIGHT = positive_int("PRECEPT_JOBS_IN_FLIGHT", default=_WORKERS + 1)
# Background work gives way to questions: a lower priority for the processor, and one thread.
WORKER_NICENESS = env.int("PRECEPT_WORKER_NICENESS", default=10)

Q_CLUSTER = {
    "name": "precept",
    "orm": "default",
    "workers": _WORKERS,
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
