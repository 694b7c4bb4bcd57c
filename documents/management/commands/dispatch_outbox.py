"""Hand outbox events to the queue as they commit, until stopped."""

import signal

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import OperationalError, connection

from documents.dispatch import dispatch_all


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args, **options):
        self.running = True
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        while self.running:
            try:
                self._listen()
            except OperationalError:
                self.stderr.write("The database is not reachable; trying again.")
                connection.close()

    def _listen(self):
        connection.ensure_connection()
        raw = connection.connection
        raw.execute("LISTEN precept_outbox")
        while self.running:
            while dispatch_all():
                pass
            # Woken by a commit, or by the sweep for leases that ran out and dates that came.
            for _ in raw.notifies(timeout=settings.OUTBOX_SWEEP_SECONDS, stop_after=1):
                pass

    def _stop(self, *signals):
        self.running = False
