"""The dispatcher: what it hands over, what it leaves alone, and what it lives through."""

import pytest
from django.db import connection

from documents.dispatch import dispatch_tenant
from documents.ingestion.lease import claim
from documents.management.commands import dispatch_outbox
from documents.models import DocumentVersion, OutboxEvent


def test_whoever_works_on_a_version_already_keeps_the_lease(bank):
    """`ingest --inline` begins before the dispatcher has seen the event."""
    document = bank.document(ingest=False)
    with bank.scope():
        version = document.versions.get()
        with claim(version.id) as lease:
            assert dispatch_tenant(bank.tenant.id) == 1
            assert lease.held().exists()
        assert OutboxEvent.objects.get().dispatched_at is not None


def test_a_version_that_nobody_works_on_is_handed_over_with_a_time_limit(bank):
    document = bank.document(ingest=False)
    dispatch_tenant(bank.tenant.id)
    with bank.scope():
        version = DocumentVersion.objects.get(document=document)
    assert (version.lease, version.lease_until is not None) == (None, True)


def test_the_dispatcher_lives_through_a_restart_of_the_database(database, raw_sql, monkeypatch):
    """The driver's own error, raised while it waits for a notification."""
    rounds = []

    def end_the_connection():
        rounds.append(connection.connection.info.backend_pid)
        if len(rounds) == 3:
            raise SystemExit
        raw_sql.execute("SELECT pg_terminate_backend(%s)", [rounds[-1]])

    monkeypatch.setattr(dispatch_outbox.signal, "signal", lambda *_: None)
    monkeypatch.setattr(dispatch_outbox.time, "sleep", lambda _: None)
    monkeypatch.setattr(dispatch_outbox, "dispatch_all", lambda: 0)
    monkeypatch.setattr(dispatch_outbox, "run_sweeps", end_the_connection)
    try:
        with pytest.raises(SystemExit):
            dispatch_outbox.Command().handle()
    finally:
        connection.close()
    assert len(set(rounds)) == 3
