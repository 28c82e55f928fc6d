"""A source in PostgreSQL, on the server that these tests have: counted as rows in memory are, and never written."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from sqlalchemy import create_engine, make_url, text

from benchmarks.private_postgresql import PrivateServer
from dpcore.datasets import Declaration, PrivateRows
from dpcore.datasets.in_place import PrivateSource, database, open_database, tables_of, told
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue
from tests.datasets.test_in_place_private import AGE, DAY, ILL, SHARE, WARD, WHO, visits

HALVES = replace(AGE, type="number", high=2**21)  # odd ages lie half way between two parts of such a range


@pytest.fixture
def address(server: PrivateServer) -> str:
    found = server.new_schema()
    engine = create_engine(found)
    with engine.begin() as connection:
        connection.execute(
            text(
                'CREATE TABLE "vis%its:" (who text, ward text, ill boolean, day timestamp, age numeric, share float8, '
                '"key" text UNIQUE)'
            )
        )
        visits().to_sql("vis%its:", connection, if_exists="append", index=False)
    engine.dispose()
    return found


def test_postgresql_counts_and_is_not_written(address: str) -> None:
    assert tables_of(address) == ("vis%its:",)
    stored = PrivateSource(lambda: open_database(address, "vis%its:"))
    frame = visits()
    held = PrivateRows(frame.astype("str").where(frame.notna(), ""))
    declared = Declaration(
        columns=(WARD, replace(ILL, fill="yes"), DAY, HALVES, SHARE, WHO), id_column="who", rows_per_person=50
    )
    for asked in (
        MostCommonOption.of(replace(declared, id_column=None), "ward", epsilon=1.0),
        MostCommonOption.of(declared, "ward", epsilon=1.0),
        QuantileValue.of(declared, "share", epsilon=1.0),
        AlarmRun.of(declared, "day", where="ill", threshold=10, epsilon=1.0),
        BestRule.of(declared, ["ward", "share", "age"], target="ill", epsilon=1.0, cuts=7),
        BestRule.of(replace(declared, id_column=None), ["ward", "share"], target="ill", epsilon=1.0),
        LeastCost.of(declared, ["share", "age"], epsilon=1.0),
        LeastCost.of(replace(declared, id_column=None), ["share", "age"], epsilon=1.0),
        NoisyCount.of(declared, epsilon=1.0),
        NoisyCount.of(replace(declared, id_column=None), epsilon=1.0),
    ):
        stored.check(asked.reads)
        assert np.ravel(asked.read(stored)).tolist() == np.ravel(asked.read(held)).tolist(), asked.what
    for target in ("ill", "share"):
        columns = [name for name in ("ward", "ill", "day", "age", "share") if name != target]
        model = ScaledModel.of(declared, target=target, columns=columns, epsilon=1.0, delta=1e-6)
        model.probe(stored)
        there, here = model.read(stored), model.read(held)
        assert there.counts().tolist() == here.counts().tolist() != [0] * here.d
        scales = np.full(here.d, 4096)
        sums = [one.sums(np.ones(here.d) / 9, scales, 2**22).tolist() for one in (there, here)]
        assert np.allclose(*sums, rtol=0, atol=4096 * here.rows * (target == "share"))  # by a rounding of each answer
    ages = QuantileValue.of(Declaration(columns=(replace(AGE, type="number"),)), "age", epsilon=1.0)
    url = make_url(address).set(drivername="postgresql").render_as_string()
    with psycopg.connect(url) as owner:
        owner.execute("INSERT INTO \"vis%its:\" (age) VALUES (1e400), ('NaN'), (-1e400)")
    assert ages.read(stored).tolist() == ages.read(held).tolist()
    one = MostCommonOption.of(replace(declared, rows_per_person=1), "ward", epsilon=1.0).read(stored)
    assert 0 < one.sum() <= 60
    key = replace(WARD, name="key")
    with pytest.raises(InvalidArgument, match="tells rows apart"):
        stored.check(Declaration(columns=(key,)).reads("key"))

    opened = open_database(address, "vis%its:")
    there = opened.source
    schema = there.partition(".")[0]
    for sql in (f"DELETE FROM {there}", f"CREATE TABLE {schema}.x (y int)", f"COPY {there} TO PROGRAM 'true'"):  # noqa: S608
        with pytest.raises(UnreadableFile) as caught:
            opened.run(sql)
        assert "vis" not in str(caught.value)
    assert opened.rows() == 403


def test_a_table_without_rights_is_one_sentence_before_any_charge(address: str) -> None:
    url = make_url(address)
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(), autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS reader")
        owner.execute("CREATE ROLE reader LOGIN")
        owner.execute(f"GRANT USAGE ON SCHEMA {url.query['options'].rpartition('=')[2]} TO reader")
    stranger = url.set(username="reader").render_as_string(hide_password=False)
    stored = PrivateSource(lambda: open_database(stranger, "vis%its:"))
    with pytest.raises(UnreadableFile, match="could not answer"):
        stored.check(Declaration(columns=(WARD,)).reads("ward"))


def test_a_source_is_the_same_whatever_password_opens_it(address: str) -> None:
    """Nor can its name be tried against guesses of one."""
    keys = {open_database(f"{address}{more}", "vis%its:").key for more in ("", "&password=one", "&password=other")}
    assert len(keys) == 1


def test_a_connection_lost_in_the_middle_of_a_scan_is_one_sentence(
    address: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing else is shown, here or on the server's screen, and the next question is answered."""
    opened = open_database(address, "vis%its:")
    url = make_url(address).set(drivername="postgresql").render_as_string()
    mark = "/* the scan that is cut */"
    there = opened.source

    def cut() -> None:
        with psycopg.connect(url, autocommit=True) as owner:
            other = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE %s AND state = 'active'"
            for _ in range(1500):
                if owner.execute(f"{other} AND pid <> pg_backend_pid()", (f"{mark}%",)).fetchall():
                    return
                time.sleep(0.02)

    with ThreadPoolExecutor(1) as beside:
        done = beside.submit(cut)
        with pytest.raises(UnreadableFile, match="was lost") as caught:
            opened.run(f"{mark} SELECT who, pg_sleep(60) FROM {there}")  # noqa: S608
        done.result(30)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert caplog.records == []
    assert "Traceback" not in capfd.readouterr().err
    assert opened.rows() == 400


def pooled_sums(address: str) -> tuple[list[float], dict[str, str]]:
    """What a question counts whose rows one person's number puts together, and what holds of its transactions."""
    database._engine.cache_clear()
    opened = open_database(address, "vis%its:")
    held = {name: str(opened.run(f"SHOW {name}")[0][0]) for name in HOLDS}
    stored = PrivateSource(lambda: open_database(address, "vis%its:"))
    declared = Declaration(columns=(WARD, SHARE), id_column="share", rows_per_person=1)
    return np.ravel(MostCommonOption.of(declared, "ward", epsilon=1.0).read(stored)).tolist(), held


HOLDS = {
    **{"extra_float_digits": "3", "client_encoding": "UTF8", "standard_conforming_strings": "on"},
    **{"statement_timeout": "1h", "lock_timeout": "5s", "transaction_read_only": "on"},
}


def test_whatever_session_a_pooler_gives_a_transaction_it_is_told_how_numbers_are_written(
    address: str, pooled: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two numbers that a session writes as one text are else one person, and one of their rows is counted."""
    engine = create_engine(address)
    with engine.begin() as connection:
        numbered = 'SELECT ctid AS at, row_number() OVER () AS n FROM "vis%its:"'
        close = 'UPDATE "vis%its:" SET share = 0.5 + n * power(CAST(2 AS float8), -52)'
        connection.execute(text(f"{close} FROM ({numbered}) AS numbered WHERE ctid = at"))
    engine.dispose()
    direct = pooled_sums(address)
    assert direct[1] == HOLDS
    pooled()
    otherwise = ("extra_float_digits%3D-15", "client_encoding%3DLATIN1", "standard_conforming_strings%3Doff")
    rounds = f"{address}%20-c{otherwise[0]}"
    for one in (rounds, address + "".join(f"%20-c{setting}" for setting in otherwise)):
        assert pooled_sums(one) == direct
    monkeypatch.setattr(told, "_tell", lambda info, execute: execute(told._BEGIN))
    monkeypatch.setattr(told, "_WRITTEN", {})
    assert pooled_sums(rounds)[0] != direct[0], "a control"
    database._engine.cache_clear()
