"""What the worker's processes do to give way to questions on the same machine."""

import os

from django.conf import settings
from django_q.signals import post_spawn

from .embedding import keep_to_one_thread


def give_way(**_) -> None:
    """A lower priority for the processor, and one thread for passages."""
    os.nice(settings.WORKER_NICENESS)
    keep_to_one_thread()


post_spawn.connect(give_way, dispatch_uid="precept.worker")
