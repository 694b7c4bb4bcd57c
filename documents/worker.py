"""What the worker's processes do to give way to questions on the same machine."""

import os

from django.conf import settings
from django_q.signals import post_spawn

from . import embedding


def give_way(**_) -> None:
    """A lower priority for the processor, and embedding in the time that others leave."""
    os.nice(settings.WORKER_NICENESS)
    embedding.give_way()


post_spawn.connect(give_way, dispatch_uid="precept.worker")
