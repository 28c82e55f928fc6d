"""CSV files into a folder of Parquet: read as a file that somebody brings, whole or not at all, and what did not fit
said where it stands."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shlex
import subprocess
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from dashboard.__main__ import main
from dpcore.datasets import Column, made_of, read_table
from dpcore.datasets.importing import cells, folder, import_csv, text_lines
from dpcore.datasets.importing.cells import NO_CELLS, UNCLOSED, UNEVEN, Signs
from dpcore.datasets.importing.text_lines import TOO_LONG, Aside
from dpcore.datasets.in_place import configured_sources, open_folder
from dpcore.errors import InvalidArgument, UnreadableFile

HEADER = "name;age;share;day;ill"
STATED: dict[str, Any] = {
    "delimiter": ";",
    "decimal": ",",
    "date_order": "dmy",
    "types": {"age": "integer", "share": "number", "day": "date", "ill": "yes/no"},
}


def row(number: int) -> str:
    name, ill = ("Ann", '"So;uth"', '"a\nb ""c"""')[number % 3], ("no", "yes")[number % 2]
    return f"{name};{number % 90};{number % 7},5;{number % 28 + 1:02}.{number % 12 + 1:02}.2024;{ill}"


def at_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(text_lines, "AT_ONCE", size)


def test_a_folder_holds_what_a_file_that_is_brought_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEADER}\r\n" + "\r\n".join(row(number) for number in range(400))
    source = tmp_path / "a.csv"
    source.write_bytes(text.encode("cp1252"))
    at_once(monkeypatch, 997)
    monkeypatch.delattr(cells, "_one_by_one")  # nothing is out of the ordinary
    found = import_csv([source], tmp_path / "out", **STATED, lines_in_cells=True)
    reading = read_table(text.encode())
    brought = reading.apply(reading.suggested()).frame
    made = pq.read_table(tmp_path / "out").to_pandas()
    assert found.rows == len(made) == 400
    assert [column.type for column in found.columns] == ["text", "integer", "number", "date", "yes/no"]
    for name in ("age", "share", "day", "ill"):
        assert made[name].tolist() == brought[name].tolist(), name
    assert made["name"].tolist() == ["Ann", "So;uth", 'a\nb "c"'] * 133 + ["Ann"]
    assert not found.aside[str(source)].lines


def test_what_does_not_fit_is_missing_and_told_with_its_line(tmp_path: Path) -> None:
    lines = [row(3 * number) for number in range(300)]
    lines[200:200] = [
        'Ann;"5;0,5;01.01.2024;no',
        "Ann;5",
        "",
        'x"y";5"";x;31.02.2024;perhaps',
        'Ann;"5"x;0;;',
        "n/a;;;;",
    ]
    source = tmp_path / "a.csv"
    source.write_bytes("\n".join([HEADER, *lines]).encode() + b"\nB\xe4r;1;1;;\n")
    found = import_csv([source], tmp_path / "out", **STATED, encoding="utf-8")
    aside = found.aside[str(source)]
    assert {why: (those.count, those.first) for why, those in aside.lines.items()} == {
        UNCLOSED: (1, [202]),
        UNEVEN: (1, [203]),
        NO_CELLS: (1, [206]),
    }
    assert (aside.undecodable.count, aside.undecodable.first) == (1, [308])
    assert {column.name: (column.missing, column.misfit.first) for column in found.columns} == {
        "name": (0, []),
        "age": (1, [205]),
        "share": (1, [205]),
        "day": (2, [205]),
        "ill": (2, [205]),
    }
    made = pq.read_table(tmp_path / "out").to_pydict()
    assert len(made["age"]) == found.rows == 303
    assert made["age"].count(None) == 2


@pytest.mark.thorough
def test_records_are_the_same_wherever_borders_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many at once or one by one, in large parts or small: the same rows, lines and accounts; and those of Python's csv
    where all is well."""
    draw = random.Random(5)
    pieces = [
        "a",
        "é",
        ",",
        ",",
        '"',
        '"a"',
        '"a,b"',
        '"a\nb"',
        '"c""d"',
        "\n",
        "\r\n",
        "a,b\n",
        '"a","b"\n',
        ', "a"\n',
    ]
    seen = 0
    monkeypatch.setattr(text_lines, "LONGEST", 12)
    monkeypatch.setattr(cells, "LONGEST", 12)
    monkeypatch.setattr(cells, "MOST_LINES", 3)
    for trial in range(180):
        signs = Signs(delimiter=",", quote='"', lines_in_cells=trial % 3 > 0)
        data = "".join(draw.choices(pieces if trial % 2 else pieces[-5:-1], k=draw.randrange(1, 14))).encode()
        found = []
        for size, careful in ((1, False), (4, False), (4, True), (1000, False), (1000, True)):
            with monkeypatch.context() as changed:
                at_once(changed, size)
                if careful:
                    changed.setattr(cells, "_together", lambda *_: None)
                aside = Aside()
                several = list(cells.rows(text_lines.text_lines(io.BytesIO(data), "utf-8", aside), signs, 2, aside))
            read = [(row["0"], row["1"], line) for t, n in several for row, line in zip(t.to_pylist(), n, strict=True)]
            found.append((read, aside))
        assert all(one == found[0] for one in found), data
        read, aside = found[0]
        if not aside.lines and signs.lines_in_cells:
            plain = csv.reader(io.StringIO(data.decode(), newline=""), skipinitialspace=True, strict=True)
            assert [list(one[:2]) for one in read] == [one for one in plain if one], data
            seen += len(read)
    assert seen > 80


AWKWARD = {
    "a long cell": [f"a,{'9' * 140_000}", "b,c"],
    "a long quoted cell": [f'"{"9" * 140_000}",a', "b,c"],
    "a long record over lines": [f'"{"9" * 600_000}\n{"9" * 600_000}",a', "b,c"],
    "carriage returns before lines": ["a,b\r", "\rc,d", '\r"e",f'],
    "several behind lines": ["a,b\r\r", "c,d\r\r\r", "\r\r", "e,f\r"],
    "one within a line": ["a,b\rc,d", "\r\r", "e,f"],
    "one within a cell": ['"a\rb",c', '"a\r\nb",d', "e\rf,g"],
    "blanks": [" a, b ", "c,  d", "e, "],
    "odd signs": ["a\0,\\", "\ufeffa,'b'", "\x1f,\u2028"],
}


def records_of(lines: list[str], *, lines_in_cells: bool = True) -> list[tuple[str, ...]]:
    aside, signs = Aside(), Signs(delimiter=",", quote='"', lines_in_cells=lines_in_cells)
    data = "".join(f"{line}\n" for line in lines).encode()
    read = cells.rows(text_lines.text_lines(io.BytesIO(data), "utf-8", aside), signs, 2, aside)
    return [tuple(row.values()) for table, _ in read for row in table.to_pylist()]


def moved_by_an_uneven_line() -> set[str]:
    """The cases in which one line more changes what the others hold."""
    uneven = ("x", "x,y,z", '5" x 6"', '"x"y,z', '"x,y')
    good = ["first,1", "second,2"]
    return {
        case
        for case, lines in AWKWARD.items()
        for over in (True, False)
        if any(
            records_of([*good, *lines, line], lines_in_cells=over) != records_of([*good, *lines], lines_in_cells=over)
            for line in uneven
        )
    }


def test_an_uneven_line_moves_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Arrow reads many at once is read alike where one line beside it must be read one by one."""
    assert not moved_by_an_uneven_line()

    def by_csv(_: Signs, record: str) -> list[str]:
        try:
            return next(csv.reader([record], skipinitialspace=True, strict=True), [])
        except csv.Error:
            return []

    monkeypatch.setattr(Signs, "cells", by_csv)
    assert moved_by_an_uneven_line() == {"a long cell", "a long quoted cell", "blanks"}


ODD = {
    "an opening mark": '"odd,1',
    "an opening mark before the last cell": 'odd,"1',
    "one in the middle of a cell": 'o"dd,1',
    "one in the middle of the last cell": 'odd,5"',
    "a closing mark": 'odd",1',
    "two": '"odd","1',
    "two, both in the middle": '5" by 6",1',
    "three": '"odd"",1',
    "one behind a quoted cell": '"odd"x,1',
    "an escaped one": '"o""dd,1',
    "an escaped one at the end": 'odd,"1""',
    "marks alone": '"""',
    "one alone": '"',
    "a backslash before it": 'o\\"dd,"1',
    "a carriage return in it": '"o\rdd,1',
}
BESIDE = {
    "plain": [f"p{number},{number}" for number in range(6)],
    "quoted": [f'"p{number}","{number}"' for number in range(6)],
    "marks inside": [f'"p ""{number}""",{number}' for number in range(6)],
    "each with a mark of its own": [f'p{number},{number}"' for number in range(6)],
    "cells over lines": [line for number in range(3) for line in (f'"p{number}', f'q{number}",{number}')],
}


def moved_by_an_odd_row(*, lines_in_cells: bool) -> set[tuple[str, str]]:
    """The odd rows beside which others hold something else than without them, and beside which others."""
    read, found = lru_cache(None)(lambda *lines: records_of(list(lines), lines_in_cells=lines_in_cells)), set()
    for beside, lines in BESIDE.items():
        rows = ["first,0", *lines, "last,9"]
        without = read(*rows)
        for odd, line in ODD.items():
            for at in (0, 1, 4, len(rows)):
                behind = len(read(*rows[:at]))
                if read(*rows[:at], line, *rows[at:]) != [*without[:behind], *read(line), *without[behind:]]:
                    found.add((odd, beside))
    return found


@pytest.mark.parametrize("size", [text_lines.AT_ONCE, pytest.param(40, marks=pytest.mark.thorough)])
def test_an_odd_row_moves_itself_alone(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One person's opening quotation mark took up to 99 rows along, where the number of cells happened to fit."""
    at_once(monkeypatch, size)
    assert not moved_by_an_odd_row(lines_in_cells=False)
    moved_others = {odd for odd, _ in moved_by_an_odd_row(lines_in_cells=True)}
    assert moved_others >= {"an opening mark before the last cell", "two"}


def test_each_line_is_a_row_unless_it_is_stated_otherwise(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text('who,x\na,1\nb,"2\nc,3\nd,4"\ne,5\n')
    found = import_csv([source], tmp_path / "out", types={"x": "integer"})
    assert pq.read_table(tmp_path / "out").to_pydict() == {"who": ["a", "c", "d", "e"], "x": [1, 3, None, 5]}
    assert found.aside[str(source)].lines[UNCLOSED].first == [3]
    assert found.columns[1].misfit.first == [5]
    import_csv([source], tmp_path / "over", types={"x": "integer"}, lines_in_cells=True)
    assert pq.read_table(tmp_path / "over").to_pydict()["who"] == ["a", "b", "e"], "b took them along"


def test_cells_over_lines_are_stated_and_said_by_whatever_counts_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.csv"
    source.write_text('who,x\n"a\nb",1\nc,2\n')
    call = ["import-csv", str(source), "--column", "x=integer"]
    assert main([*call, str(tmp_path / "apart")]) == 0
    said = capsys.readouterr().out
    assert "Each line is a row of its own" in said
    assert "--lines-in-cells" in said, "how else it can be read"
    assert main([*call, str(tmp_path / "over"), "--lines-in-cells"]) == 0
    said = capsys.readouterr().out
    assert "Cells may run over several lines" in said
    assert "--lines-in-cells" not in said
    assert pq.read_table(tmp_path / "over").to_pydict() == {"who": ["a\nb", "c"], "x": [1, 2]}
    notes = {
        name: json.loads(pq.read_schema(tmp_path / name / "part-00000.parquet").metadata[made_of.KEY.encode()])
        for name in ("apart", "over")
    }
    assert notes["apart"] == {
        "encoding": "utf-8",
        "delimiter": ",",
        "quote": '"',
        "header_line": 1,
        "breaks": "between",
        "decimal": ".",
        "date_order": "ymd",
    }
    assert notes["over"] == {**notes["apart"], "breaks": "inside"}
    assert open_folder(tmp_path / "apart").form == ()
    assert open_folder(tmp_path / "over").form == ("lines in cells",)
    (tmp_path / "over" / "part-00000.parquet").rename(tmp_path / "apart" / "more.parquet")
    assert open_folder(tmp_path / "apart").form == ("lines in cells",), "where it is so of one file"


@pytest.mark.parametrize("kind", ["text", "date"])
def test_days_leave_what_lines_were_taken_for_in_every_answer(kind: Any, tmp_path: Path) -> None:
    """They are points in time in milliseconds, which are read beside all other columns."""
    (tmp_path / "a.csv").write_text("seen,note\n" + "".join(f'2024-01-{day:02},"a\nb"\n' for day in range(1, 20)))
    import_csv([tmp_path / "a.csv"], tmp_path / "out", types={"seen": kind}, lines_in_cells=True)
    assert open_folder(tmp_path / "out").form == ("lines in cells",)


@pytest.mark.parametrize("note", [b"", b"[]", b"{", b'"inside"', b"\xff", b'{"breaks": "between"}', b"[" * 100_000])
def test_what_a_file_says_of_itself_in_other_words_says_nothing(note: bytes) -> None:
    assert made_of.stated([note]) == ()
    assert made_of.stated([note, made_of.told({"breaks": "inside"}).encode()]) == ("lines in cells",)


def test_carriage_returns_around_a_line_are_its_end() -> None:
    assert records_of(AWKWARD["carriage returns before lines"]) == [("a", "b"), ("c", "d"), ("e", "f")]
    assert records_of(AWKWARD["several behind lines"]) == [("a", "b"), ("c", "d"), ("e", "f")]
    assert records_of(AWKWARD["one within a line"]) == [("e", "f")]
    assert records_of(AWKWARD["one within a cell"]) == [("a\rb", "c"), ("a\r\nb", "d")]


def test_nothing_is_left_behind_unless_all_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, other = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text("a,b\n1,x\n2,y\n")
    other.write_text("a,c\n1,x\n2,y\n")
    out = tmp_path / "out"
    types = {"a": "integer"}
    with pytest.raises(UnreadableFile, match="same line of names"):
        import_csv([good, other], out, types=types)
    for wrong, choices in (
        (b"", {}),
        (b"1,2\n3,4\n", {}),
        (b"a,A\n1,2\n", {}),
        (b"a,b\n", {}),
        (b"\x89PNG\r\n\x1a\n", {}),
        (b"d,x\n01/02/2024,1\n03/04/2024,2\n", {}),
        (b"a,b\n1,2\n", {"types": {"c": "text"}}),
        (b"a,b\n1,2\n", {"types": {"a": "category"}}),
        (b"a,b\n1,2\n", {"encoding": "klingon"}),
    ):
        other.write_bytes(wrong)
        with pytest.raises((UnreadableFile, InvalidArgument)):
            import_csv([other], out, **choices)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "b.csv"]

    def stopped(*_: object) -> None:
        assert (tmp_path / ".out.unfinished").is_dir()
        assert not list(tmp_path.rglob("*.parquet"))
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(folder, "_typed", stopped)
        with pytest.raises(KeyboardInterrupt):
            import_csv([good], out, types=types)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "b.csv"]
    (tmp_path / ".out.unfinished").mkdir()  # a process was killed
    with pytest.raises(InvalidArgument, match=r"\.out\.unfinished"):
        import_csv([good], out, types=types)
    (tmp_path / ".out.unfinished").rmdir()
    assert import_csv([good, good], out, types=types).rows == 4
    before = {each.name: each.read_bytes() for each in out.iterdir()}
    with pytest.raises(InvalidArgument, match="must not exist"):
        import_csv([good], out, types=types)
    assert {each.name: each.read_bytes() for each in out.iterdir()} == before


def test_lines_without_end_are_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch, 1000)
    monkeypatch.setattr(text_lines, "LONGEST", 2500)
    data = b"a,b\n" + b"x" * 9000 + b"\n" + b"1," + b"y" * 2000 + b"\n" + b"z" * 2600 + b"\n2,2\n" + b"w" * 9000
    aside = Aside()
    found = list(text_lines.text_lines(io.BytesIO(data), "utf-8", aside))
    assert [int(number) for text in found for number in text.numbers] == [1, 3, 5]
    assert (aside.lines[TOO_LONG].count, aside.lines[TOO_LONG].first) == (3, [2, 4, 6])


def test_the_command_ends_with_a_source_to_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "my rides.csv", tmp_path / 'my "rides"'
    source.write_text("ward\tage\n" + "North\t40\n" * 30 + "South\telderly\n")
    assert main(["import-csv", str(source), str(out), "--column", "age=integer", "--delimiter", "tab"]) == 0
    said = capsys.readouterr().out
    assert "31 rows of 2 columns" in said
    assert " 1  line 32" in said
    assert "elderly" not in said
    (tmp_path / "sources.toml").write_text(said[said.index("[my-") :])
    (listed,) = configured_sources(tmp_path / "sources.toml")
    opened = listed.open()
    assert opened.rows() == 31
    assert opened.counts(Column(name="ward", type="category", categories=("North", "South"))).tolist() == [30, 1]
    assert opened.kinds["age"] == "integer"
    assert main(["import-csv", str(source), str(out)]) == 1
    assert main(["import-csv", str(tmp_path / "absent.csv"), str(out)]) == 1
    told = capsys.readouterr().err
    assert told.count("Trouble: ") == 2
    assert "Traceback" not in told
    with pytest.raises(SystemExit):
        main(["import-csv", str(source), str(out), "--column", "age=colour"])


def test_all_parts_have_one_shape(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("a,b\n1,x\n2,y\n")
    second.write_text("a,b\n1.5,\n,3\n")
    found = import_csv([first, second], tmp_path / "out", types={"a": "integer"})
    shapes = [pq.read_schema(part) for part in sorted((tmp_path / "out").iterdir())]
    assert shapes == [pa.schema([("a", pa.int64()), ("b", pa.string())])] * 2
    assert (found.columns[0].misfit.count, found.columns[0].missing, found.columns[1].missing) == (1, 1, 1)


def day(order: str, number: int) -> str:
    return order.format(d=f"{number % 9 + 1:02}", m=f"{number % 8 + 1:02}")


ROWS = range(100)
DECIDING: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "a decimal mark": ("who;x", [f"p{n};{1 + n % 9}.{100 + n}" for n in ROWS], ("px;1,5", "px;1.5")),
    "thousands": ("who;x", [f"p{n};{1 + n % 9},{100 + n}" for n in ROWS], ("px;1,5", "px;1.5")),
    "an order of days": (
        "who;x",
        [f"p{n};{day('{d}/{m}/2024', n)}" for n in ROWS],
        ("px;13/01/2024", "px;01/13/2024", "px;2024-01-13"),
    ),
    "decimals": ("who;x", [f"p{n};{10**17 + n}" for n in ROWS], ("px;1.5", "px;7")),
    "answers": ("who;x", [f"p{n};{n % 2}" for n in ROWS], ("px;2", "px;yes")),
    "a delimiter": ("n,x;who", [f"a,{n % 3};p{n}" for n in ROWS], ("px,a,b,c,d,e;1", "1;2")),
    "an encoding": ("who;x", [f"p{n};é" for n in ROWS], ("px;a\udce9\udc82",)),
}
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"delimiter": ";"},
    {"delimiter": ";", "types": {"x": "integer"}},
    {"delimiter": ";", "types": {"x": "number"}},
    {"delimiter": ";", "types": {"x": "date"}},
    {"delimiter": ";", "types": {"x": "date"}, "date_order": "dmy"},
    {"delimiter": ";", "types": {"x": "number"}, "decimal": ","},
    {"delimiter": ";", "types": {"x": "yes/no"}},
)


def moved(place: Path, case: str, every: tuple[dict[str, Any], ...] = CHOICES) -> list[dict[str, Any]]:
    """The choices with which one row more or less, or another one, changes how the other rows are read."""
    head, rows, deciding = DECIDING[case]
    found = []
    for number, choices in enumerate(every):
        read = []
        for at, more in enumerate(((), *((one,) for one in deciding))):
            source, out = place / f"{number}-{at}.csv", place / f"{number}-{at}"
            lines = "\n".join([head, *rows, *more, ""])
            source.write_bytes(lines.encode("utf-8", "surrogateescape"))
            try:
                import_csv([source], out, **choices)
            except (UnreadableFile, InvalidArgument):
                continue
            read.append(pq.read_table(out).slice(0, len(rows)))
        if any(one != read[0] for one in read):
            found.append(choices)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("case", list(DECIDING))
def test_no_row_decides_how_others_are_read(case: str, tmp_path: Path) -> None:
    assert not moved(tmp_path, case)


def test_taking_what_cells_suggest_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(folder, "check_stated", lambda reading, *_: seen.append(reading))

    def suggested(names: tuple[str, ...], _: object, types: dict[str, Any]) -> tuple[Column, ...]:
        columns = [column.suggestion for column in seen[-1].columns]
        return tuple(replace(one, type="text") if one.type == "category" else one for one in columns)

    monkeypatch.setattr(folder, "stated_columns", suggested)
    for number, case in enumerate(("a decimal mark", "an order of days", "decimals", "answers")):
        (tmp_path / str(number)).mkdir()
        assert moved(tmp_path / str(number), case, ({"delimiter": ";"},)), case


def test_what_must_be_stated_is_named_with_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "a.csv", tmp_path / "out"
    source.write_text("Made by hand\n\n" + "\n".join([HEADER, *(row(3 * number) for number in range(60))]) + "\n")
    assert main(["import-csv", str(source), str(out)]) == 1
    said = capsys.readouterr().err
    options = said.partition("correct: ")[2]
    assert shlex.split(options) == shlex.split(
        "--delimiter ';' --header-line 3 --column age=integer --column share=number --column day=date "
        "--column ill=yes/no --decimal , --date-order dmy"
    )
    assert not out.exists()
    assert main(["import-csv", str(source), str(out), *shlex.split(options)]) == 0
    assert "60 rows of 5 columns" in capsys.readouterr().out


def test_a_heading_steers_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither where it is to be copied, which bash reads as the name itself, nor in the table at the end."""
    source, name = tmp_path / "in.csv", "a\x1b]0;x\x07'\\\u202e"
    source.write_text(f'"{name}",b\n1,2\n', encoding="utf-8")
    assert main(["import-csv", str(source), str(tmp_path / "out")]) == 1
    suggested = capsys.readouterr().err
    [quoted] = re.findall(r"--column (\$'.*?=integer')", suggested)
    bash = subprocess.run(
        ["bash", "-c", f"printf %s {quoted}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert bash.stdout.decode() == f"{name}=integer"
    assert (
        main(["import-csv", str(source), str(tmp_path / "out"), "--column", f"{name}=integer", "--column", "b=text"])
        == 0
    )
    for said in (suggested, capsys.readouterr().out):
        assert said.replace("\n", "").isprintable()


def test_of_a_column_that_is_not_there_no_cell_is_printed(tmp_path: Path) -> None:
    """Where another line was stated than that of the names, names are cells, and may steer a terminal."""
    file = tmp_path / "a.csv"
    file.write_text("id,town,\x1b]0;code\x07\n1,Haifa,secret7\n2,Bonn,secret8\n", encoding="utf-8")
    for line in (1, 2):
        with pytest.raises(InvalidArgument, match="types must be of columns of the file") as refused:
            import_csv([file], tmp_path / "made", types={"zz": "integer"}, header_line=line)
        assert not {"Haifa", "secret7", "\x1b", "town"} & {*re.findall(r"\w+|[^\w]", str(refused.value))}
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("odd", [b"\0", b"\xff", b"\0\xd8\0"])
def test_a_byte_too_many_in_wide_text_is_refused(
    encoding: str, odd: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All behind it would be other letters; by replacing them, most rows were lost without a word."""
    rows = [f"{n},red\n".encode(encoding) for n in range(4000)]
    source = tmp_path / "wide.csv"
    source.write_bytes("id,colour\n".encode(encoding) + b"".join([*rows[:2000], odd, *rows[2000:]]))
    stated = {"encoding": encoding, "delimiter": ","}
    with pytest.raises(UnreadableFile):
        import_csv([source], tmp_path / "out", **stated)
    assert not (tmp_path / "out").exists()
    source.write_bytes("id,colour\n".encode(encoding) + b"".join(rows))
    import_csv([source], tmp_path / "out", **stated)
