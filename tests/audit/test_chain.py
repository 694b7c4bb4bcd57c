"""The record is append-only and chained: what is changed, removed or reordered shows."""

import psycopg
import pytest

from audit.models import AuditRecord
from audit.selectors import verify_chain
from audit.services import record_action


@pytest.fixture
def chain(bank):
    with bank.scope():
        for number in range(4):
            record_action(action="test.step", actor=None, facts={"number": number})
        assert verify_chain() == (5, [])  # the tenant's creation is the first
    return bank


@pytest.fixture
def tampering(raw_sql):
    """What only somebody with the superuser's password could do."""
    raw_sql.execute("ALTER TABLE audit_auditrecord DISABLE TRIGGER ALL")
    yield raw_sql
    raw_sql.execute("ALTER TABLE audit_auditrecord ENABLE TRIGGER ALL")


def breaks(bank):
    with bank.scope():
        return [(one.seq, one.reason) for one in verify_chain()[1]]


def test_a_changed_record_is_found(chain, tampering):
    tampering.execute(
        "UPDATE audit_auditrecord SET facts = '{\"number\": 9}' WHERE tenant_id = %s AND seq = 3",
        [chain.tenant.id],
    )
    assert breaks(chain) == [(3, "content was changed after it was written")]


def test_a_removed_record_is_found(chain, tampering):
    tampering.execute(
        "DELETE FROM audit_auditrecord WHERE tenant_id = %s AND seq = 3", [chain.tenant.id]
    )
    assert (3, "record is missing or out of order") in breaks(chain)


@pytest.mark.parametrize("removed", ["seq = 5", "seq > 2", "true"])
def test_records_cut_off_at_the_end_are_found(chain, tampering, removed):
    tampering.execute(
        f"DELETE FROM audit_auditrecord WHERE tenant_id = %s AND {removed}", [chain.tenant.id]
    )
    assert breaks(chain) == [(5, "records at the end are missing")]


def test_a_chain_that_lost_the_note_of_its_end_is_found(chain, raw_sql):
    raw_sql.execute("DELETE FROM audit_head WHERE tenant_id = %s", [chain.tenant.id])
    assert breaks(chain) == [(5, "the note of the chain's end is missing")]


def test_a_chain_whose_end_was_written_anew_is_found(chain, tampering):
    tampering.execute(
        "DELETE FROM audit_auditrecord WHERE tenant_id = %s AND seq = 5", [chain.tenant.id]
    )
    tampering.execute("ALTER TABLE audit_auditrecord ENABLE TRIGGER audit_append")
    tampering.execute(
        "INSERT INTO audit_auditrecord"
        " (id, tenant_id, seq, at, action, object_ids, facts, previous_hash, hash)"
        " VALUES (gen_random_uuid(), %s, 0, now(), 'forged', '{}', '{}', '', '')",
        [chain.tenant.id],
    )
    assert breaks(chain) == [(5, "is not the record that was appended here")]


def test_two_records_that_changed_places_are_found(chain, tampering):
    for old, new in ((2, 99), (3, 2), (99, 3)):
        tampering.execute(
            "UPDATE audit_auditrecord SET seq = %s WHERE tenant_id = %s AND seq = %s",
            [new, chain.tenant.id, old],
        )
    assert {seq for seq, _ in breaks(chain)} >= {2, 3}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_auditrecord SET action = 'x'",
        "DELETE FROM audit_auditrecord",
        "TRUNCATE audit_auditrecord",
        "INSERT INTO audit_head VALUES (gen_random_uuid(), 1, '')",
        "UPDATE audit_head SET seq = 1",
        "DELETE FROM audit_head",
        "TRUNCATE audit_head",
    ],
)
def test_the_application_role_cannot_change_the_record(chain, database, statement):
    with psycopg.connect(database["DATABASE_URL"]) as raw:
        raw.execute("SELECT set_config('precept.tenant', %s, false)", [str(chain.tenant.id)])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw.execute(statement)


def test_even_the_superuser_is_refused_while_the_triggers_stand(chain, raw_sql):
    for statement in ("DELETE FROM audit_auditrecord", "TRUNCATE audit_auditrecord"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            raw_sql.execute(statement)


def test_a_record_cannot_choose_its_own_place_or_hash(chain):
    with chain.scope():
        record = AuditRecord.objects.create(action="forged", seq=1, hash="f" * 64)
        record.refresh_from_db()
        assert record.seq == 6
        assert verify_chain() == (6, [])
