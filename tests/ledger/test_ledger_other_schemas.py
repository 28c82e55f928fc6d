"""Of one ledger no second one is made in another schema of its database, nor used, whatever leads an account there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import Engine, create_engine

from benchmarks.private_postgresql import PrivateServer, programs
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, lodging, recovery
from dpcore.ledger import place as places
from dpcore.ledger.recovery import restore

ODD = 'bü%o "1"'
MOVED = {
    "as it was": "SELECT 1",
    "an odd name": f"ALTER SCHEMA of_it RENAME TO {sql.Identifier(ODD).as_string(None)}",
    "its owner's": "ALTER TABLE of_it.records OWNER TO {owner}; GRANT SELECT ON of_it.records TO drifts",
}
CALLS = """
CREATE FUNCTION calls.it() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''it was called''; END'
"""
TRAPS = {
    "a policy": (
        "CREATE TABLE calls.records (seq bigint, hash text)", "ALTER TABLE calls.records ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON calls.records USING (calls.it())",
    ),
    "a view": ("CREATE VIEW calls.records AS SELECT 1::bigint AS seq, 'x'::text AS hash WHERE calls.it()",),
    "a type": (
        "CREATE TYPE calls.t AS (a text)",
        "CREATE FUNCTION calls.said(calls.t) RETURNS text LANGUAGE sql AS 'SELECT calls.it()::text'",
        "CREATE CAST (calls.t AS text) WITH FUNCTION calls.said AS IMPLICIT",
        "CREATE TABLE calls.records (seq bigint, hash calls.t)", "INSERT INTO calls.records VALUES (1, ROW('x'))",
    ),
    "a child": (
        "CREATE TABLE calls.records (seq bigint, hash text)", "CREATE TABLE calls.child () INHERITS (calls.records)",
        "INSERT INTO calls.child SELECT seq, hash FROM of_it.records",
    ),
    "other columns": ("CREATE TABLE calls.records (id integer)",),
}  # fmt: skip
COPIED = (
    "CREATE SCHEMA copied AUTHORIZATION others", "CREATE TABLE copied.head AS SELECT * FROM of_it.head",
    "CREATE TABLE copied.records AS SELECT * FROM of_it.records", "ALTER TABLE copied.head OWNER TO others",
    "ALTER TABLE copied.records OWNER TO others", "GRANT USAGE ON SCHEMA copied TO drifts",
    "GRANT SELECT ON ALL TABLES IN SCHEMA copied TO drifts",
)  # fmt: skip
"""What a reader of a ledger may have made of it, as the database's owner does it for them."""


@dataclass(frozen=True)
class Comes:
    """How somebody comes to a database that has a ledger in another schema."""

    url: str
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def elsewhere(self) -> str:
        """An address that leads to the other schema."""
        return self.url + "&options=-csearch_path%3Danother"

    def another_computer(self) -> None:
        """With a copy of the key file, and of the journal only where one brings it."""
        self.monkeypatch.setenv("XDG_DATA_HOME", str(self.folder / "another computer"))

    @property
    def journal(self) -> Path:
        """A copy of it."""
        (found,) = (self.folder / "data").glob("epsilon-lab/journals/*.journal")
        return Path(shutil.copyfile(found, self.folder / "brought.journal"))


def where_the_path_leads_elsewhere(comes: Comes) -> None:
    restore(comes.url)


def by_a_back_up_at_another_address(comes: Comes) -> None:
    restore(comes.elsewhere(), source=comes.folder / "backup")


def by_a_back_up_at_another_computer(comes: Comes) -> None:
    comes.another_computer()
    restore(comes.elsewhere(), source=comes.folder / "backup", new_journal=True)


def by_a_back_up_that_nobody_marked(comes: Comes) -> None:
    comes.another_computer()
    comes.monkeypatch.setenv("EPSILON_LAB_KEY", str(comes.folder / "another key"))
    given = {"new_journal": True, "new_key": True, "unmarked": True}
    restore(comes.elsewhere(), source=comes.folder / "backup", **given)


def by_a_journal_at_another_computer(comes: Comes) -> None:
    journal = comes.journal
    comes.another_computer()
    restore(comes.elsewhere(), journal=journal)


def into_tables_that_were_made_before(comes: Comes) -> None:
    comes.another_computer()
    Ledger.open(comes.elsewhere(), create=True).close()
    restore(comes.elsewhere(), source=comes.folder / "backup", new_journal=True)


def by_init(comes: Comes) -> None:
    Ledger.open(comes.elsewhere(), create=True).close()


def by_opening(comes: Comes) -> None:
    Ledger.open(comes.elsewhere()).close()


WAYS: list[Callable[[Comes], None]] = [
    where_the_path_leads_elsewhere,
    by_a_back_up_at_another_address,
    by_a_back_up_at_another_computer,
    by_a_back_up_that_nobody_marked,
    by_a_journal_at_another_computer,
    into_tables_that_were_made_before,
    by_init,
    by_opening,
]


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
        ledger.backup(tmp_path / "backup")
    leads(own, "another")
    return found


def leads(own: Engine, schema: str) -> None:
    run(own, f"ALTER ROLE drifts IN DATABASE {own.url.database} SET search_path = {schema}")


@pytest.fixture
def comes(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Comes:
    return Comes(url, tmp_path, monkeypatch)


def recorded_elsewhere(own: Engine) -> bool:
    """Whether the other schema has a ledger, with a record or to be opened by `init`."""
    query = "SELECT to_regclass('another.records') IS NOT NULL"
    with own.connect() as connection:
        if not connection.exec_driver_sql(query).scalar():
            return False
        return bool(connection.exec_driver_sql("SELECT count(*) FROM another.records").scalar())


@pytest.mark.parametrize(("way", "how"), [*product(WAYS[:1], MOVED), *product(WAYS[1:], ["as it was"])])
def test_no_second_ledger_is_made_beside_the_first(
    way: Callable[[Comes], None], how: str, comes: Comes, own: Engine
) -> None:
    """However somebody comes back, from whichever computer: both would spend the same budgets."""
    with own.connect() as connection:
        owner = connection.exec_driver_sql("SELECT quote_ident(current_user)").scalar()
    run(own, MOVED[how].format(owner=owner))
    with pytest.raises(LedgerUnsound) as refused:
        way(comes)
    assert f"in the schema “{ODD if how == 'an odd name' else 'of_it'}” of" in str(refused.value)
    with own.connect() as connection:
        made = connection.exec_driver_sql("SELECT relname FROM pg_class WHERE relnamespace = 'another'::regnamespace")
        assert way is into_tables_that_were_made_before or made.all() == []
    assert not recorded_elsewhere(own)


@pytest.mark.parametrize("way", WAYS)
def test_without_the_look_a_second_one_would_spend_the_same_again(
    way: Callable[[Comes], None], comes: Comes, own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the test above can fail."""
    for module in (recovery, places):
        monkeypatch.setattr(module, "schemas_of", lambda *_: [])
    with pytest.raises(pytest.fail.Exception):
        test_no_second_ledger_is_made_beside_the_first(way, "as it was", comes, own)
    with own.connect() as connection:
        assert connection.exec_driver_sql("SELECT to_regclass('another.records') IS NOT NULL").scalar()


def test_a_ledger_of_other_budgets_is_brought_back_beside_it(comes: Comes, own: Engine) -> None:
    """Which begins with another record."""
    comes.another_computer()
    with Ledger.open(comes.folder / "other.sqlite3", create=True) as ledger:
        ledger.open_budget("others", epsilon=1.0)
        ledger.backup(comes.folder / "other backup")
    restore(comes.elsewhere(), source=comes.folder / "other backup", new_journal=True)
    assert recorded_elsewhere(own)
    Ledger.open(comes.elsewhere()).close()


def copied(comes: Comes, own: Engine) -> None:
    """An older copy of the ledger, as `pg_dump` makes one, is in the schema to which the path leads."""
    host, port = str(own.url.query["host"]), str(own.url.query["port"])
    asked = ["-h", host, "-p", port, "-U", "ledger", str(own.url.database)]
    dumped = subprocess.run([programs() / "pg_dump", "-n", "of_it", *asked], check=True, capture_output=True).stdout
    leads(own, "of_it")
    with Ledger.open(comes.url) as ledger:
        ledger.charge("s", "people", Cost.pure(1.0), "?")
    run(own, "DROP SCHEMA another", "ALTER SCHEMA of_it RENAME TO used")
    subprocess.run([programs() / "psql", "-q", *asked], check=True, capture_output=True, input=dumped)
    run(own, "ALTER SCHEMA of_it RENAME TO another", "ALTER SCHEMA used RENAME TO of_it")
    leads(own, "another")


def open_there(comes: Comes) -> None:
    Ledger.open(comes.url).close()


def open_at_another_computer(comes: Comes) -> None:
    comes.another_computer()
    open_there(comes)


def with_a_back_up(comes: Comes) -> None:
    restore(comes.url, source=comes.folder / "backup")


COPY_WAYS: list[Callable[[Comes], None]] = [
    open_there,
    open_at_another_computer,
    where_the_path_leads_elsewhere,
    with_a_back_up,
]


def counted(own: Engine) -> tuple[int, int]:
    query = "SELECT (SELECT count(*) FROM of_it.records), (SELECT count(*) FROM another.records)"
    with own.connect() as connection:
        used, copy = connection.exec_driver_sql(query).one()
    return used, copy


@pytest.mark.parametrize(("led", "other"), [("another", "of_it"), ("of_it", "another")])
@pytest.mark.parametrize("way", COPY_WAYS)
def test_of_a_copy_and_its_ledger_none_is_used(
    way: Callable[[Comes], None], led: str, other: str, comes: Comes, own: Engine
) -> None:
    """Which of the two counts only whoever made the copy knows."""
    copied(comes, own)
    leads(own, led)
    before = counted(own)
    with pytest.raises(LedgerUnsound) as refused:
        way(comes)
    assert f"in the schema “{other}” of its database as well as here" in str(refused.value)
    assert counted(own) == before
    leads(own, "of_it")
    run(own, "DROP SCHEMA another CASCADE")
    with Ledger.open(comes.url) as ledger:
        assert ledger.remaining("people").epsilon == 1.0


@pytest.mark.parametrize("way", [open_at_another_computer, where_the_path_leads_elsewhere])
def test_without_the_look_both_would_be(
    way: Callable[[Comes], None], comes: Comes, own: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was."""
    for module in (recovery, places):
        monkeypatch.setattr(module, "schemas_of", lambda *_: [])
    with pytest.raises(pytest.fail.Exception):
        test_of_a_copy_and_its_ledger_none_is_used(way, "another", "of_it", comes, own)


def test_it_is_found_where_it_is(url: str, own: Engine) -> None:
    leads(own, "of_it")
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


def test_what_is_given_up_is_brought_back_elsewhere(url: str, own: Engine) -> None:
    run(own, "DROP SCHEMA of_it CASCADE")
    restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


def lost_but_copied(own: Engine) -> None:
    run(own, *COPIED, "DROP SCHEMA of_it CASCADE")


def test_tables_of_somebody_else_s_keep_nobody_from_coming_back(url: str, own: Engine) -> None:
    """Who may read a ledger may copy it; nor is a lock of theirs waited for."""
    lost_but_copied(own)
    with own.connect().execution_options(isolation_level="READ COMMITTED") as theirs, theirs.begin():
        theirs.exec_driver_sql("LOCK TABLE copied.head, copied.records IN ACCESS EXCLUSIVE MODE")
        restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


def test_whoever_asked_them_would_be_kept(url: str, own: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was."""
    lost_but_copied(own)
    monkeypatch.setattr(lodging, "_OTHERS", lodging._OTHERS.replace("o.rolsuper", "true"))
    with pytest.raises(LedgerUnsound, match="in the schema “copied”"):
        restore(url)


@pytest.mark.parametrize("how", TRAPS)
def test_nothing_of_anybody_s_is_called_by_the_look(how: str, url: str, own: Engine) -> None:
    run(own, "CREATE SCHEMA calls", CALLS, *TRAPS[how], "DROP SCHEMA of_it CASCADE")
    run(own, "GRANT USAGE ON SCHEMA calls TO drifts", "GRANT SELECT ON ALL TABLES IN SCHEMA calls TO drifts")
    restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.remaining("people").epsilon == 2.0


PASSING = {
    "a temporary copy": "CREATE TEMP TABLE records AS SELECT * FROM of_it.records",
    "an empty temporary table": "CREATE TEMP TABLE records (seq bigint, hash text)",
}


def as_a_superuser(url: str, own: Engine) -> str:
    """As `compose.yaml` makes the ledger's account."""
    run(own, f"ALTER ROLE ledger IN DATABASE {own.url.database} SET search_path = of_it")
    return own.url.render_as_string()


def as_any_account(url: str, own: Engine) -> str:
    leads(own, "of_it")
    return url


@pytest.mark.parametrize("account", [as_a_superuser, as_any_account])
@pytest.mark.parametrize("how", PASSING)
def test_what_ends_with_another_session_closes_none(
    how: str, account: Callable[[str, Engine], str], url: str, own: Engine
) -> None:
    """Nobody else can read it, a superuser neither, whose looks into all schemas failed."""
    led = account(url, own)
    with own.connect() as other:
        other.exec_driver_sql(PASSING[how])
        with Ledger.open(led) as ledger:
            assert ledger.remaining("people").epsilon == 2.0


def test_a_look_at_temporary_tables_would_fail(url: str, own: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was."""
    monkeypatch.setattr(lodging, "_OTHERS", lodging._OTHERS.replace("r.relpersistence <> 't'", "true"))
    with pytest.raises(LedgerError, match="could not record"):
        test_what_ends_with_another_session_closes_none("a temporary copy", as_a_superuser, url, own)


@pytest.mark.thorough
@pytest.mark.parametrize("way", [open_there, where_the_path_leads_elsewhere])
def test_a_table_that_somebody_holds_is_named(way: Callable[[Comes], None], comes: Comes, own: Engine) -> None:
    """It may be a copy of the ledger; which of its tables is held, and where, nobody knew."""
    leads(own, "of_it")
    run(own, "CREATE SCHEMA looked", "CREATE TABLE looked.records (seq bigint, hash text)")
    run(own, "GRANT USAGE ON SCHEMA looked TO drifts", "GRANT SELECT ON looked.records TO drifts")
    with own.connect().execution_options(isolation_level="READ COMMITTED") as theirs, theirs.begin():
        theirs.exec_driver_sql("LOCK TABLE looked.records IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(LedgerError, match="in the schema “looked” of the ledger's database"):
            way(comes)
    way(comes)


@pytest.mark.thorough
def test_without_the_name_nobody_knows_what_is_held(comes: Comes, own: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was."""
    monkeypatch.setattr(lodging, "_LOCKED", "")
    with pytest.raises(AssertionError, match="held by another program"):
        test_a_table_that_somebody_holds_is_named(open_there, comes, own)
