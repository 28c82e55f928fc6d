"""What a view or a policy finds by its session's path, or tells of a setting that was once said there, is refused
before anything is asked: the account's own sessions would give something else."""

from __future__ import annotations

import psycopg
import pytest

from benchmarks.private_postgresql import PrivateServer
from dpcore.datasets.in_place import by_session, open_database, told
from dpcore.datasets.in_place.by_session import ASKS_SETTING, GOES_BY_PATH
from dpcore.errors import UnreadableFile
from tests.ledger.source_anew import anew as anew

MADE = """
CREATE TABLE public.visits (who text, ward text);
INSERT INTO public.visits
  SELECT n::text, CASE WHEN n % 3 = 0 THEN '' ELSE 'public' END FROM generate_series(1, 30) AS n;
CREATE TABLE public.wards AS SELECT 'public' AS ward;
CREATE TABLE public.guarded AS SELECT * FROM public.visits;
CREATE FUNCTION public.helped(text) RETURNS boolean LANGUAGE sql AS
  'SELECT EXISTS (SELECT FROM public.wards WHERE ward = $1)';
CREATE FUNCTION public.by_sql(text) RETURNS boolean LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM wards WHERE ward = $1)';
CREATE FUNCTION public.by_plpgsql(text) RETURNS boolean LANGUAGE plpgsql AS
  'BEGIN RETURN EXISTS (SELECT FROM wards WHERE ward = $1); END';
CREATE FUNCTION public.with_path(text) RETURNS boolean LANGUAGE plpgsql SET search_path = public, pg_temp AS
  'BEGIN RETURN EXISTS (SELECT FROM wards WHERE ward = $1); END';
CREATE FUNCTION public.temporary_first(text) RETURNS boolean LANGUAGE plpgsql SET search_path = public AS
  'BEGIN RETURN EXISTS (SELECT FROM wards WHERE ward = $1); END';
CREATE FUNCTION public.temporary_within(text) RETURNS boolean LANGUAGE sql SET search_path = pg_temp, public AS
  'SELECT EXISTS (SELECT FROM wards WHERE ward = $1)';
CREATE FUNCTION public.of_no_path(text) RETURNS boolean LANGUAGE sql SET search_path = '' AS
  'SELECT EXISTS (SELECT FROM public.wards WHERE ward = $1)';
CREATE FUNCTION public.with_zone(text) RETURNS boolean LANGUAGE sql SET TimeZone = 'UTC' AS
  'SELECT EXISTS (SELECT FROM wards WHERE ward = $1)';
CREATE FUNCTION public.bound(text) RETURNS boolean LANGUAGE sql RETURN EXISTS (SELECT FROM wards WHERE ward = $1);
CREATE FUNCTION public.bound_to_one(text) RETURNS boolean LANGUAGE sql RETURN by_sql($1);
CREATE FUNCTION public.bound_to_setting() RETURNS text LANGUAGE sql RETURN current_setting('lab.study', true);
CREATE FUNCTION public.both(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT helped($1)';
CREATE OPERATOR public.~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = public.both);
CREATE FUNCTION public.added(bigint, text) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN $1 + helped($2)::int; END';
CREATE AGGREGATE public.many (text) (SFUNC = public.added, STYPE = bigint, INITCOND = '0');
CREATE DOMAIN public.a_ward AS text CHECK (public.by_sql(VALUE) OR VALUE = '');
CREATE TYPE public.mood AS ENUM ('sad', 'ok');
CREATE TABLE public.parts (who text, ward text, m public.mood, tab text, kept regclass) PARTITION BY LIST (ward);
CREATE TABLE public.parts_a PARTITION OF public.parts FOR VALUES IN ('');
CREATE TABLE public.parts_b PARTITION OF public.parts DEFAULT;
INSERT INTO public.parts SELECT who, ward, 'ok', 'mood', 'visits' FROM public.visits;
CREATE EXTENSION tablefunc;
CREATE FUNCTION public.cut(text) RETURNS text IMMUTABLE LANGUAGE internal AS 'btrim1';
CREATE FUNCTION public.cut_anew(text) RETURNS text LANGUAGE internal AS 'btrim1';
CREATE TYPE public.pair AS (one text, two text);
CREATE FUNCTION public.compared(public.pair, public.pair) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
  'BEGIN PERFORM 1 FROM wards; RETURN btrecordcmp($1, $2); END';
CREATE FUNCTION public.less(public.pair, public.pair) RETURNS boolean IMMUTABLE LANGUAGE internal AS 'record_lt';
CREATE OPERATOR public.<<< (LEFTARG = public.pair, RIGHTARG = public.pair, FUNCTION = public.less);
CREATE FUNCTION public.same(public.pair, public.pair) RETURNS boolean IMMUTABLE LANGUAGE internal AS 'record_eq';
CREATE OPERATOR public.=== (LEFTARG = public.pair, RIGHTARG = public.pair, FUNCTION = public.same);
CREATE OPERATOR CLASS public.pairs FOR TYPE public.pair USING btree
  AS OPERATOR 1 public.<<<, OPERATOR 3 public.===, FUNCTION 1 public.compared(public.pair, public.pair);
CREATE TYPE public.calm AS (one text, two text);
CREATE TYPE public.named AS (c regclass);
CREATE TYPE public.spans AS RANGE (subtype = regclass);
CREATE TYPE public.wardy AS (w public.a_ward);
CREATE DOMAIN public.kept_name AS regclass;
CREATE TABLE public.holds (who text, n public.named, k regclass, d public.kept_name, p public.calm, w public.wardy);
INSERT INTO public.holds SELECT
  who, ROW('public.wards'::regclass)::public.named, 'public.wards', 'public.wards', ROW(who, ward)::public.calm
FROM public.visits;
CREATE FUNCTION public.twice_temporary(text) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_temp, public, pg_temp
  AS 'BEGIN RETURN EXISTS (SELECT FROM wards WHERE ward = $1); END';
CREATE FUNCTION public.point_cmp(point, point) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
  'BEGIN IF EXISTS (SELECT FROM wards) THEN RETURN btfloat8cmp($1[0], $2[0]); END IF; RETURN 0; END';
CREATE AGGREGATE public.asked (boolean) (SFUNC = pg_catalog.current_setting, STYPE = text, INITCOND = 'lab.study');
CREATE AGGREGATE public.path (boolean) (SFUNC = pg_catalog.current_setting, STYPE = text, INITCOND = 'search_path');
CREATE TABLE public.checked (who text CHECK (public.by_plpgsql(who) OR true));
CREATE VIEW public.below AS SELECT * FROM public.visits WHERE public.by_sql(ward);
"""
BY_PATH = (
    "SELECT who FROM visits WHERE by_sql(ward)",
    "SELECT who FROM visits WHERE by_plpgsql(ward)",
    "SELECT who, by_sql(ward) AS found FROM visits",
    "SELECT who FROM visits WHERE with_zone(ward)",
    "SELECT who FROM visits WHERE bound_to_one(ward)",
    "SELECT who FROM visits WHERE ward ~~~ who",
    "SELECT ward, many(ward) AS n FROM visits GROUP BY ward",
    "SELECT who, ward::a_ward AS ward FROM visits",
    "SELECT who FROM below",
    "SELECT who FROM visits WHERE ward IN (SELECT ward FROM below)",
    "SELECT who FROM visits WHERE ward = current_schema",
    "SELECT who FROM visits WHERE ward = current_schema()",
    "SELECT who FROM visits WHERE ward = ANY (current_schemas(false))",
    "SELECT who FROM visits WHERE to_regclass('wards') IS NOT NULL",
    "SELECT who FROM visits WHERE current_setting('Search_Path') <> 'pg_catalog, pg_temp'",
)
BY_TEMPORARY = (
    "SELECT who FROM visits WHERE temporary_first(ward)",
    "SELECT who FROM visits WHERE temporary_within(ward)",
    "SELECT who FROM visits WHERE twice_temporary(ward)",
)
BY_NAME = (
    "SELECT who FROM parts WHERE tableoid::regclass::text = 'parts_a'",
    "SELECT who FROM parts WHERE concat(tableoid::regclass) = 'parts_a'",
    "SELECT who FROM parts WHERE pg_typeof(m)::text = 'mood'",
    "SELECT who FROM parts WHERE to_jsonb(pg_typeof(m)) = '\"mood\"'",
    "SELECT who FROM parts WHERE format_type(pg_typeof(m), NULL) = 'mood'",
    "SELECT who FROM parts WHERE tab::regtype = 'mood'::regtype",
    "SELECT who FROM parts WHERE kept::text = 'visits'",
    "SELECT who FROM parts WHERE 'visits'::regclass::text = 'visits'",
    "SELECT who FROM parts WHERE concat('visits'::regclass) = 'visits'",
    "SELECT who FROM parts WHERE ARRAY['visits'::regclass]::text = '{visits}'",
    "SELECT who FROM visits WHERE has_table_privilege('visits', 'SELECT')",
    "SELECT who FROM visits WHERE query_to_xml('SELECT 1 FROM visits LIMIT 1', true, true, '') IS NOT NULL",
    "SELECT who FROM crosstab('SELECT who, ward, 1 FROM visits ORDER BY 1, 2') AS c (who text, n integer)",
    "SELECT DISTINCT ON (ward) who FROM visits ORDER BY ward, (who, ward)::pair USING OPERATOR(public.<<<)",
)
BY_ROW = "SELECT who FROM holds WHERE json_populate_record(w, json_build_object('w', 'nowhere')) IS NOT NULL"
BY_PART = (
    "SELECT who FROM visits WHERE (('(' || 'wards' || left(ward, 0) || ')')::named) IS NOT NULL",
    "SELECT who FROM visits WHERE (('{(' || 'wards' || left(ward, 0) || ')}')::named[]) IS NOT NULL",
    "SELECT who FROM holds WHERE n::text = '(wards)'",
    "SELECT who FROM holds WHERE row_to_json(holds) ->> 'k' = 'wards'",
    "SELECT who FROM holds WHERE to_jsonb(n) ->> 'c' = 'wards'",
    "SELECT who FROM holds WHERE concat(holds) LIKE '%(wards)%'",
    "SELECT who FROM holds WHERE concat(d) = 'wards'",
    "SELECT who FROM holds WHERE format('%s', n) = '(wards)'",
    'SELECT who FROM visits WHERE json_populate_record(NULL::named, \'{"c": "wards"}\') IS NOT NULL',
    "SELECT who FROM visits WHERE json_populate_record(NULL::wardy, json_build_object('w', ward)) IS NOT NULL",
    BY_ROW,
    "SELECT who FROM visits WHERE (('(\"' || ward || '\")')::wardy)::text <> ''",
    "SELECT who FROM visits WHERE (('[wards,wards' || left(ward, 0) || ']')::spans) IS NOT NULL",
    "SELECT who FROM visits WHERE (('{[wards,wards' || left(ward, 0) || ']}')::spans_multirange) IS NOT NULL",
)
"""What is written or read by the path lies within what is: a row, a list, a range, a domain."""
BY_AGGREGATE = (
    "SELECT who FROM visits WHERE (SELECT asked(true)) IS NULL",
    "SELECT who FROM visits WHERE (SELECT path(true)) LIKE '%public%'",
)
BY_ORDER = ("SELECT ward FROM (SELECT DISTINCT ON (point(length(ward), 0)) ward FROM visits) AS one",)
POINTS = """
CREATE OPERATOR CLASS public.points DEFAULT FOR TYPE point USING btree
  AS OPERATOR 1 pg_catalog.<<, OPERATOR 3 pg_catalog.~=, FUNCTION 1 public.point_cmp(point, point)
"""
"""An order for a type of PostgreSQL's own, by its own operators, of which no view depends on anything."""
BY_SETTING = (
    "SELECT who FROM visits WHERE current_setting('lab.study', true) IS NOT NULL",
    "SELECT who FROM visits WHERE current_setting('Lab.Study', true) = ward",
    "SELECT who FROM visits WHERE current_setting('lab.study') = ward",
    "SELECT who FROM visits WHERE nullif(current_setting('lab.study'), '') = ward",
    "SELECT who FROM visits WHERE coalesce(current_setting('lab.study', true), 'public') = ward",
    "SELECT who FROM visits WHERE coalesce(current_setting('lab.study', true), ward, '') = ward",
    "SELECT who FROM visits WHERE nullif(current_setting('lab.study', true), 'x') = ward",
    "SELECT who FROM visits WHERE coalesce(current_setting('lab.' || lower('Study'), true), 'public') = ward",
    "SELECT who FROM visits WHERE coalesce(current_setting('lab.study', who <> ''), 'public') = ward",
    "SELECT who FROM visits WHERE coalesce(bound_to_setting(), 'public') = ward",
    "SELECT who FROM visits WHERE nullif(current_setting('lab.study', true), '') IS NULL "
    "AND current_setting('lab.study', true) IS NULL",
)
ALIKE = (
    "SELECT * FROM visits",
    "SELECT who FROM visits WHERE with_path(ward)",
    "SELECT who FROM visits WHERE bound(ward)",
    "SELECT who, lower(ward) AS ward FROM visits WHERE ward COLLATE \"C\" <> 'x' AND 'wards'::regclass IS NOT NULL",
    "SELECT who FROM visits WHERE coalesce(nullif(current_setting('lab.study', true), ''), 'public') = ward",
    "SELECT who FROM visits WHERE coalesce(current_setting('lab.study', true), '') IN ('', ward)",
    "SELECT who FROM visits WHERE current_setting('TimeZone') <> ward",
    "SELECT 'current_setting' AS who FROM visits",
    "SELECT who FROM parts WHERE tableoid = 'parts_a'::regclass",
    "SELECT who FROM parts WHERE tableoid::regclass = 'parts_a'::regclass",
    "SELECT who FROM parts WHERE tableoid = ANY (ARRAY['parts_a'::regclass, 'visits'::regclass])",
    "SELECT who FROM parts WHERE pg_typeof(m) = 'mood'::regtype AND m = 'ok'",
    "SELECT who FROM visits WHERE has_table_privilege('visits'::regclass, 'SELECT')",
    "SELECT who FROM visits WHERE pg_has_role(session_user, session_user, 'MEMBER')",
    "SELECT who, to_char(now() - interval '1 day', 'YYYY') || concat(ward, 1) AS ward FROM visits",
    "SELECT who, cut(ward) AS ward FROM visits",
    "SELECT who, concat(p) AS p, (p).one FROM holds WHERE p::text <> '' AND to_jsonb(p) ->> 'one' <> ''",
    "SELECT who FROM holds WHERE k = 'wards'::regclass",
    "SELECT ward, json_agg(who ORDER BY who)::text AS who FROM visits GROUP BY ward",
)
MAY = ("SELECT who, cut_anew(ward) AS ward FROM visits", "SELECT who FROM visits WHERE of_no_path(ward)")
"""Nothing says that it does not, and it does not."""


@pytest.fixture(scope="module")
def address(server: PrivateServer) -> str:
    found = server.new_database()
    with psycopg.connect(found.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("CREATE ROLE session_reader LOGIN")
        owner.execute(MADE)
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
    return found.replace("ledger@", "session_reader@")


def made(address: str, select: str) -> None:
    with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
        owner.execute("DROP VIEW IF EXISTS public.v")
        owner.execute(f"CREATE VIEW public.v AS {select}")  # type: ignore[arg-type]
        owner.execute("GRANT SELECT ON public.v TO PUBLIC")


def said(address: str, table: str = "v") -> str:
    """Of a table or view of which all else is stated, and "" where it is opened."""
    try:
        open_database(address, table, never_fail=(table,), row_by_row=(table,))
    except UnreadableFile as error:
        return str(error)
    return ""


def rows(connection: psycopg.Connection[tuple[object, ...]], table: str = "public.v") -> object:
    """What is there, or the kind of failure."""
    try:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # type: ignore[arg-type]  # noqa: S608 - this test's own
    except psycopg.Error as error:
        return type(error)
    finally:
        connection.rollback()


def three_sessions(address: str, table: str = "public.v") -> list[object]:
    """The rows in a session of the account's own, in a source's transaction in such a one, and in one in which somebody
    once said a setting."""
    url = address.replace("+psycopg", "")
    with psycopg.connect(url) as own, psycopg.connect(url) as told_alone, psycopg.connect(url) as after:
        after.execute("SET LOCAL lab.study TO 'x'; CREATE TEMP TABLE wards (ward text)")
        after.commit()
        found = [rows(own, table)]
        for connection in (told_alone, after):
            connection.set_autocommit(True)  # which begins its own
            told._tell(connection.info, connection.execute)  # type: ignore[arg-type]
            found.append(rows(connection, table))
        return found


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("selects", "sentence"),
    [
        (BY_PATH, GOES_BY_PATH),
        (BY_NAME, GOES_BY_PATH),
        (BY_TEMPORARY, GOES_BY_PATH),
        (BY_PART, GOES_BY_PATH),
        (BY_AGGREGATE, ASKS_SETTING),
        (BY_SETTING, ASKS_SETTING),
    ],
)
def test_what_hangs_on_the_session_is_refused_whatever_was_stated(
    address: str, selects: tuple[str, ...], sentence: str
) -> None:
    """Each would give something else, or fail, in another session of its account's."""
    for select in selects:
        made(address, select)
        assert said(address) == sentence, select
        own, *others = three_sessions(address)
        assert others != [own, own], select


@pytest.mark.thorough
def test_an_order_of_somebody_s_for_another_s_type_is_looked_at(address: str) -> None:
    """Only where something is worked out, which a table's rows are not."""
    with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
        owner.execute(POINTS)
    try:
        test_what_hangs_on_the_session_is_refused_whatever_was_stated(address, BY_ORDER, GOES_BY_PATH)
        assert said(address, "visits") == ""
    finally:
        with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
            owner.execute("DROP OPERATOR FAMILY points USING btree CASCADE")
    test_what_is_the_same_in_every_session_is_opened(address)


def test_what_is_not_known_to_find_nothing_is_refused(address: str) -> None:
    for select in MAY:
        made(address, select)
        assert said(address) == GOES_BY_PATH


@pytest.mark.thorough
def test_what_is_the_same_in_every_session_is_opened(address: str) -> None:
    for select in ALIKE:
        made(address, select)
        assert said(address) == "", select
        own, *others = three_sessions(address)
        assert others == [own, own], select
        assert isinstance(own, list)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("by_sql(ward)", GOES_BY_PATH),
        ("ward IN (SELECT ward FROM below)", GOES_BY_PATH),
        ("current_setting('lab.study', true) IS NOT NULL OR ward = ''", ASKS_SETTING),
        ("nullif(current_setting('lab.study', true), '') IS NOT NULL OR ward = ''", ""),
    ],
)
def test_so_are_policies(address: str, condition: str, sentence: str) -> None:
    with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
        owner.execute("ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; DROP POLICY IF EXISTS p ON guarded")
        owner.execute(f"CREATE POLICY p ON guarded USING ({condition})")  # type: ignore[arg-type]
    made(address, "SELECT who FROM visits WHERE who IN (SELECT who FROM guarded)")
    for table in ("guarded", "v"):
        assert said(address, table) == sentence
    own, *others = three_sessions(address, "public.guarded")
    assert (others == [own, own]) is not bool(sentence)


def test_what_is_not_run_when_a_table_is_read_keeps_none_from_being_asked(address: str) -> None:
    with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
        owner.execute(
            "CREATE TABLE kept (who text DEFAULT by_sql('x')::text CHECK (by_plpgsql(who) OR true), ward a_ward);"
            "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
            "CREATE TRIGGER noted BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION noted();"
            "CREATE POLICY unused ON kept USING (by_sql(ward)); GRANT SELECT ON kept TO PUBLIC"
        )
    assert said(address, "kept") == ""


def test_without_the_look_another_session_decides_what_is_counted(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests above can fail."""
    monkeypatch.setattr(by_session, "check", lambda *_: None)
    for select in (BY_PATH[0], BY_PATH[10], BY_SETTING[0], BY_SETTING[4]):
        made(address, select)
        assert said(address) == ""


MUTANTS = {
    "parts": ("_PARTS", by_session._PARTS, "SELECT 0::oid", BY_PART[0]),
    "cells of rows": ("_MADE_OF", "WHERE part::text", "WHERE whole = part AND part::text", BY_PART[2]),
    "trees": ("_MET", "ON t.oid = ANY", "ON false AND t.oid = ANY", BY_ROW),
    "steps": ("_MET", "a.aggfnoid = met.oid", "false", BY_AGGREGATE[0]),
    "orders": ("_MET", "a.oid >= {first}", "false", BY_ORDER[0]),
    "twice": ("_MET", "'pg_temp', 'gi'", "'pg_temp\"?$', 'gi'", BY_TEMPORARY[-1]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_of_these_looks_is_needed(mutant: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the tests above can fail."""
    name, look, instead, select = MUTANTS[mutant]
    before = getattr(by_session, name)
    assert look in before
    with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
        if mutant == "orders":
            owner.execute(POINTS)
    try:
        made(address, select)
        assert said(address) != ""
        monkeypatch.setattr(by_session, name, before.replace(look, instead))
        assert said(address) == ""
    finally:
        with psycopg.connect(address.replace("+psycopg", "").replace("session_reader@", "ledger@")) as owner:
            owner.execute("DROP OPERATOR FAMILY IF EXISTS points USING btree CASCADE")
