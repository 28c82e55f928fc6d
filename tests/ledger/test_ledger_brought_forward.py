"""A ledger of an older form whose tables the database does not change is told as what it is, and never as damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger, chains, engine
from dpcore.ledger.__main__ import main
from dpcore.ledger.engine import HANGING, NOT_BROUGHT_FORWARD, OF_A_FILE, OF_A_SERVER, NotBroughtForward
from dpcore.ledger.key import fresh
from tests.ledger.test_ledger_promised import of_before

IN_THE_WAY = "CREATE TABLE opened_by_owner (x integer)"
"""By the name of an index that a step makes."""
HANGS = {
    "a view": ("view report.it", "CREATE VIEW report.it AS SELECT lineage, body FROM {records}", "VIEW report.it"),
    "a view of a view": (
        "view report.it", "CREATE VIEW report.it AS SELECT * FROM {records}; CREATE VIEW report.its AS TABLE report.it",
        "VIEW report.it CASCADE",
    ),
    "a materialized view": (
        "materialized view report.it", "CREATE MATERIALIZED VIEW report.it AS SELECT body FROM {records}",
        "MATERIALIZED VIEW report.it",
    ),
    "a rule of another table": (
        "rule it on table report.other",
        "CREATE RULE it AS ON UPDATE TO report.other DO ALSO SELECT body FROM {records}", "RULE it ON report.other",
    ),
    "a policy of another table": (
        "policy it on table report.other",
        "CREATE POLICY it ON report.other USING (EXISTS (SELECT FROM {records} WHERE kind = word))",
        "POLICY it ON report.other",
    ),
    "a function": (
        "function report.it()",
        "CREATE FUNCTION report.it() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT max(body) FROM {records}; END",
        "FUNCTION report.it()",
    ),
    "a column of a table's rows": (
        "column it of table report.kept", "CREATE TABLE report.kept (it {records})", "TABLE report.kept",
    ),
}  # fmt: skip
"""What is named, how it is made, and how it is dropped."""
COMMANDS = (["status"], ["verify"], ["backup", "copy"], ["restore"])


@pytest.fixture
def own(server: PrivateServer) -> Iterator[Engine]:
    """As whoever else has a right to read, with a schema and a table of theirs."""
    made = create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT")
    run(made, "CREATE SCHEMA report", "CREATE TABLE report.other (word text)")
    yield made
    run(made, "DROP SCHEMA report CASCADE")
    made.dispose()


def run(own: Engine, *statements: str) -> None:
    with own.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def filled(url: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """A ledger by a program of before; how many records it has."""
    with monkeypatch.context() as then:
        of_before(then)
        with Ledger.open(url, create=True) as older:
            older.open_budget("people", epsilon=1.0)
            older.charge("r", "people", Cost.pure(0.25), "?")
            return older.verify().seq


@pytest.fixture
def older(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Its address, and the name of its schema."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    url = server.new_schema()
    filled(url, monkeypatch)
    return url, url.rpartition("%3D")[2]


def told(url: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """What each command says of it, by which nothing changes."""
    found = set()
    for command in COMMANDS:
        assert main(["--ledger", url, *command]) == 1
        found.add(capsys.readouterr().err.removeprefix("Trouble: ").rstrip("\n"))
    return found


@pytest.mark.parametrize("kind", HANGS)
def test_what_hangs_on_a_column_is_named_and_nothing_is_called_damaged(
    older: tuple[str, str], own: Engine, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once it is dropped the ledger is brought forward, and made anew it is no trouble."""
    (url, schema), (name, made, dropped) = older, HANGS[kind]
    made = made.format(records=f'"{schema}".records')
    run(own, made)
    assert told(url, capsys) == {NOT_BROUGHT_FORWARD + HANGING.format(name)}
    run(own, f"DROP {dropped}")
    with Ledger.open(url) as ledger:
        assert ledger.verify().charges == 1
        run(own, made)
        assert ledger.verify().charges == 1
    assert main(["--ledger", url, "verify"]) == 0


def test_many_are_told_as_some_and_how_many_more(older: tuple[str, str], own: Engine) -> None:
    url, schema = older
    run(own, *(f'CREATE VIEW report.v{number:02} AS TABLE "{schema}".records' for number in range(10)))
    with pytest.raises(NotBroughtForward, match=r"view report\.v00; .*view report\.v07; 2 more\. Keep"):
        Ledger.open(url)


def test_any_other_trouble_of_a_step_is_told_by_its_number(
    older: tuple[str, str], own: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Something of the name of an index, and tables that are another account's by now."""
    url, schema = older
    run(own, f'SET search_path = "{schema}"; {IN_THE_WAY}')
    assert told(url, capsys) == {NOT_BROUGHT_FORWARD + OF_A_SERVER.format("42P07")}
    run(own, f'DROP TABLE "{schema}".opened_by_owner')
    run(own, "CREATE ROLE guest LOGIN", f'GRANT ALL ON SCHEMA "{schema}" TO guest')
    run(own, f'GRANT ALL ON ALL TABLES IN SCHEMA "{schema}" TO guest')
    guest = engine.make_engine(engine.ledger_url(url.replace("//ledger@", "//guest@")))
    try:
        with pytest.raises(NotBroughtForward, match=r"42501.*give the tables to the ledger's account"):
            engine.migrate(guest, fresh())
    finally:
        guest.dispose()
        run(own, "DROP OWNED BY guest", "DROP ROLE guest")
    with Ledger.open(url) as ledger:
        assert ledger.verify().charges == 1


def test_without_a_look_at_the_step_it_would_be_damage(
    older: tuple[str, str], own: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: these tests can fail."""
    url, schema = older
    run(own, HANGS["a view"][1].format(records=f'"{schema}".records'))
    monkeypatch.setattr(engine, "_is_of_a_step", lambda error: False)
    monkeypatch.setattr(chains, "must_be_of_rows", lambda error: None)
    assert any("tables are damaged" in one for one in told(url, capsys))


def test_a_file_of_which_a_step_is_refused_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    url = f"sqlite:///{tmp_path / 'l.db'}"
    records = filled(url, monkeypatch)
    with closing(sqlite3.connect(tmp_path / "l.db")) as connection:
        connection.execute(IN_THE_WAY)
        connection.commit()
    with pytest.raises(NotBroughtForward) as refused:
        Ledger.open(url)
    assert str(refused.value) == NOT_BROUGHT_FORWARD + OF_A_FILE
    assert not isinstance(refused.value, LedgerUnsound)
    assert main(["--ledger", url, "restore"]) == 0
    with Ledger.open(url) as ledger:
        assert ledger.verify().seq >= records
        assert ledger.remaining("people").epsilon == pytest.approx(0.75)
