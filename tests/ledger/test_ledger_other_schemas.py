"""Of one ledger no second one is made in another schema of its database, whatever leads an account there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import Engine, create_engine

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger, recovery
from dpcore.ledger.recovery import restore

ODD = 'bü%o "1"'
MOVED = {
    "as it was": "SELECT 1",
    "an odd name": f"ALTER SCHEMA of_it RENAME TO {sql.Identifier(ODD).as_string(None)}",
    "another's tables": "ALTER TABLE of_it.head OWNER TO others; GRANT SELECT ON of_it.head TO drifts",
}
CALLS = """
CREATE FUNCTION calls.it() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''it was called''; END'
"""
TRAPS = {
    "a policy": (
        "CREATE TABLE calls.head (ledger_id text)", "ALTER TABLE calls.head ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON calls.head USING (calls.it())",
    ),
    "a view": ("CREATE VIEW calls.head AS SELECT 'x'::text AS ledger_id WHERE calls.it()",),
    "a type": (
        "CREATE TYPE calls.t AS (a text)",
        "CREATE FUNCTION calls.said(calls.t) RETURNS text LANGUAGE sql AS 'SELECT calls.it()::text'",
        "CREATE CAST (calls.t AS text) WITH FUNCTION calls.said AS IMPLICIT",
        "CREATE TABLE calls.head (ledger_id calls.t)", "INSERT INTO calls.head VALUES (ROW('x'))",
    ),
    "a child that is a view": (
        "CREATE TABLE calls.head (ledger_id text)",
        "CREATE TABLE calls.child () INHERITS (calls.head)", "INSERT INTO calls.child VALUES ('x')",
    ),
    "other columns": ("CREATE TABLE calls.head (id integer)",),
}  # fmt: skip


def run(own: Engine, *statements: str) -> None:
    with own.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


@pytest.fixture(scope="module")
def roles(server: PrivateServer) -> Iterator[None]:
    made = create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT")
    run(made, "CREATE ROLE drifts LOGIN", "CREATE ROLE others LOGIN")
    yield
    made.dispose()


@pytest.fixture
def own(server: PrivateServer, roles: None) -> Iterator[Engine]:
    """A database as its owner sees it, in which an account without any other right has a schema."""
    made = create_engine(server.new_database(), isolation_level="AUTOCOMMIT")
    run(made, "CREATE SCHEMA of_it AUTHORIZATION drifts", "CREATE SCHEMA another AUTHORIZATION drifts")
    yield made
    made.dispose()


@pytest.fixture
def url(own: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The account's ledger there; then its path leads elsewhere, and the address says the same."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = own.url.set(username="drifts").render_as_string()
    leads(own, "of_it")
    with Ledger.open(found, create=True) as ledger:
        ledger.open_budget("people", epsilon=10.0)
        ledger.charge("r", "people", Cost.pure(8.0), "?")
    leads(own, "another")
    return found


def leads(own: Engine, schema: str) -> None:
    run(own, f"ALTER ROLE drifts IN DATABASE {own.url.database} SET search_path = {schema}")


@pytest.mark.parametrize("how", MOVED)
def test_no_second_ledger_is_made_beside_the_first(how: str, url: str, own: Engine) -> None:
    """As `status` said of it: it is older than its journal, so it is to be restored."""
    run(own, MOVED[how])
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        Ledger.open(url)
    with pytest.raises(LedgerUnsound) as refused:
        restore(url)
    assert f"schema “{ODD if how == 'an odd name' else 'of_it'}” of" in str(refused.value)
    with own.connect() as connection:
        made = connection.exec_driver_sql("SELECT relname FROM pg_class WHERE relnamespace = 'another'::regnamespace")
        assert made.all() == []


def test_it_is_found_where_it_is(url: str, own: Engine) -> None:
    leads(own, "of_it")
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


def test_what_is_given_up_is_brought_back_elsewhere(url: str, own: Engine) -> None:
    run(own, "DROP SCHEMA of_it CASCADE")
    restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


def test_a_second_one_would_spend_the_same_again(url: str, own: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the tests above can fail."""
    monkeypatch.setattr(recovery, "schemas_of", lambda *_: [])
    restore(url)
    query = "SELECT (SELECT ledger_id FROM of_it.head) = (SELECT ledger_id FROM another.head)"
    with own.connect() as connection:
        assert connection.exec_driver_sql(query).scalar()


@pytest.mark.parametrize("how", TRAPS)
def test_nothing_of_anybody_s_is_called_by_the_look(how: str, url: str, own: Engine) -> None:
    run(own, "DROP SCHEMA of_it CASCADE", "CREATE SCHEMA calls", CALLS, *TRAPS[how])
    run(own, "GRANT USAGE ON SCHEMA calls TO drifts", "GRANT SELECT ON ALL TABLES IN SCHEMA calls TO drifts")
    restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0
