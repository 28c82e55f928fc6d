"""What a JSON document does not say of itself, one row more would decide for all others: it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.datasets import Column, Declaration, Reading, UnreadableFile, read_table
from dpcore.datasets.reading import columns, container, documents, one_object
from dpcore.datasets.reading.decoding import ENCODINGS
from dpcore.datasets.reading.naming import NAMELESS
from dpcore.datasets.report import Report
from dpcore.errors import Defect
from dpcore.releases.selection import MostCommonOption

pytestmark = pytest.mark.usefixtures("one_connection")
ROWS = [["cold", "south"], ["flu", "west"]] * 20
FRONT: tuple[list[Any], ...] = (["hiv", "north"], ["hiv", "hiv"], ["hiv", ""], ["hiv", "7"], ["hiv", 7], ["hiv"], [])


def listed(rows: list[Any]) -> bytes:
    return json.dumps(rows).encode()


def in_lines(rows: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


def counted(reading: Reading, name: str) -> list[int]:
    column = Column(name=name, type="category", categories=("cold", "flu", "hiv"))
    asked = MostCommonOption.of(Declaration(columns=(column,)), name, epsilon=1.0)
    found: list[int] = asked.read(reading.private).tolist()
    return found


@pytest.mark.parametrize("written", [listed, in_lines])
@pytest.mark.parametrize("front", FRONT, ids=repr)
def test_whether_the_first_list_names_the_columns_is_asked(
    written: Callable[[list[Any]], bytes], front: list[Any]
) -> None:
    data = written([front, *ROWS])
    assert "header" in read_table(data).report.doubtful
    reading = as_a_page_reads(data, PLAIN | {"header_rows": 0, "columns": 2})
    assert list(reading.frame.columns) == ["column 1", "column 2"]
    assert not reading.named_by_rows, "how many columns there are was stated"
    assert counted(reading, "column 1") == [20, 20, front[:1] == ["hiv"]]
    named = read_table(data, header_rows=1, header_line=1)
    assert (named.report.certain, named.rows, named.named_by_rows) == (True, 40, False)
    assert list(read_table(data, header_rows=1).frame.columns) == list(named.frame.columns)


def test_that_it_is_asked_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Report, "doubtful", ())
    reading = as_a_page_reads(listed([FRONT[0], *ROWS]), PLAIN)
    assert list(reading.frame.columns) == FRONT[0]


@pytest.mark.parametrize("last", [["cold", "south", "x"], ["cold"], [], None, [{"a": 1}, "south"], ["a", [["x"]]]])
def test_a_list_moves_itself_alone_whatever_it_is(last: Any) -> None:
    """Under names that the document gives itself, or that somebody said are names."""
    for write, stated in (
        (lambda rows: json.dumps({"columns": ["what", "where"], "data": rows}), {"objects": "list"}),
        (lambda rows: json.dumps([["what", "where"], *rows]), {"header_rows": 1}),
    ):
        reading = read_table(write([*ROWS, last]).encode(), **stated)
        assert (reading.report.doubtful, reading.report.decided) == ((), ())
        assert set(reading.frame.columns) - reading.from_rows == {"what", "where"}
        assert counted(reading, "what") == [20 + bool(last and last[0] == "cold"), 20, 0]


def people(count: int) -> dict[str, dict[str, Any]]:
    return {f"p{place}": {"ill": ("cold", "flu")[place % 2], "age": place, "id": 7 * place} for place in range(count)}


@pytest.mark.parametrize("count", [2, 3, 8])
def test_what_objects_inside_an_object_are_is_asked(count: int) -> None:
    data = json.dumps(people(count)).encode()
    found = read_table(data)
    assert found.report.decided == ("objects",)
    ways = [way.value for way in found.report.alternatives]
    assert sorted(ways) == ["columns", "rows"]
    assert ways[0] == found.report.objects == ("columns" if count < 3 else "rows")
    as_rows, as_columns = (read_table(data, objects=way) for way in ("rows", "columns"))
    assert as_rows.report.decided == as_columns.report.decided == ()
    assert list(as_rows.frame.columns) == ["age", "id", "ill"]
    assert list(as_columns.frame.columns) == [f"p{place}" for place in range(count)]
    assert counted(as_rows, "ill") == [count - count // 2, count // 2, 0]


def test_objects_that_are_asked_of_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Report, "decided", ())
    here, there = (as_a_page_reads(json.dumps(people(count)).encode(), PLAIN) for count in (2, 3))
    assert (here.rows, there.rows) == (3, 3)
    assert "ill" not in here.frame.columns


def test_one_object_moves_itself_alone_whatever_it_names() -> None:
    for own in (
        {"id": 1, "age": 2, "ill": "flu"},
        {"age": 3},
        {"age": 3, "more": "x"},
        {"ill": "flu", "age": {"y": 2}},
        {"deleted": True},
        {},
        None,
    ):
        for there in (people(8) | {"p8": own}, {"p8": own} | people(8)):
            reading = as_a_page_reads(json.dumps(there).encode(), PLAIN)
            assert counted(reading, "ill") == [4, 4 + bool(own and "ill" in own), 0]
            assert reading.report.objects == "rows"


def test_objects_that_must_all_share_a_name_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_object, "_are_alike", lambda inner: bool(set(inner[0]).intersection(*inner[1:])))
    with pytest.raises(UnreadableFile, match="no list of records"):
        as_a_page_reads(json.dumps(people(8) | {"p8": {}}).encode(), PLAIN)


@pytest.mark.parametrize("written", [listed, in_lines])
def test_null_keeps_its_place_among_lists_wherever_it_stands(written: Callable[[list[Any]], bytes]) -> None:
    for place in (0, 1, len(ROWS)):
        reading = read_table(written([*ROWS[:place], None, *ROWS[place:]]), header_rows=0, columns=2)
        assert counted(reading, "column 1") == [20, 20, 0]
        assert (reading.records, set(range(41)) - set(reading.places.tolist())) == (41, {place})


def test_null_is_a_record_without_anything_in_it() -> None:
    records = [{"ill": "cold"}, None, {"ill": "flu"}]
    for data in (json.dumps(records), "\n".join(map(json.dumps, records)), json.dumps({"rows": records, "n": 3})):
        assert counted(read_table(data.encode()), "ill") == [1, 1, 0]


@pytest.mark.parametrize("rows", [[["a"], {"a": 1}], [{"a": 1}, ["a"]], [["a"], "a"], [[], []], [{}, None]])
def test_what_is_neither_is_refused(rows: list[Any]) -> None:
    with pytest.raises(UnreadableFile):
        read_table(listed(rows))


PEOPLE = [{"ill": ("cold", "flu", "cold")[place % 3], "age": place} for place in range(12)]
ODD: tuple[Any, ...] = (
    *(None, 5, "x", True, [], ["a"], ["a", "b"], [{"x": 1}], [[1]], {}, {"ill": "hiv"}, {"ill": {"a": 1}, "age": [1]}),
    *({"ill": [{"a": 1}], "age": None}, {"more": {"ill": "flu"}}, {"columns": ["ill"], "data": [["flu"]]}),
)


def beside(rows: list[Any]) -> dict[str, list[Any]]:
    """Columns side by side; a row that is no object has no cells."""
    cells = [row if isinstance(row, dict) else {} for row in rows]
    return {name: [row.get(name) for row in cells] for name in ("ill", "age", "more")}


def under_names(rows: list[Any]) -> dict[str, Any]:
    return {f"p{place}": row for place, row in enumerate(rows)}


FORMS: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "a list under a name": (lambda rows: {"people": rows}, "list"),
    "beside a word": (lambda rows: {"exported": "2024-01-01", "people": rows}, "list"),
    "beside a list": (lambda rows: {"tags": ["a"] * len(PEOPLE), "people": rows}, "list"),
    "beside an object": (lambda rows: {"schema": {"n": 2}, "people": rows, "links": {"n": 3, "next": "x"}}, "list"),
    "columns side by side": (beside, "columns"),
    "objects under names": (under_names, "rows"),
}


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_one_row_moves_itself_alone_whatever_it_is_and_wherever_it_stands(form: str, odd: Any) -> None:
    """Added to the others, and in the place of one of them."""
    write, stated = FORMS[form]
    for place, after in ((0, 0), (0, 1), (6, 6), (len(PEOPLE), len(PEOPLE))):
        rows = [*PEOPLE[:place], odd, *PEOPLE[after:]]
        reading = as_a_page_reads(json.dumps(write(rows)).encode(), PLAIN | {"objects": stated})
        others = [row["ill"] for row in (*PEOPLE[:place], *PEOPLE[after:])]
        mine = odd.get("ill") if isinstance(odd, dict) else None
        expected = [others.count(option) + (mine == option) for option in ("cold", "flu", "hiv")]
        assert counted(reading, "ill") == expected, (place, after)
        assert reading.records == len(rows)


INSIDE = one_object.inside
MUTANTS: dict[str, dict[str, Callable[..., Any]]] = {
    "a list under a name": {
        "_holding_objects": lambda document: [
            value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)
        ]
    },
    "columns side by side": {
        "_guess": lambda document: "list" if len(one_object._holding_objects(document)) == 1 else "columns",
        "inside": lambda document, stated: replace(INSIDE(document, None), alternatives=()),
    },
    "objects under names": {"_are_alike": lambda inner: bool(set(inner[0]).intersection(*inner[1:]))},
}


@pytest.mark.parametrize("form", MUTANTS)
def test_a_row_that_decides_for_others_would_be_missed(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first of a list, by who has an object in a cell, by who is no object."""
    for broken, mutant in MUTANTS[form].items():
        monkeypatch.setattr(documents if broken == "inside" else one_object, broken, mutant)
    write, stated = FORMS[form]
    moved = False
    for odd in ODD:
        try:
            data = json.dumps(write([odd, *PEOPLE]), indent=1).encode()  # on one line it is asked in any case
            moved |= counted(as_a_page_reads(data, PLAIN | {"objects": stated}), "ill")[:2] != [8, 4]
        except (UnreadableFile, KeyError):
            moved = True
    assert moved


STEPS = (
    ["0", "1", "2", "10", "11"],
    ["2024-01-30", "2024-01-31", "2024-02-01", "2024-10-01", "2024-10-02"],
    ["week 1", "week 2", "week 9", "week 10", "week 11"],
    ["4", "2", "0", "3", "1"],
)
ELSE = ("x", "1000", "-1", "1.5", "0" * 19, "2024-01-01", "", " 1")


def of_steps(names: list[str], gone: str | None, *, first: str = "visits", whole: bool = True) -> bytes:
    """A table of steps, in which one person's only visit of a step may go with its cell's name."""
    columns = {"visits": dict(zip(names, range(5), strict=True)), "staff": dict.fromkeys(names[3 * (not whole) :], 1)}
    if gone is not None:
        del columns["visits"][gone]
    return json.dumps({name: columns[name] for name in sorted(columns, key=lambda one: one != first)}).encode()


def visits(data: bytes) -> list[str]:
    return list(read_table(data, objects="columns").frame["visits"])


@pytest.mark.parametrize("names", STEPS)
@pytest.mark.parametrize("first", ["visits", "staff"])
def test_each_column_names_all_rows(names: list[str], first: str) -> None:
    assert visits(of_steps(names, None, first=first)) == ["0", "1", "2", "3", "4"]
    uneven = [of_steps(names, gone, first=first, whole=whole) for gone in names for whole in (True, False)]
    for data in (*uneven, of_steps(names, None, first=first, whole=False)):
        with pytest.raises(UnreadableFile, match="do not all name the same rows"):
            read_table(data, objects="columns")


@pytest.mark.parametrize("names", STEPS)
@pytest.mark.parametrize("called", ELSE)
def test_what_one_row_is_called_moves_no_row(names: list[str], called: str) -> None:
    for place in range(5):
        renamed = [called if at == place else name for at, name in enumerate(names)]
        assert visits(of_steps(renamed, None)) == ["0", "1", "2", "3", "4"]
        fewer = visits(of_steps([*names[:4], called], None))
        assert fewer[:4] == ["0", "1", "2", "3"]


def test_rows_in_the_order_of_their_numbers_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_number(inner: list[dict[str, Any]]) -> list[str]:
        every = list(inner[0])
        return sorted(every, key=int) if all(name.isdigit() for name in every) else every

    monkeypatch.setattr(one_object, "_rows_of", by_number)
    with pytest.raises(AssertionError):
        test_what_one_row_is_called_moves_no_row(STEPS[0], "1000")


def written_twice(pairs: list[tuple[str, Any]]) -> str:
    """An object as it is written, also where a name stands twice in it."""
    return "{" + ",\n".join(f"{json.dumps(name)}: {value}" for name, value in pairs) + "}"


def objects_under(names: list[str]) -> str:
    return written_twice([(name, json.dumps({"ill": "cold", "age": at})) for at, name in enumerate(names)])


def columns_of(names: list[str]) -> str:
    ill = written_twice([(name, '"cold"') for name in names])
    age = written_twice([(name, str(at)) for at, name in enumerate(names)])
    return written_twice([("ill", ill), ("age", age)])


def one_column_twice(names: list[str]) -> str:
    return written_twice([("ill", json.dumps(names)), ("age", json.dumps([1] * len(names))), ("ill", '["flu"]')])


@pytest.mark.parametrize("write", [objects_under, columns_of, one_column_twice])
@pytest.mark.parametrize("again", range(4))
def test_a_row_takes_the_name_of_no_other(write: Callable[[list[str]], str], again: int) -> None:
    names = [f"p{at}" for at in range(5)]
    stated: Any = "rows" if write is objects_under else "columns"
    if write is not one_column_twice:
        assert read_table(write(names).encode(), objects=stated).rows == 5
    names[4] = names[again]
    for how in (stated,) if write is columns_of else (None, stated):  # else it is asked what these are
        with pytest.raises(UnreadableFile, match="stands twice") as caught:
            read_table(write(names).encode(), objects=how)
        assert names[again] not in str(caught.value)


def test_that_a_name_stands_twice_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "named", dict)
    with pytest.raises(pytest.fail.Exception):
        test_a_row_takes_the_name_of_no_other(objects_under, 1)


def test_a_name_twice_inside_a_record_is_that_records_own() -> None:
    twice = '{"a": {"ill": "cold", "ill": "flu"},\n"b": {"ill": "cold"}}'
    assert counted(read_table(twice.encode(), objects="rows"), "ill") == [1, 1, 0]


ONE_OBJECT: tuple[tuple[dict[str, Any], str], ...] = (
    ({"ill": ["cold"] * 9, "age": [1] * 9}, "columns"),
    ({"ill": "cold", "visits": [{"ill": "flu"}] * 4}, "list"),
    ({"ill": "cold", "visits": [{"ill": "flu"}, None]}, "list"),
    ({"columns": ["ill", "age"], "data": [["cold", 1], ["flu", 2]]}, "list"),
    ({"a": {"ill": "cold"}, "b": {"ill": "flu"}}, "rows"),
)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(("document", "way"), ONE_OBJECT)
def test_what_one_object_is_another_behind_it_would_decide(
    document: dict[str, Any], way: str, indent: int | None
) -> None:
    """The first of records, or a table of its own: it is asked, also where it takes lines, and whatever it looks like.
    Where it is stated, no other may follow it and make it the first of several in silence."""
    alone = json.dumps(document, indent=indent)
    asked = read_table(alone.encode()).report
    assert (asked.decided, asked.objects) == (("objects",), way)
    assert {one.value for one in asked.alternatives if one.argument == "objects"} >= {way, "rows"}
    read_table(alone.encode(), objects=way)
    for behind in ("null", alone, "{}", "[]"):
        with pytest.raises(UnreadableFile):
            read_table(f"{alone}\n{behind}\n".encode(), objects=way)


HELD = json.dumps({f"p{n}": {"ill": "cold"} for n in range(4)})


@pytest.mark.parametrize(
    "others", [[HELD, '{"ill": "flu"}'], ['{"ill": "flu"}', HELD], ['{"ill": "flu"}'] * 2 + [HELD]]
)
def test_an_object_that_holds_rows_is_none_itself_wherever_it_stands(others: list[str]) -> None:
    """Where its objects are said to be rows, one record in front of it made it a row of its own, in silence."""
    assert read_table(HELD.encode(), objects="rows").rows == 4
    with pytest.raises(UnreadableFile, match="others follow"):
        read_table("\n".join(others).encode(), objects="rows")
    untold = read_table("\n".join(others).encode()).report
    assert untold.objects is None, "nor was it read so without being told"
    assert read_table(HELD.encode()).report.objects == "rows"


@pytest.mark.parametrize("document", [one for one, way in ONE_OBJECT if way != "rows"])
def test_where_each_object_is_said_to_be_a_row_others_may_follow(document: dict[str, Any]) -> None:
    alone, two = json.dumps(document), "\n".join([json.dumps(document)] * 2)
    one, both = (read_table(text.encode(), objects="rows") for text in (alone, two))
    assert (one.rows, both.rows) == (1, 2)
    assert one.frame.loc[0].to_dict() == both.frame.loc[0].to_dict()


def test_columns_of_which_one_is_shorter_stay_side_by_side() -> None:
    reading = read_table(json.dumps({"ill": ["cold", "flu", "cold"], "age": [1, 2]}).encode())
    assert (counted(reading, "ill"), reading.rows) == ([2, 1, 0], 3)


@pytest.mark.parametrize(
    "document",
    [{"a": [{"x": 1}], "b": [{"y": 1}, {"y": 2}]}, {"meta": {"n": 1}, "a": [{"x": 1}], "b": [{"y": 1}]}],
)
def test_two_tables_in_one_document_are_refused_until_somebody_says_what_it_is(document: dict[str, Any]) -> None:
    with pytest.raises(UnreadableFile, match="no list of records"):
        read_table(json.dumps(document).encode())
    assert read_table(json.dumps(document).encode(), objects="columns").rows >= 1


KEYS = (*(" ill", "ill ", "ill\u00a0", "i\tll", "ill\n", "", " ", "Ill", "ill (2)"), "column 1", NAMELESS, "x" * 500)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("written", [listed, in_lines, lambda rows: json.dumps({"rows": rows}).encode()])
def test_no_key_of_a_row_takes_a_column_from_the_others(key: str, written: Callable[[list[Any]], bytes]) -> None:
    """Not by blanks around it, nor by nothing in it, nor by how long it is; whichever row comes first."""
    names = ("ill", "", "x" * 400 + "a", "x" * 400 + "b")
    others = [dict(zip(names, (("cold", "flu")[place % 2], *[place] * 3), strict=True)) for place in range(12)]
    alone = read_table(written(others))
    for rows in ([{key: "hiv"}, *others], [*others, {key: "hiv"}], [*others, {key: "hiv", "ill": "hiv"}]):
        found = read_table(written(rows))
        assert set(alone.frame.columns) <= set(found.frame.columns)
        mine = "hiv" in (rows[-1].get("ill"), rows[0].get("ill")) or " ".join(key.split()) == "ill"
        assert counted(found, "ill") == [6, 6, mine]
        for name in alone.frame.columns:
            cells = found.frame[name].tolist()
            rest = cells[1:] if rows[0] is not others[0] else cells[:-1]
            assert rest == alone.frame[name].tolist()
    assert len(alone.frame.columns) == len(names)


def test_names_by_the_order_in_which_they_appear_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "by_itself", str)
    with pytest.raises((AssertionError, KeyError)):
        test_no_key_of_a_row_takes_a_column_from_the_others("ill ", listed)


def test_half_a_character_in_a_name_is_replaced_as_in_a_cell() -> None:
    data = b'[{"ill": "cold", "c\\ud800": "x"}, {"ill": "flu", "c\\ud800": "y\\udfff"}]'
    reading = read_table(data)
    assert (list(reading.frame.columns), counted(reading, "ill")) == (["c?", "ill"], [1, 1, 0])
    assert reading.frame["c?"].tolist() == ["x", "y?"]


def test_settings_are_no_records() -> None:
    with pytest.raises(UnreadableFile, match="no list of records"):
        read_table(json.dumps({"server": {"port": 1}, "names": {"first": "x"}}).encode())


@pytest.mark.parametrize("sign", ["\t", "\n", "\x01", "\x1f", "\x7f"])
@pytest.mark.parametrize("written", [listed, in_lines, lambda rows: json.dumps({"rows": rows}).encode()])
def test_a_sign_as_it_stands_in_one_text_has_no_file_refused(
    sign: str, written: Callable[[list[Any]], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tab that a program did not write as \\t had all rows refused."""
    rows = [{"ill": "cold", "note": "x"}, {"ill": "flu", "note": "aMARKb"}, {"ill": "cold", "note": "x"}]
    data = written(rows).replace(b"MARK", sign.encode())
    found = read_table(data)
    assert counted(found, "ill") == [2, 1, 0]
    assert found.frame["note"].tolist() == ["x", f"a{sign}b", "x"]
    monkeypatch.setattr(json, "JSONDecoder", lambda *, strict, **how: DECODER(strict=True, **how))
    if sign < " ":
        with pytest.raises(UnreadableFile, match="well-formed"):
            read_table(data)


DECODER = json.JSONDecoder
ODD_ROWS = (
    *('["so]uth", 5]', '["%s", 5]' % ("x" * 4200), "5", '"a"', "true", "null", "[]", "{}", "[[1], 2]", '{"a": 1}'),
    *('[\n"x"\n]', "", " " * 5000, " " * 5000 + "5", "x", "x,south", "[", "{", "]", "[cold, 1]", "{cold"),
    *("\ufeff5", '"cold', "null null", "null,5", '5 ["a", "b"]', '["a", "b"] 5', '["a", "b"] ["c", "d"]', "5\u2028"),
    *(
        '["so\tuth", 5]',
        '["so\x01uth", 5]',
        '["so\nuth", 5]',
        '{"a": "x\ty"}',
        '{"ill": "so\tuth"}',
        '["so\x00uth", 5]',
    ),
    "\n".join(["null"] * 900),
)
"""What one row might be, and the last one many, where the others are JSON: well-formed or not."""
ROWS_OF: dict[str, tuple[list[str], str]] = {
    "lists": ([json.dumps([ill, age]) for age, (ill, _) in enumerate(ROWS)], "column 1"),
    "objects": ([json.dumps({"ill": ill}) for ill, _ in ROWS], "ill"),
    "text": ([f"{ill},{age}" for age, (ill, _) in enumerate(ROWS)], "column 1"),
}
WRITTEN: dict[str, Callable[[list[str]], str]] = {
    "lines": lambda rows: "\n".join([*rows, ""]),
    "lines that returns end": lambda rows: "\r".join([*rows, ""]),
    "one list over lines": lambda rows: "[\n" + ",\n".join(rows) + "\n]\n",
    "one list on a line": lambda rows: f"[{', '.join(rows)}]",
    "a list whose lines end before the sign": lambda rows: "[" + "\n,".join(rows) + "]",
    "one after another": " ".join,
}

_SOON = {"lines", "one list over lines", "one after another"}


def moving_others(written: str, rows: str) -> list[tuple[str, int]]:
    """The odd rows, and before which row they stand, that move the counts of others though no file is refused."""
    write, answers = WRITTEN[written], PLAIN | {"header_rows": 0, "columns": 2}
    others, name = ROWS_OF[rows]
    found = []
    for odd in ODD_ROWS:
        for place in (0, 1):
            try:
                reading = as_a_page_reads(write([*others[:place], odd, *others[place:]]).encode(), answers)
            except UnreadableFile:
                continue
            if name not in reading.frame or counted(reading, name) != [20, 20, 0]:
                found.append((odd[:20], place))
    return found


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("lines", "text"),
        *(
            pytest.param(written, rows, marks=[pytest.mark.thorough] * (written not in _SOON))
            for written in WRITTEN
            for rows in ("lists", "objects")
        ),
    ],
)
def test_one_row_does_not_make_text_of_the_others(written: str, rows: str) -> None:
    """Nor JSON of text. Of what is refused already nobody is asked anything."""
    alone = WRITTEN[written](ROWS_OF[rows][0]).encode()
    if written == "one after another":
        with pytest.raises(UnreadableFile, match=r"well-formed on line 1;|no list of records"):
            read_table(alone)
    else:
        assert read_table(alone).report.container == ("text" if rows == "text" else "json")
        assert moving_others(written, rows) == []


def by_its_first_sign(data: bytes, encoding: str | None) -> str:
    return "json" if next(container._begun(data, encoding))[0] in "[{n" else "text"


def by_how_its_first_line_goes_on(data: bytes, _: str | None) -> str:
    return "json" if re.match(rb'\s*(?:\{\s*"|\[\s*[\[{]|\[[^\n\]]*\]\s*\n\s*\[)', data[:4096]) else "text"


@pytest.mark.parametrize(
    ("module", "name", "mutant", "written", "rows"),
    [
        (container, "_kind_of_text", by_its_first_sign, "lines", "lists"),
        (container, "_kind_of_text", by_how_its_first_line_goes_on, "lines", "lists"),
        (container, "_kind_of_text", by_how_its_first_line_goes_on, "one list over lines", "lists"),
    ],
)
def test_a_row_that_makes_text_of_others_would_be_missed(
    module: ModuleType, name: str, mutant: Any, written: str, rows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, mutant)
    assert moving_others(written, rows)


@pytest.mark.parametrize("heading", ["[id],[age]", "{id},age", "id,age\n[1],2", 'id,age\n{"a": 1},2'])
def test_text_that_begins_as_json_is_text_where_it_is_stated_at_what_its_cells_end(heading: str) -> None:
    text = heading + "\n3,4" * 3
    with pytest.raises(UnreadableFile, match="not well-formed on line 1"):
        read_table(text.encode())
    reading = read_table(text.encode(), delimiter=",")
    assert (reading.report.container, reading.frame.iloc[-1].tolist()) == ("text", ["3", "4"])


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("row", ["安é", '["é", 1]', '{"é": 1}'])
def test_it_is_told_in_every_encoding(codec: str, row: str) -> None:
    """Also beside letters whose bytes are those of such signs."""
    if codec == "cp1252":
        row = row.replace("安", "")
    data = f"{row}\n{row}\n{row}\n".encode(codec)
    stated = {"encoding": codec} if codec in ENCODINGS else {}
    assert read_table(data, header_rows=0, **stated).report.container == ("json" if row[0] in "[{" else "text")


@pytest.mark.parametrize("last", ["x", "5", "null x", "nul"])
def test_behind_lines_of_null_no_row_decides_whether_these_are_words(last: str) -> None:
    assert read_table(b'null\nnull\n["x"]\n', header_rows=0, columns=1).records == 3
    with pytest.raises(UnreadableFile, match="JSON"):
        read_table(f"null\nnull\n{last}\n".encode())


LISTS = (["a", 1], ["b"], [None], ["", " "], [["x"], 2], [{"y": 1}], [[1], [2]])


def refused_for_a_line(ends: str) -> list[list[Any]]:
    """Of lists, one a line, those with which others are refused, or which are refused alone."""
    found = []
    for row in LISTS:
        for rows in ([row], [row, row], [row, ["c", 2]], [["c", 2], row], [row, None], [*ROWS, row]):
            if len(rows) == 1 and any(isinstance(cell, list | dict) for cell in row):
                continue  # a list of rows
            for stated in ({}, {"header_rows": 0, "columns": 2}):
                try:
                    reading = read_table((in_lines(rows).decode() + ends).encode(), **stated)
                except UnreadableFile:
                    found.append(row)
                    continue
                assert not stated or reading.records == len(rows)
    return found


@pytest.mark.parametrize("ends", ["", "\n"])
def test_whether_lists_one_a_line_are_read_hangs_on_none_of_them(ends: str) -> None:
    """Of one person as of two."""
    assert refused_for_a_line(ends) == []


def test_a_line_for_which_others_are_refused_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    after_list = documents._after_list

    def of_several(text: str, *given: Any) -> tuple[Any, int | None]:
        first, after = after_list(text, *given)
        return (None, None) if after == len(text) else (first, after)

    monkeypatch.setattr(documents, "_after_list", of_several)
    assert ["a", 1] in refused_for_a_line("\n")


# -- lists that say nothing ------------------------------------------------------------------------------------------

NOTHING = [[[cell] * width] * rows for cell in (None, "", " ") for width in (1, 2) for rows in (1, 2)]
NOTHING += [[[], [None]], [[None], []], [[None, ""], [" "]]]


def tell_of_nothing(rows: list[Any], choices: dict[str, Any]) -> None:
    """Raises AssertionError where a row that says something brings a column for an answer, Defect for a fault."""
    one, other = (read_table(listed(each), **choices) for each in (rows, [*rows, ["a"]]))
    assert list(one.in_public_columns.columns) == list(other.in_public_columns.columns)
    assert other.rows - one.rows in (0, 1)


@pytest.mark.parametrize("rows", NOTHING, ids=repr)
@pytest.mark.parametrize("choices", [{}, {"header_rows": 1}, {"header_rows": 0, "columns": 2}], ids=repr)
def test_lists_that_say_nothing_are_a_table(rows: list[Any], choices: dict[str, Any]) -> None:
    tell_of_nothing(rows, choices)


@pytest.mark.defects
def test_a_heading_of_nothing_was_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    of_cells = columns.of_cells

    def without_any(*given: Any) -> columns.Columns:
        found = of_cells(*given)
        return found if given[2](0) else replace(found, labels=(), places=(), loose=frozenset())

    monkeypatch.setattr(columns, "of_cells", without_any)
    with pytest.raises(Defect):
        tell_of_nothing([[None]], {})


# -- in which order columns stand that records name ------------------------------------------------------------------

NAMING: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "a list": json.dumps,
    "one a line": lambda rows: "\n".join(map(json.dumps, rows)),
    "a list under a name": lambda rows: json.dumps({"people": rows}),
    "inside records": lambda rows: json.dumps([{"who": row} for row in rows]),
}


@pytest.mark.parametrize("how", NAMING)
@pytest.mark.parametrize("place", [0, 1, 5])
def test_no_record_decides_in_which_order_columns_stand(how: str, place: int) -> None:
    """A page begins with the first that suits, and some answers name all of them in order."""
    rows = [{"ward": "N", "ill": "flu", "age": str(row), "item 10": "a", "item 9": "b"} for row in range(8)]
    lacks = [*rows[:place], {name: rows[place][name] for name in list(rows[place])[1:]}, *rows[place + 1 :]]
    turned = [*rows[:place], dict(reversed(rows[place].items())), *rows[place + 1 :]]
    first, *others = (list(read_table(NAMING[how](each).encode()).frame.columns) for each in (rows, lacks, turned))
    assert others == [first, first]
    assert [name.removeprefix("who.") for name in first] == ["age", "ill", "item 9", "item 10", "ward"]


def test_columns_that_a_document_names_itself_stand_as_it_says() -> None:
    data = json.dumps({"ward": ["N", "S"], "age": ["1", "2"]}).encode()
    assert list(read_table(data, objects="columns").frame.columns) == ["ward", "age"]
    for cells in ([{"b": 1, "a": 2}, {"c": 3}], [{"a": 2, "b": 1}, {"c": 3}], [{"c": 3}, {"b": 1, "a": 2}]):
        data = json.dumps({"ward": ["N", "S"], "more": cells, "age": ["1", "2"]}).encode()
        names = list(read_table(data, objects="columns").frame.columns)
        assert names == ["ward", "age", "more.a", "more.b", "more.c"], "what rows name comes behind"
