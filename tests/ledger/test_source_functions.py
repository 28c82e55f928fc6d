"""Nothing that somebody made where a source's account looks is called, taken for a type or read by what a source asks:
no function, operator, type, collation or table, of whatever types its columns are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import psycopg
import pytest

from benchmarks.private_postgresql import PrivateServer
from dpcore.datasets import Declaration
from dpcore.datasets.declaration import Column
from dpcore.datasets.in_place import PrivateSource, database, open_database, tables_of, told
from dpcore.errors import UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue
from tests.ledger.source_anew import anew as anew
from tests.ledger.source_anew import forget

WARD = Column(name="ward", type="category", categories=("North", "Süd", "7"))
ILL, WHO = Column(name="ill", type="yes/no", fill="yes"), Column(name="who", type="text")
AGE = Column(name="age", type="number", low=0.0, high=100.0)
STAYS = Column(name="stays", type="integer", low=0.0, high=9.0)
DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 4))
DECLARED = Declaration(columns=(WARD, ILL, AGE, STAYS, DAY, WHO), id_column="who", rows_per_person=2)
ALONE = replace(DECLARED, id_column=None)
QUESTIONS = (
    MostCommonOption.of(DECLARED, "ward", epsilon=1.0),
    *(QuantileValue.of(ALONE, name, epsilon=1.0) for name in ("age", "stays")),
    AlarmRun.of(ALONE, "day", where="ill", threshold=10, epsilon=1.0),
    BestRule.of(DECLARED, ["ward", "age"], target="ill", epsilon=1.0, cuts=7),
    LeastCost.of(ALONE, ["age", "stays"], epsilon=1.0),
    NoisyCount.of(DECLARED, epsilon=1.0),
)
MODEL = ScaledModel.of(DECLARED, target="ill", columns=["ward", "day", "age"], epsilon=1.0, delta=1e-6)
TABLES = {
    "plain": ("text", "text", "int4", "float8", "date"),
    "bounded": ("varchar(40)", "varchar(9)", "int2", "numeric", "timestamptz"),
    "without_case": ("uuid", "citext", "int8", "float4", "timestamp"),
    "listed": ("bytea", "kind", "numeric", "int4", "date"),
    "padded": ("int8", "char(9)", "int4", "numeric(6, 2)", "timestamp"),
}
"""Types of who, ward, stays, age and day."""
MADE = """
CREATE EXTENSION citext;
CREATE TYPE kind AS ENUM ('North', 'Süd', '7');
CREATE SCHEMA looked;
GRANT USAGE ON SCHEMA looked TO PUBLIC;
"""
WHOSE = {"uuid": "md5((n / 2)::text)::uuid", "bytea": "decode(md5((n / 2)::text), 'hex')"}
TYPES = ("text", "character varying", "character", "name", "public.citext", "public.kind", "smallint", "integer")
TYPES += ("bigint", "numeric", "real", "double precision", "boolean", "date", "timestamp without time zone", "bytea")
TYPES += ("timestamp with time zone", "uuid", "oid", "regclass", "text[]", "name[]", '"char"')
ROUTINE = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called'; END $$"
Owner = Any
"""A connection: what it is told is put together here."""
PATHS = ("looked, public", "looked, pg_catalog, public")


@pytest.fixture(scope="module")
def address(server: PrivateServer) -> str:
    found = server.new_database()
    with psycopg.connect(found.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("CREATE ROLE looking_reader LOGIN")
        owner.execute(MADE)
        for name, (who, *types) in TABLES.items():
            ward, stays, age, day = types
            columns = f"who {who}, ward {ward}, ill boolean, stays {stays}, age {age}, day {day}"
            owner.execute(f"CREATE TABLE {name} ({columns})")
            cells = (
                f"({WHOSE.get(who, 'n / 2')})::{who}, (ARRAY['North', 'Süd', '7'])[1 + n % 3]::{ward}, n % 4 = 0, "
                f"(n % 9)::{stays}, (n * 1.5)::{age}, ('2024-01-01'::date + n % 3)::{day}"
            )
            owner.execute(f"INSERT INTO {name} SELECT {cells} FROM generate_series(1, 60) AS n")  # noqa: S608 - as above
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
    return found.replace("ledger@", "looking_reader@")


@contextmanager
def owner_of(address: str) -> Iterator[Owner]:
    url = address.replace("+psycopg", "").replace("looking_reader@", "ledger@")
    with psycopg.connect(url, options="-csearch_path=pg_catalog", autocommit=True) as owner:
        yield owner


def counts(address: str) -> list[list[float]]:
    """What each question counts, of each table. Raises UnreadableFile."""
    assert set(TABLES) <= set(tables_of(address))
    found = []
    for name in TABLES:
        stored = PrivateSource(lambda name=name: open_database(address, name))  # type: ignore[misc]
        for asked in QUESTIONS:
            stored.check(asked.reads)
            found.append(np.ravel(asked.read(stored)).tolist())
        MODEL.probe(stored)
        found.append(MODEL.read(stored).counts().tolist())
        opened = open_database(address, name)
        found += [[opened.rows()], opened.histogram(AGE, 5).tolist(), opened.total(AGE)[:2], opened.group_sizes("who")]  # type: ignore[list-item]
        found.append([size for _, size in opened.words("ward")])
        found += [[opened.takes_several_for_one(column)] for column in ("ward", "who")]
    return [[float(one) for one in counted] for counted in found]


@dataclass(frozen=True)
class Asked:
    """What PostgreSQL is asked with a source: what each question counts, and the selections that counted it."""

    counts: list[list[float]]
    selections: list[str]


@pytest.fixture(scope="module")
def asked(address: str) -> Asked:
    """Where nobody made anything."""
    forget()
    said: list[tuple[object, object]] = []
    with pytest.MonkeyPatch.context() as patch:
        for kind in (psycopg.Cursor, psycopg.ServerCursor):
            patch.setattr(kind, "execute", noting(kind.execute, said))  # type: ignore[attr-defined]
        found = counts(address)
    with psycopg.connect(address.replace("+psycopg", "")) as connection:
        written = [psycopg.ClientCursor(connection).mogrify(str(query), params) for query, params in said]  # type: ignore[arg-type]
    begun = [text for text in written if text.startswith(told._BEGIN)]
    parts = {part.strip() for part in (*{*written} - {*begun}, *"; ".join(begun).split("; "))}
    return Asked(found, sorted(part for part in parts if re.match("select|with", part, re.IGNORECASE)))


def noting(execute: object, said: list[tuple[object, object]]) -> object:
    def noted(cursor: object, query: object, params: object = None, **how: object) -> object:
        said.append((query, params))
        return execute(cursor, query, params, **how)  # type: ignore[operator]

    return noted


LOOKED_UP = {
    "function": ("pg_proc", "proname", "pronamespace", r":(?:funcid|aggfnoid|winfnoid) (\d+)"),
    "operator": ("pg_operator", "oprname", "oprnamespace", r":opno (\d+)"),
    "type": ("pg_type", "typname", "typnamespace", r":(?:const|result|funcresult)type (\d+)"),
    "collation": ("pg_collation", "collname", "collnamespace", r":collOid (\d+)"),
    "table": ("pg_class", "relname", "relnamespace", r":relid (\d+)"),
}


def named_in(owner: Owner, selections: list[str], path: str) -> dict[str, set[str]]:
    """By PostgreSQL's own word, what selections call and read where somebody looks by a path: of each kind, with its
    schema before it. Selections that it does not take there are left out."""
    trees = ""
    for selection in selections:
        try:
            with owner.transaction():
                owner.execute(f"SET LOCAL search_path TO {path}")
                owner.execute(f"CREATE VIEW public.one_selection AS SELECT FROM ({selection}) AS s")
                owner.execute("SET LOCAL search_path TO pg_catalog")
                tree = "SELECT ev_action::text FROM pg_rewrite WHERE ev_class = 'public.one_selection'::regclass"
                trees += str(owner.execute(tree).fetchone())
                owner.execute("DROP VIEW public.one_selection")
        except psycopg.Error:
            continue
    found = {}
    for kind, (table, name, schema, pattern) in LOOKED_UP.items():
        asked = (
            f"SELECT n.nspname || '.' || p.{name} FROM {table} p JOIN pg_namespace n ON n.oid = p.{schema} "  # noqa: S608 - as above
            "WHERE p.oid = ANY (%s::oid[])"
        )
        found[kind] = {str(one) for (one,) in owner.execute(asked, [re.findall(pattern, trees)])}
    return found


def fitting(known: list[tuple[Any, ...]], groups: dict[str, str]) -> dict[tuple[str, ...], str]:
    """Types, with that of the result, that fit as well as those of PostgreSQL's own, or better."""
    found = {}
    for types, made in known:
        for kind in ("", *TYPES):
            put = tuple(kind if kind and groups.get(one, groups[kind]) == groups[kind] else one for one in types)
            if groups.keys() >= set(put):
                found[put] = made if made in groups else put[0] if put else "text"
    return found


@pytest.fixture(scope="module")
def called(address: str, asked: Asked) -> dict[str, set[str]]:
    """All that the selections name, each of which somebody makes anew in a schema."""
    with owner_of(address) as owner:
        names = named_in(owner, asked.selections, "pg_catalog")
        known = "SELECT t, typcategory FROM unnest(%s::text[]) AS t JOIN pg_type ON oid = t::regtype"
        groups = {str(one): str(group) for one, group in owner.execute(known, [list(TYPES)])}
        with owner.transaction():
            make(owner, names, groups)
    return names


def make(owner: Owner, names: dict[str, set[str]], groups: dict[str, str]) -> None:
    bare = {
        kind: sorted(name.partition(".")[2] for name in of if name.startswith("pg_catalog."))
        for kind, of in names.items()
    }
    listed = "SELECT ARRAY(SELECT format_type(t, NULL) FROM unnest({}) AS t), format_type({}, NULL) FROM {} = %s"
    functions = listed.format("proargtypes", "prorettype", "pg_proc WHERE proname")
    operators = listed.format("ARRAY[oprleft, oprright]", "oprresult", "pg_operator WHERE oprleft <> 0 AND oprname")
    made = []
    for name in bare["function"]:
        for types, result in fitting(owner.execute(functions, [name]).fetchall(), groups).items():
            made.append(f'CREATE FUNCTION looked."{name}"({", ".join(types)}) RETURNS {result} {ROUTINE}')
    for at, name in enumerate(bare["operator"]):
        for types, result in fitting(owner.execute(operators, [name]).fetchall(), groups).items():
            made.append(f"CREATE FUNCTION looked.of_operator_{at}({', '.join(types)}) RETURNS {result} {ROUTINE}")
            sides = f"LEFTARG = {types[0]}, RIGHTARG = {types[1]}"
            made.append(f"CREATE OPERATOR looked.{name} (FUNCTION = looked.of_operator_{at}, {sides})")
    made += [f"CREATE TYPE looked.{name} AS ENUM ('called')" for name in bare["type"] if name[0] != "_"]
    made += [
        f"CREATE COLLATION looked.\"{name}\" (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        for name in bare["collation"]
    ]
    made += [f"CREATE TABLE looked.{name} (called int)" for name in bare["table"] if name not in bare["type"]]
    owner.execute("; ".join(made))


@contextmanager
def looking(address: str, path: str) -> Iterator[None]:
    with owner_of(address) as owner:
        role = f"ALTER ROLE looking_reader IN DATABASE {owner.info.dbname}"
        owner.execute(f"{role} SET search_path TO {path}")  # type: ignore[arg-type]
        try:
            yield
        finally:
            owner.execute(f"{role} RESET search_path")  # type: ignore[arg-type]


def counted(address: str) -> list[list[float]] | None:
    """``counts``, or None where a question fails."""
    try:
        return counts(address)
    except (UnreadableFile, AssertionError):
        return None


@pytest.mark.thorough
@pytest.mark.parametrize("path", PATHS)
def test_nothing_of_somebody_s_own_is_called(
    address: str, asked: Asked, called: dict[str, set[str]], path: str
) -> None:
    with looking(address, path):
        assert counts(address) == asked.counts


@pytest.mark.thorough
def test_every_selection_could_call_somebody_s_own(address: str, asked: Asked, called: dict[str, set[str]]) -> None:
    """By PostgreSQL's own word of the same selections in a session that looks there, or since it takes them no more:
    the test above can fail by each of them that names anything without its schema."""
    assert len(called["function"]) > 30
    assert len(called["operator"]) > 10
    with owner_of(address) as owner:
        for selection in asked.selections:
            plain, there = (named_in(owner, [selection], path) for path in ("pg_catalog", PATHS[1]))
            names = [one.partition(".")[2] for one in plain["function"]]
            bare = [one for one in names if re.search(rf"(?<!pg_catalog\.)\b{one}\(", selection)]
            found = {one for kind in ("function", "operator") for one in there[kind]}
            assert not (bare or plain["operator"]) or not found or any(one.startswith("looked.") for one in found), (
                selection
            )


@pytest.mark.thorough
@pytest.mark.parametrize("path", PATHS)
def test_where_the_path_is_the_account_s_they_are_called(
    address: str, asked: Asked, called: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    left = {name: told._SET[name] for name in told._SET if name != "search_path"}
    monkeypatch.setattr(told, "_WRITTEN", dict.fromkeys(left, ""))
    monkeypatch.setattr(told, "_SET", left | {"search_path": "SELECT"})
    monkeypatch.setattr(told, "_TOLD", "; ".join(("RESET ALL", *left.values())))
    assert counted(address) == asked.counts, "a control"
    forget()
    with looking(address, path):
        assert counted(address) != asked.counts


@pytest.mark.thorough
def test_a_first_look_that_calls_by_a_name_alone_calls_somebody_s_own(
    address: str, called: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with looking(address, PATHS[1]):
        assert set(TABLES) <= set(tables_of(address))
        monkeypatch.setattr(told, "_SCHEMAS", told._SCHEMAS.replace("pg_catalog.", ""))
        with pytest.raises(UnreadableFile) as refused:
            tables_of(address)
    assert str(refused.value) == database._UNREACHED
