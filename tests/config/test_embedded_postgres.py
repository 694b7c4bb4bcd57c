import os
import shutil
import signal
import socket
import stat
import subprocess
from pathlib import Path

import psycopg
import pytest

from config.embedded_postgres import (
    EmbeddedPostgresError,
    Server,
    binaries,
    ensure_running,
    erase,
    status,
    stop,
)
from tests.config.conftest import ROOT


def query(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url, autocommit=True) as connection:
        result = connection.execute(statement)
        return result.fetchall() if result.description else []


def postmaster_of(server: Server) -> int:
    return int((server.location / "pgdata" / "postmaster.pid").read_text().split()[0])


def silent(_message: str) -> None:
    pass


class TestLifeOfAServer:
    def test_it_starts_and_a_second_call_returns_the_same_server(self, shared_data_dir):
        first = ensure_running(data_dir=shared_data_dir, say=silent)
        pid = postmaster_of(first)
        assert ensure_running(data_dir=shared_data_dir, say=silent) == first
        assert status(data_dir=shared_data_dir) == first
        assert postmaster_of(first) == pid

    def test_processes_that_race_to_start_it_get_the_same_server(self, data_dir, python):
        command = [python, "-m", "config.embedded_postgres", "start", "--data-dir", str(data_dir)]
        racers = [
            subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)
        ]
        answers = {racer.communicate(timeout=60)[0] for racer in racers}
        assert [racer.returncode for racer in racers] == [0, 0, 0]
        assert answers == {f"Running: {status(data_dir=data_dir)}\n"}

    def test_it_recovers_with_its_rows_after_its_postmaster_is_killed(self, shared_data_dir):
        server = ensure_running(data_dir=shared_data_dir, say=silent)
        query(server.owner_url, "CREATE TABLE kept (n int)")
        query(server.owner_url, "INSERT INTO kept VALUES (1), (2)")
        os.kill(postmaster_of(server), signal.SIGKILL)
        server = ensure_running(data_dir=shared_data_dir, say=silent)
        assert query(server.app_url, "SELECT n FROM kept ORDER BY n") == [(1,), (2,)]

    def test_a_lock_file_naming_a_living_stranger_does_not_stop_it(self, shared_data_dir):
        server = ensure_running(data_dir=shared_data_dir, say=silent)
        lock_file = server.location / "pgdata" / "postmaster.pid"
        text = lock_file.read_text()
        os.kill(postmaster_of(server), signal.SIGKILL)
        stop(data_dir=shared_data_dir)
        lock_file.write_text(text.replace(text.split()[0], str(os.getpid()), 1))
        assert ensure_running(data_dir=shared_data_dir, say=silent)

    def test_stop_ends_its_processes_though_connections_are_open(self, shared_data_dir):
        server = ensure_running(data_dir=shared_data_dir, say=silent)
        with psycopg.connect(server.app_url):
            assert stop(data_dir=shared_data_dir)
        assert not (server.location / "pgdata" / "postmaster.pid").exists()
        assert status(data_dir=shared_data_dir) is None
        assert not stop(data_dir=shared_data_dir)

    def test_it_comes_back_on_the_same_port_unless_that_is_taken(self, shared_data_dir):
        first = ensure_running(data_dir=shared_data_dir, say=silent)
        stop(data_dir=shared_data_dir)
        assert ensure_running(data_dir=shared_data_dir, say=silent).port == first.port
        stop(data_dir=shared_data_dir)
        with socket.create_server((first.host, first.port)):
            assert ensure_running(data_dir=shared_data_dir, say=silent).port != first.port

    def test_a_copied_data_directory_gets_a_server_of_its_own(self, shared_data_dir, data_dir):
        stop(data_dir=shared_data_dir)
        shutil.copytree(shared_data_dir, data_dir, dirs_exist_ok=True)
        original = ensure_running(data_dir=shared_data_dir, say=silent)
        copied = ensure_running(data_dir=data_dir, say=silent)
        assert copied.port != original.port
        assert status(data_dir=shared_data_dir) == original


class TestWhatTheDatabaseOffers:
    def test_case_folding_knows_accents(self, server):
        assert query(server.app_url, "SELECT lower('É'), unaccent('é')") == [("é", "e")]

    def test_vector_search_is_recent_enough(self, server):
        [(version,)] = query(
            server.app_url, "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        )
        binaries.check_pgvector(version)

    def test_it_listens_on_the_loopback_address_only_and_asks_for_passwords(self, server):
        assert query(server.superuser_url, "SHOW listen_addresses") == [("127.0.0.1",)]
        assert query(server.superuser_url, "SHOW unix_socket_directories") == [("",)]
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(
                host=server.host, port=server.port, user="postgres", dbname="precept", password="?"
            )

    def test_passwords_lie_in_a_private_file_and_stay_out_of_messages(self, server):
        file = server.location / "passwords.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "postgresql://" not in repr(server)


class TestTheApplicationRole:
    def test_it_has_no_special_rights(self, server):
        rights = query(
            server.superuser_url,
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication "
            "FROM pg_roles WHERE rolname LIKE 'precept%' ORDER BY rolname",
        )
        assert rights == [
            ("precept_app", False, False, False, False, False),
            ("precept_owner", False, False, False, True, False),
        ]

    def test_it_owns_nothing_and_can_make_nothing(self, server):
        owned = "SELECT count(*) FROM pg_shdepend WHERE refobjid = 'precept_app'::regrole"
        assert query(server.superuser_url, f"{owned} AND deptype = 'o'") == [(0,)]
        for statement in ("CREATE TABLE mine (n int)", "CREATE TEMP TABLE mine (n int)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                query(server.app_url, statement)

    def test_it_cannot_step_round_row_level_security(self, server):
        query(server.owner_url, "CREATE TABLE guarded (n int)")
        query(server.owner_url, "INSERT INTO guarded VALUES (1)")
        query(server.owner_url, "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY")
        query(server.owner_url, "ALTER TABLE guarded FORCE ROW LEVEL SECURITY")
        for url in (server.app_url, server.owner_url):
            assert query(url, "SELECT n FROM guarded") == []
        with psycopg.connect(server.app_url) as connection:
            connection.execute("SET row_security = off")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT n FROM guarded")

    def test_it_may_use_what_the_owner_makes_also_in_a_test_database(self, server):
        query(server.owner_url, "CREATE DATABASE trial")
        for database in ("precept", "trial"):
            owner, app = (
                url.removesuffix("precept") + database for url in (server.owner_url, server.app_url)
            )
            query(owner, "CREATE TABLE thing (id serial, place vector(2))")
            query(app, "INSERT INTO thing (place) VALUES ('[1,2]')")
            query(app, "UPDATE thing SET place = '[2,2]'")
            assert query(app, "SELECT id, unaccent('ë') FROM thing") == [(1, "e")]
            query(app, "DELETE FROM thing")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                query(app, "DROP TABLE thing")


class TestRefusals:
    def test_a_processor_without_the_instructions_is_told_the_way_out(self):
        with pytest.raises(EmbeddedPostgresError, match=r"avx2, movbe.*DATABASE_URL"):
            binaries.check_cpu(cpuinfo="flags\t\t: fpu fma bmi2 f16c sse4_2\n", machine="x86_64")

    @pytest.mark.parametrize(
        ("cpuinfo", "machine"),
        [
            ("flags\t: avx2 fma bmi2 f16c movbe sse2\n", "x86_64"),
            ("Features\t: fp asimd\n", "aarch64"),
        ],
    )
    def test_other_processors_are_accepted(self, cpuinfo, machine):
        binaries.check_cpu(cpuinfo=cpuinfo, machine=machine)

    @pytest.mark.parametrize("version", ["0.8.3", "0.7", ""])
    def test_an_old_pgvector_is_refused(self, version):
        with pytest.raises(EmbeddedPostgresError, match=r"0\.8\.4 or newer.*DATABASE_URL"):
            binaries.check_pgvector(version)

    @pytest.mark.parametrize("version", ["0.8.4", "0.8.6", "0.9.0", "1.0"])
    def test_a_recent_pgvector_is_accepted(self, version):
        binaries.check_pgvector(version)

    def test_a_cluster_of_another_major_version_is_refused(self, server, shared_data_dir):
        stop(data_dir=shared_data_dir)
        version = server.location / "pgdata" / "PG_VERSION"
        made_by = version.read_text()
        version.write_text("15\n")
        try:
            with pytest.raises(EmbeddedPostgresError, match="made by PostgreSQL 15"):
                ensure_running(data_dir=shared_data_dir, say=silent)
        finally:
            version.write_text(made_by)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands the server to another user")
class TestAsRoot:
    def test_the_server_runs_as_a_user_and_a_group_that_are_not_roots(self, server):
        process = Path("/proc", str(postmaster_of(server)), "status").read_text()
        ids = {line.split()[0]: line.split()[1:] for line in process.splitlines() if line[1:]}
        assert "0" not in ids["Uid:"]
        assert "0" not in ids["Gid:"]
        assert ids["Groups:"] == [] or "0" not in ids["Groups:"]

    def test_a_checkout_below_a_closed_directory_works_and_stays_closed(
        self, data_dir, monkeypatch, request
    ):
        home = data_dir / "home"
        home.mkdir(mode=0o700)
        programs = binaries.copy_installation(binaries.find_installation(), home)
        monkeypatch.setattr(binaries, "find_installation", lambda: programs)
        closed = home / "checkout" / ".data"
        request.addfinalizer(lambda: erase(data_dir=closed))
        said: list[str] = []

        server = ensure_running(data_dir=closed, say=said.append)

        assert query(server.app_url, "SELECT 1") == [(1,)]
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert home not in server.location.parents
        assert any(str(server.location) in message for message in said)
        command = Path("/proc", str(postmaster_of(server)), "cmdline").read_text().split("\0")
        assert Path(command[0]).is_relative_to(server.location)

        stop(data_dir=closed)
        assert ensure_running(data_dir=closed, say=silent) == server
        erase(data_dir=closed)
        assert not server.location.exists()

    def test_the_server_of_a_deleted_data_directory_is_stopped_by_its_successor(
        self, data_dir, request
    ):
        closed = data_dir / "home" / ".data"
        closed.parent.mkdir(mode=0o700)
        request.addfinalizer(lambda: erase(data_dir=closed))
        first = ensure_running(data_dir=closed, say=silent)
        request.addfinalizer(lambda: shutil.rmtree(first.location))
        shutil.rmtree(closed)
        said: list[str] = []
        second = ensure_running(data_dir=closed, say=said.append)
        assert second.location != first.location
        assert any(str(first.location) in message for message in said)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(first.app_url)
