"""What a JSON document does not say of itself, one row more would decide for all others: it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dpcore.audit.files import PLAIN, as_a_page_reads
from dpcore.datasets import Column, Declaration, Reading, UnreadableFile, read_table
from dpcore.datasets.reading import documents
from dpcore.datasets.report import Report
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
        (lambda rows: json.dumps({"columns": ["what", "where"], "data": rows}), {}),
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
    assert list(as_rows.frame.columns) == ["ill", "age", "id"]
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
    monkeypatch.setattr(documents, "_are_alike", lambda inner: bool(set(inner[0]).intersection(*inner[1:])))
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


@pytest.mark.parametrize("rows", [[["a"], {"a": 1}], [{"a": 1}, ["a"]], [["a"], "a"], [None], [[], []], [{}, None]])
def test_what_is_neither_is_refused(rows: list[Any]) -> None:
    with pytest.raises(UnreadableFile):
        read_table(listed(rows))


def test_settings_are_no_records() -> None:
    with pytest.raises(UnreadableFile, match="no list of records"):
        read_table(json.dumps({"server": {"port": 1}, "names": {"first": "x"}}).encode())
