"""Row-level security alone keeps two tenants apart, as the role the product runs as."""

import threading

import psycopg
import pytest
from django.apps import apps
from django.db import connection, transaction

from tenants.models import Group, User
from tenants.scope import ScopeConflict, ScopeRequired, tenant_scope
from tenants.selectors import tenant_of_email, tenant_of_user

ROOMS = {
    "audit",
    "tenants",
    "identity",
    "onboarding",
    "provisioning",
    "factors",
    "documents",
    "answers",
    "evaluation",
}


def tenant_models():
    return [model for model in apps.get_models() if model._meta.app_label in ROOMS]


def tables() -> list[str]:
    return [model._meta.db_table for model in tenant_models()]


@pytest.fixture
def full(bank):
    """A tenant with a row in most tables."""
    user = bank.person("asker")
    bank.document("Leave", readers=[bank.everyone])
    bank.ask(user, "How many days of annual leave?")
    return bank


@pytest.fixture
def app_connection(database):
    """The application role, with no help from Python."""
    with psycopg.connect(database["DATABASE_URL"], autocommit=True) as raw:
        yield raw


@pytest.mark.parametrize("table", tables())
def test_row_level_security_is_forced_on_every_table_of_every_room(raw_sql, table):
    enabled, forced = raw_sql.execute(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = %s", [table]
    ).fetchone()
    assert (enabled, forced) == (True, True)


def test_without_a_tenant_there_are_no_rows(full, app_connection):
    counts = {
        table: app_connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in tables()
    }
    assert set(counts.values()) == {0}


def test_with_a_tenant_there_are_its_rows_and_no_others(full, other_bank, app_connection):
    app_connection.execute("SELECT set_config('precept.tenant', %s, false)", [str(full.tenant.id)])
    seen = 0
    for model in tenant_models():
        column = "id" if model._meta.model_name == "tenant" else "tenant_id"
        owners = app_connection.execute(
            f"SELECT DISTINCT {column} FROM {model._meta.db_table}"
        ).fetchall()
        assert {owner for (owner,) in owners} <= {full.tenant.id}, model
        seen += bool(owners)
    assert seen > 12


def test_with_the_python_filter_removed_the_database_still_returns_nothing(full, other_bank):
    with other_bank.scope():
        for model in tenant_models():
            manager = getattr(model, "across_tenants", None)
            if manager is not None:
                assert not manager.filter(tenant_id=full.tenant.id).exists(), model


def test_without_a_scope_python_raises_instead_of_returning_everything(full):
    with pytest.raises(ScopeRequired):
        list(User.objects.all())
    assert list(User.across_tenants.all()) == []


def test_a_row_of_another_tenant_cannot_be_written(full, other_bank, app_connection):
    app_connection.execute(
        "SELECT set_config('precept.tenant', %s, false)", [str(other_bank.tenant.id)]
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app_connection.execute(
            "INSERT INTO tenants_group (id, tenant_id, name, built_in, external_id, source)"
            " VALUES (gen_random_uuid(), %s, 'spies', false, '', 'local')",
            [full.tenant.id],
        )


def test_a_reference_cannot_point_into_another_tenant(full, other_bank, raw_sql):
    """Foreign key checks bypass row-level security, so the keys themselves carry the tenant."""
    spy = other_bank.person("spy")
    with full.scope():
        group = Group.objects.get(built_in=True)
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        raw_sql.execute(
            "INSERT INTO tenants_groupmembership (id, tenant_id, group_id, user_id, source,"
            " created_at) VALUES (gen_random_uuid(), %s, %s, %s, 'local', now())",
            [other_bank.tenant.id, group.id, spy.id],
        )


def test_the_application_role_owns_nothing_and_cannot_bypass(app_connection):
    owned = app_connection.execute(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tableowner = current_user"
    ).fetchone()[0]
    powers = app_connection.execute(
        "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles"
        " WHERE rolname = current_user"
    ).fetchone()[0]
    assert (owned, powers) == (0, False)
    for statement in (
        "SET row_security = off; SELECT * FROM documents_document",
        "ALTER TABLE documents_document DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE documents_grant DISABLE TRIGGER eligibility",
        "SET session_replication_role = replica",
        "DROP POLICY tenant_isolation ON documents_document",
        "TRUNCATE documents_grant",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app_connection.execute(statement)


def test_the_setting_does_not_outlive_its_scope_on_a_connection_that_is_handed_on(full, other_bank):
    def visible() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM tenants_user")
            return cursor.fetchone()[0]

    with full.scope():
        pid = connection.connection.info.backend_pid
        assert visible() == 1
    assert visible() == 0
    with other_bank.scope():
        assert connection.connection.info.backend_pid == pid
        assert visible() == 0
    assert visible() == 0


def test_a_rolled_back_transaction_does_not_bring_an_earlier_tenant_back(full, other_bank):
    def fail_inside(bank):
        with pytest.raises(RuntimeError), transaction.atomic(), bank.scope():
            list(User.objects.all())
            raise RuntimeError

    fail_inside(full)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM tenants_user")
        assert cursor.fetchone()[0] == 0
    with other_bank.scope():
        fail_inside(other_bank)
        assert Group.objects.count() == 1


def test_a_scope_opened_in_a_transaction_that_broke_is_closed_with_it(full):
    with pytest.raises(Exception, match="syntax"), transaction.atomic(), full.scope():
        with connection.cursor() as cursor:
            cursor.execute("SELEC")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), current_setting('precept.tenant', true) FROM tenants_user")
        assert cursor.fetchone() == (0, "")


def test_a_scope_of_one_tenant_cannot_be_opened_inside_anothers(full, other_bank):
    with full.scope(), pytest.raises(ScopeConflict), other_bank.scope():
        pass


def test_a_scope_without_a_tenant_raises():
    with pytest.raises(ScopeRequired), tenant_scope(None):
        pass


def test_a_scope_belongs_to_its_thread(full):
    seen = []

    def look():
        try:
            list(User.objects.all())
        except ScopeRequired:
            seen.append("raised")
        connection.close()

    with full.scope():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == ["raised"]


def test_the_look_ups_before_sign_in_return_only_a_tenant_id_for_an_exact_key(full):
    user = full.person("somebody")
    assert tenant_of_email(user.email.upper()) == full.tenant.id
    assert tenant_of_email(user.email[:-1]) is None
    assert tenant_of_email("%") is None
    assert tenant_of_user(user.id) == full.tenant.id


def test_a_deactivated_account_has_no_tenant_any_more(full):
    from tenants.services import set_user_active

    user = full.person("leaver")
    with full.scope():
        set_user_active(user=user, active=False)
    assert tenant_of_user(user.id) is None


def test_a_connection_the_server_has_ended_is_replaced_and_told_the_tenant(full, raw_sql):
    """As after a restart of the database: the first request of each thread still answers."""
    with full.scope():
        expected = User.objects.count()
        pid = backend_pid()
    raw_sql.execute("SELECT pg_terminate_backend(%s)", [pid])
    try:
        with full.scope():
            assert User.objects.count() == expected > 0
            assert backend_pid() != pid
    finally:
        connection.close()


def backend_pid() -> int:
    return connection.connection.info.backend_pid


def test_a_table_of_the_callers_own_does_not_stand_in_for_the_one_a_definer_reads(raw_sql):
    """Without pg_temp at the end of its path, a temporary table comes first."""
    functions = raw_sql.execute(
        "SELECT proname, proconfig FROM pg_proc"
        " WHERE prosecdef AND pronamespace = 'public'::regnamespace"
    ).fetchall()
    assert len(functions) >= 8
    for name, config in functions:
        assert config == ["search_path=pg_catalog, public, pg_temp"], name
