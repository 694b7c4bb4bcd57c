"""Writers about people meet at one lock, in one order."""

import threading

import psycopg
from django.db import connection

from tenants import services
from tenants.models import User


def test_deactivating_waits_for_the_persons_lock_before_it_takes_the_row(bank, database, raw_sql):
    """A change of membership takes the lock, then the row; the other way round is a deadlock."""
    person = bank.person("leaver")

    def deactivate() -> None:
        try:
            with bank.scope():
                services.set_user_active(user=person, active=False)
        finally:
            connection.close()

    with psycopg.connect(database["SUPERUSER_URL"]) as other:
        other.execute("SELECT precept_lock_exclusive('user', %s)", [person.id])
        thread = threading.Thread(target=deactivate)
        thread.start()
        while not _somebody_waits(raw_sql):
            pass
        other.execute("SET LOCAL lock_timeout = '300ms'")
        other.execute(
            "UPDATE tenants_user SET access_revision = access_revision + 1 WHERE id = %s",
            [person.id],
        )
        other.commit()
        thread.join()
    with bank.scope():
        assert not User.objects.get(pk=person.pk).is_active


def _somebody_waits(raw_sql) -> bool:
    [count] = raw_sql.execute(
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        " WHERE NOT l.granted AND l.locktype = 'advisory' AND d.datname = current_database()"
    ).fetchone()
    return count > 0
