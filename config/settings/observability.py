"""Structured logs on standard error. Log lines carry ids, never questions, passages or titles."""

import sys
import traceback

import structlog

from .environment import env

# What /metrics asks of the monitoring as a bearer token; without one it says only that it is up.
METRICS_TOKEN = env.str("PRECEPT_METRICS_TOKEN", default="")

LOG_LEVEL = env.str("PRECEPT_LOG_LEVEL", default="INFO").upper()


def place_of_exception(logger: object, method: str, event: dict) -> dict:
    """Where an error happened and of what kind. Not its message, which may hold somebody's question."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    elif isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if info and info[0] is not None:
        frames = traceback.extract_tb(info[2])
        event["error"] = info[0].__name__
        event["trace"] = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    return event


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                place_of_exception,
                structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"]),
            ],
            "foreign_pre_chain": [
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso"),
            ],
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "precept": {"level": LOG_LEVEL},
        "django-q": {"level": "WARNING", "handlers": ["console"], "propagate": False},
    },
}

structlog.configure(
    processors=[
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
