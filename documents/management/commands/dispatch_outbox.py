"""Hand outbox events to the queue as they commit, until stopped."""

import signal
import sys
import time

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import InterfaceError, OperationalError, connection

from documents.dispatch import dispatch_all, run_sweeps


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args, **options):
        signal.signal(signal.SIGTERM, lambda *received: sys.exit(0))
        signal.signal(signal.SIGINT, lambda *received: sys.exit(0))
        while True:
            try:
                self._listen()
            # Django's own, and the driver's where a notification is waited for.
            except (OperationalError, InterfaceError, psycopg.OperationalError):
                self.stderr.write("The database is not reachable; trying again.")
                connection.close()
                time.sleep(1)

    def _listen(self):
        connection.ensure_connection()
        raw = connection.connection
        raw.execute("LISTEN precept_outbox")
        while True:
            while dispatch_all():
                pass
            run_sweeps()
            # Woken by a commit, or by the sweep for leases that ran out and dates that came.
            for _ in raw.notifies(timeout=settings.OUTBOX_SWEEP_SECONDS, stop_after=1):
                pass
