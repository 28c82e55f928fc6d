"""Whatever other clients of a pooler said in the session that a source's transaction is given, and whatever its account
is set to: its table is the one that was found first, and is counted as in a session of its own."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from benchmarks.private_postgresql import PrivateServer
from dpcore.datasets import Declaration
from dpcore.datasets.declaration import Column
from dpcore.datasets.in_place import PrivateSource, database, open_database, tables_of, told
from dpcore.errors import UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.selection import MostCommonOption
from tests.ledger import test_ledger_pooled_letters as letters
from tests.ledger.source_anew import anew as anew
from tests.ledger.source_anew import forget

WARD = Column(name="ward", type="category", categories=("Zürich", "Bern"))
DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 4))
WHO, SHARE = (Column(name="who", type="text"), Column(name="share", type="number", low=0.0, high=1.0))
STATED = ("guarded",)
"""Whose policy looks at the session, which its owner states to be harmless."""
MADE = """
CREATE TABLE public.visits (who bytea, ward text, day timestamptz, share float8);
INSERT INTO public.visits SELECT decode(lpad(to_hex(n / 3), 4, '0'), 'hex'), CASE WHEN n % 3 = 0 THEN 'Zürich'
  ELSE 'Bern' END, TIMESTAMPTZ '2024-01-02 23:30+00' + n % 2 * INTERVAL '12 hours', 0.5 + n * 2.0 ^ -52
  FROM generate_series(1, 60) AS n;
CREATE SCHEMA archive;
CREATE TABLE archive.visits AS SELECT decode('ff', 'hex') AS who, 'Bern' AS ward, now() AS day, 0.5::float8 AS share;
CREATE TABLE public.guarded AS SELECT ward FROM public.visits;
ALTER TABLE public.guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_one ON public.guarded USING (
  current_user = 'visits_reader' AND coalesce(current_setting('lab.ward', true), '') IN ('', ward));
GRANT USAGE ON SCHEMA archive TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA public, archive TO PUBLIC;
"""
BY_ANOTHER = {
    "path": "SET search_path TO archive",
    "path with its own first": "CREATE TEMP VIEW visits AS SELECT * FROM archive.visits; SET search_path TO pg_temp",
    "temporary table": "CREATE TEMP TABLE visits AS SELECT * FROM archive.visits",
    "temporary type": "CREATE TYPE pg_temp.uuid AS ENUM ('one'); CREATE DOMAIN pg_temp.regclass AS text",
    "temporary catalog": "CREATE TEMP TABLE pg_settings (name text, setting text); CREATE TEMP TABLE pg_class (x int)",
    "letters": "SET client_encoding TO LATIN1",
    "no letters": "SET client_encoding TO SQL_ASCII",
    "role": "SET ROLE visits_other",
    "rights": "SET row_security TO off",
    "own setting": "SET lab.ward TO 'Bern'",
    "zone": "SET TimeZone TO 'Pacific/Auckland'",
    "days": "SET DateStyle TO 'SQL, DMY'",
    "spans": "SET IntervalStyle TO iso_8601",
    "backslashes": "SET standard_conforming_strings TO off",
    "nulls": "SET transform_null_equals TO on",
    "bytes": "SET bytea_output TO escape",
    "digits": "SET extra_float_digits TO -15",
    "quotes": "SET quote_all_identifiers TO on",
    "time": "SET lock_timeout TO 1; SET idle_in_transaction_session_timeout TO 1",
    "read only": "SET default_transaction_read_only TO on; SET default_transaction_deferrable TO on",
    "isolation": "SET default_transaction_isolation TO serializable",
    "locale": "SET lc_numeric TO 'C.UTF-8'; SET lc_monetary TO 'C.UTF-8'; SET lc_time TO 'C.UTF-8'",
    "prepared": "PREPARE _pg3_0 AS SELECT 1; DECLARE c CURSOR WITH HOLD FOR SELECT 1",
}
"""What another client of the account's pool said."""
WRONG = (
    *("path", "path with its own first", "temporary table", "temporary type", "letters", "role", "rights"),
    *("own setting", "zone", "days", "backslashes", "bytes", "digits"),
)
"""Of these what would be counted otherwise, or not at all, by a transaction that is told nothing."""
BY_THE_ACCOUNT = {
    **{"standard_conforming_strings": "off", "transform_null_equals": "on"},
    **{"DateStyle": "German, DMY", "bytea_output": "escape", "extra_float_digits": "-15", "IntervalStyle": "iso_8601"},
    **{"quote_all_identifiers": "on", "default_transaction_isolation": "serializable", "gin_fuzzy_search_limit": "1"},
}
"""How an account may be set without a change of what is counted."""
Dirtied = Callable[[str], AbstractContextManager[str]]


@pytest.fixture(scope="module")
def clinic(server: PrivateServer) -> str:
    """The address of a database for an account that may only read."""
    address = server.new_database()
    with psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as owner:
        for role in ("visits_other", "visits_reader LOGIN IN ROLE visits_other"):
            with suppress(psycopg.errors.DuplicateObject):  # once for a server
                owner.execute(f"CREATE ROLE {role}")
        owner.execute(MADE)
    return address.replace("ledger@", "visits_reader@")


@pytest.fixture
def dirtied(
    server: PrivateServer, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Dirtied:
    """Puts a pooler before an address that has another client say something before each transaction, and whose word on
    what holds in a session is that of one in which nobody said anything."""
    folder = tmp_path_factory.mktemp("p")

    def by(said: str, url: str) -> AbstractContextManager[str]:
        monkeypatch.setitem(letters.OF_ANOTHER, "elsewhere", said.encode() + b"\0")
        return letters.pooler(server, folder, url, "elsewhere")

    return by  # type: ignore[return-value]


def owner_of(address: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(address.replace("+psycopg", "").replace("visits_reader@", "ledger@"), autocommit=True)


def counts(address: str) -> list[list[float]]:
    """What each question counts. Raises UnreadableFile where it is refused before its charge."""
    found = []
    for table, questions in QUESTIONS.items():
        opened = open_database(address, table, never_fail=STATED, row_by_row=STATED)
        stored = PrivateSource(partial(replace, opened))
        for asked in questions:
            stored.check(asked.reads)
            try:
                found.append(np.ravel(asked.read(stored)).tolist())
            except UnreadableFile as error:
                raise AssertionError("refused after the charge") from error
    return found


def of_each(*columns: Column) -> Declaration:
    return Declaration(columns=columns, id_column=columns[-1].name, rows_per_person=1)


QUESTIONS = {
    "visits": (
        MostCommonOption.of(of_each(WARD, WHO), "ward", epsilon=1.0),
        MostCommonOption.of(of_each(WARD, SHARE), "ward", epsilon=1.0),
        AlarmRun.of(Declaration(columns=(DAY,)), "day", threshold=10, epsilon=1.0),
    ),
    "guarded": (MostCommonOption.of(Declaration(columns=(WARD,)), "ward", epsilon=1.0),),
}


@pytest.fixture(scope="module")
def clean(clinic: str) -> list[list[float]]:
    """What is counted where nobody else is."""
    forget()
    found = counts(clinic)
    assert [sum(sizes) for sizes in found] == [21, 60, 60, 60]
    assert found[2] == [0, 30, 30, 0]
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("said", BY_ANOTHER)
def test_what_another_client_said_counts_for_nothing(
    clinic: str, dirtied: Dirtied, clean: list[list[float]], said: str
) -> None:
    with dirtied(BY_ANOTHER[said], clinic) as pooled:
        assert counts(pooled) == clean
        assert tables_of(pooled) == ("guarded", "visits")


def counted(address: str) -> list[list[float]] | None:
    """``counts``, or None where a question fails."""
    try:
        return counts(address)
    except (UnreadableFile, AssertionError, UnicodeError, TypeError):
        return None


def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a transaction is told nothing, and its tables' names have no schema before them."""
    monkeypatch.setattr(told, "_tell", lambda info, execute: execute(told._BEGIN))
    monkeypatch.setattr(told, "_WRITTEN", {})
    monkeypatch.setattr(database, "_schema", lambda address, table: None)


@pytest.mark.thorough
@pytest.mark.parametrize("said", WRONG)
def test_a_transaction_that_is_told_nothing_counts_otherwise(
    clinic: str, dirtied: Dirtied, clean: list[list[float]], monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """The test above can fail."""
    untold(monkeypatch)
    with dirtied(BY_ANOTHER[said], clinic) as pooled:
        assert counted(pooled) != clean


def holding(address: str) -> dict[str, str]:
    """Every setting of a source's transaction."""
    opened = open_database(address, "visits")
    return {str(name): str(setting) for name, setting in opened.run("SELECT name, setting FROM pg_settings")}


def otherwise(address: str) -> list[str]:
    """Of each setting that an account may change, a statement that does."""
    texts = {"search_path": "archive", "client_encoding": "LATIN1", "DateStyle": "SQL, DMY", "TimeZone": "Asia/Tokyo"}
    made = []
    with psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as own:
        settable = "SELECT name, setting, vartype, min_val, max_val, enumvals FROM pg_settings WHERE context = 'user'"
        for name, setting, kind, low, high, words in own.execute(settable).fetchall():
            values = {
                "bool": ["off" if setting == "on" else "on"],
                "enum": [word for word in words or () if word != setting],
                "string": [texts[name]] if name in texts else [],
            }.get(kind, [low, high])
            made += [f"SET {name} TO '{value}'" for value in values if value != setting][-1:]
    return made


def test_no_setting_of_a_session_is_left_as_another_client_set_it(clinic: str, dirtied: Dirtied) -> None:
    """Whichever the server has, also those that an extension or its owner made."""
    own = holding(clinic)
    forget()
    all_of_them = otherwise(clinic)
    assert len(all_of_them) > 90
    with dirtied("; ".join((*all_of_them, "SET lab.ward TO 'Bern'")), clinic) as pooled:
        with psycopg.connect(pooled.replace("+psycopg", "")) as other:
            dirty = {
                str(name): str(setting) for name, setting in other.execute("SELECT name, setting FROM pg_settings")
            }
        assert len({name for name in own if dirty[name] != own[name]}) > 90, "a control"
        assert holding(pooled) | {"lab.ward": ""} == own | {"lab.ward": ""}


@pytest.mark.thorough
@pytest.mark.parametrize("letters", ["LATIN1", "SQL_ASCII"])
@pytest.mark.parametrize("first", [True, False])
def test_how_an_account_is_set_to_write_counts_for_nothing(
    clinic: str, clean: list[list[float]], monkeypatch: pytest.MonkeyPatch, letters: str, *, first: bool
) -> None:
    """Not even for what SQLAlchemy itself asks ``first``: without letters that would be no text, and fail."""
    if not first:
        monkeypatch.setattr(told, "before_the_first", lambda engine: None)
    with owner_of(clinic) as owner:
        for setting, value in {**BY_THE_ACCOUNT, "client_encoding": letters}.items():
            owner.execute(f"ALTER ROLE visits_reader IN DATABASE {owner.info.dbname} SET {setting} TO '{value}'")
    try:
        assert (counted(clinic) == clean) is (first or letters != "SQL_ASCII")
    finally:
        as_made(clinic)


def as_made(clinic: str) -> None:
    with owner_of(clinic) as owner:
        owner.execute(f"ALTER ROLE visits_reader IN DATABASE {owner.info.dbname} RESET ALL")


def looks_into(clinic: str, path: str) -> None:
    """Where a session of the account looks that begins from now on."""
    with owner_of(clinic) as owner:
        owner.execute(f"ALTER ROLE visits_reader IN DATABASE {owner.info.dbname} SET search_path TO {path}")


def test_a_source_stays_the_table_that_was_found_first(clinic: str) -> None:
    """Whatever its account's path leads to later; and it is known by the same key as ever."""
    known = make_url(clinic).render_as_string(hide_password=False)
    try:
        first = open_database(clinic, "visits")
        assert (first.rows(), first.schema) == (60, "public")
        looks_into(clinic, "archive, public")
        later = open_database(clinic, "visits")
        assert (first.rows(), later.rows()) == (60, 60)
        forget()
        begun = open_database(clinic, "visits")
        assert (begun.rows(), begun.schema) == (1, "archive"), "a control"
        assert {first.key, later.key, begun.key} == {hashlib.sha256(f"{known}|visits".encode()).hexdigest()}
        looks_into(clinic, "public")
        with pytest.raises(UnreadableFile) as gone, moved(clinic):
            open_database(clinic, "visits")
        assert str(gone.value) == database._GONE
    finally:
        as_made(clinic)


@contextmanager
def moved(clinic: str) -> Iterator[None]:
    with owner_of(clinic) as owner:
        owner.execute("ALTER TABLE archive.visits RENAME TO others")
        try:
            yield
        finally:
            owner.execute("ALTER TABLE archive.others RENAME TO visits")


def test_an_account_that_looks_nowhere_is_one_sentence(clinic: str) -> None:
    looks_into(clinic, "nowhere")
    try:
        for look in (lambda: tables_of(clinic), lambda: open_database(clinic, "visits")):
            with pytest.raises(UnreadableFile) as refused:
                look()
            assert str(refused.value) == told.NOWHERE
    finally:
        as_made(clinic)


def test_a_schema_of_any_name_is_found(clinic: str, server: PrivateServer) -> None:
    """And a table beside one of its name in another schema is checked and counted as itself."""
    schema = 'wärd "%s:'
    with owner_of(clinic) as owner:
        name = sql.Identifier(schema)
        owner.execute(sql.SQL("CREATE SCHEMA {}").format(name))
        made = sql.SQL("CREATE TABLE {0}.visits AS SELECT 'Bern' AS ward, n AS key FROM generate_series(1, 3) AS n")
        owner.execute(made.format(name))
        owner.execute(sql.SQL("ALTER TABLE {}.visits ADD PRIMARY KEY (key)").format(name))
        owner.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO PUBLIC").format(name))
        owner.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO PUBLIC").format(name))
        looks_into(clinic, name.as_string(owner) + ", public")
    try:
        stored = open_database(clinic, "visits")
        assert (stored.schema, stored.rows(), stored.keys) == (schema, 3, {"key"})
        assert stored.counts(WARD).tolist() == [0, 3]
        assert not stored.takes_several_for_one("ward")
    finally:
        as_made(clinic)


def status(name: str, value: str) -> bytes:
    told = name.encode() + b"\0" + value.encode() + b"\0"
    return b"S" + struct.pack("!i", 4 + len(told)) + told


@pytest.mark.parametrize(("name", "value"), [("client_encoding", "LATIN1"), ("DateStyle", "SQL, DMY")])
@pytest.mark.parametrize("agree", [True, False])
def test_what_a_pooler_says_of_another_session_is_not_gone_by(
    server: PrivateServer, tmp_path_factory: pytest.TempPathFactory, clinic: str, clean: list[list[float]],
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, *, agree: bool,
) -> None:  # fmt: skip
    """The server reports nothing of a session in which what it is told holds already."""
    monkeypatch.setattr(letters, "said", lambda _: status(name, value))
    if not agree:
        monkeypatch.setattr(told, "agreed", lambda *_: True)
    with letters.pooler(server, tmp_path_factory.mktemp("p"), clinic) as pooled:
        assert (counted(pooled) == clean) is agree


def test_one_that_says_nothing_of_letters_is_one_sentence(
    server: PrivateServer, tmp_path_factory: pytest.TempPathFactory, clinic: str
) -> None:
    with letters.pooler(server, tmp_path_factory.mktemp("p"), clinic, "mute") as pooled:
        for look in (lambda: tables_of(pooled), lambda: open_database(pooled, "visits")):
            with pytest.raises(UnreadableFile) as refused:
                look()
            assert str(refused.value) == told.UNTOLD


def test_what_does_not_hold_though_it_was_told_is_one_sentence(
    clinic: str, dirtied: Dirtied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(told, "_TOLD", "SELECT 1")
    with dirtied("SET bytea_output TO escape", clinic) as pooled, pytest.raises(UnreadableFile) as refused:
        open_database(pooled, "visits")
    assert str(refused.value) == told.UNTOLD


def test_other_clients_find_their_session_as_they_left_it(clinic: str, dirtied: Dirtied) -> None:
    url = clinic.replace("+psycopg", "")
    with psycopg.connect(url) as other:
        other.execute("SET search_path TO archive; SET DateStyle TO 'SQL, DMY'; SET ROLE visits_other")
        other.commit()
        other.set_autocommit(True)
        told._tell(other.info, other.execute)
        assert other.execute("SELECT current_user, count(*) FROM public.visits").fetchone() == ("visits_reader", 60)
        other.rollback()
        assert other.execute("SELECT current_user, count(*) FROM visits").fetchone() == ("visits_other", 1)
        assert other.execute("SHOW DateStyle").fetchone() == ("SQL, DMY",)
