"""CSV files counted where they are: whatever one line holds, it moves what it counts for itself and nothing else."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import Form, InPlace, PrivateSource, lines, open_lines, together
from dpcore.datasets.in_place.private import OpenSource
from dpcore.errors import InvalidArgument, UnreadableFile

WARD = Column(name="ward", type="category", categories=("North", "South", '"North'), fill="South")
AGE = Column(name="age", type="integer", low=0, high=96)
SHARE = Column(name="share", type="number", low=-1, high=3.5, fill=0)
ILL = Column(name="ill", type="yes/no")
DAY = Column(name="day", type="date")
WHO = Column(name="who", type="text")
FORM = Form(
    columns=(
        *(("ward", "text"), ("age", "integer"), ("share", "number"), ("ill", "text"), ("day", "date"), ("who", "text")),
    )
)
HEADER = b"who,ward,left out,age,share,ill,day"
DECLARED = Declaration(columns=(WARD, AGE, SHARE, ILL, DAY, WHO), id_column="who", rows_per_person=2)
ALL = Declaration(columns=(WARD, AGE, SHARE, ILL, DAY))
LONG = 400  # bytes that a line may have in these tests

HOSTILE: tuple[bytes, ...] = (
    b'z,"North,x,5,0.5,yes,2024-01-01',
    b'"',
    b'z,North,x,"5\\","0.5""",yes,"2024-01-01',
    b"z\\,North,x,5,0.5,yes,2024-01-01\\",
    b"z,North,x,5,0.5,yes,2024-01-01,",
    b"," * 60,
    b"," * 6,
    b"z",
    b"",
    b" ",
    b"\r",
    b"z,North,x,5,0.5,yes,2024-01-01\rz,North,x,5,0.5,yes,2024-01-01",
    b"z,North,x,5,0.5,yes,2024-01-01\r\r",
    b"z,No\0rth,x,5,0.5,yes,2024-01-01",
    b"\0",
    b"\xef\xbb\xbfz,North,x,5,0.5,yes,2024-01-01",
    b"z,\xef\xbb\xbfNorth,x,5,0.5,yes,2024-01-01",
    b"z,N\xffrth,x,5,0.5,yes,2024-01-01",
    b"z,North,x,5,0.5,yes,2024-01-01\xe2\x80",
    b"\xa8z,North,x,5,0.5,yes,2024-01-01",
    b"z,\xed\xa0\x80,x,5,0.5,yes,2024-01-01",
    "z,North\u2028\x85,\x0b\x0c\x1c\x1e,5,0.5,yes,2024-01-01".encode(),
    b"z,North," + b"x" * 10 * LONG + b",5,0.5,yes,2024-01-01",
    b"\xff" * 10 * LONG,
    b"z,North,x,99999999999999999999999,1e999,yes,99999999-01-01",
    b"z,North,x,-9223372036854775808,-1.8e308,yes,infinity",
    b"z,North,x,1.5,nan,no,2024-02-30",
    b"z,North,x,0x10,inf,maybe,2024-01-01 25:00",
    b"# z,North,x,5,0.5,yes,2024-01-01",
    HEADER,
    b"'; DROP TABLE rows; --,North,x,5,0.5,yes,2024-01-01",
)


ROWS = {HOSTILE[0], *HOSTILE[2:4], HOSTILE[6], HOSTILE[16], HOSTILE[21], *HOSTILE[24:]}
"""Those that are a row, whatever its cells hold."""


def honest(number: int) -> bytes:
    ward, ill = (b"North", b"South", "Süd".encode())[number % 3], (b"yes", b"no")[number % 2]
    return b"p%d,%s,,%d,%.2f,%s,2024-01-%02d" % (number // 3, ward, number % 97, number % 4 - 0.5, ill, number % 28 + 1)


def counts(opened: InPlace) -> np.ndarray:
    """Everything that is asked of such a source, one after the other."""
    private = PrivateSource(lambda: opened)
    rows, alone = (
        private.opened(ALL.reads("ward", "age", "share", "ill", "day")),
        private.opened(DECLARED.reads("ward")),
    )
    values, sizes = rows.number_counts("age", unit=1.0)
    ages = np.zeros(97, dtype=np.int64)
    ages[values.astype(int)] = sizes
    first = np.datetime64("2024-01-01").item()
    looks = {"ward": None, "age": np.array([10.0, 50.0]), "share": np.array([0.25])}
    parts = (
        *([rows.rows, alone.rows], rows.counts("ward"), rows.counts("ward", where="ill"), alone.counts("ward"), ages),
        *(rows.day_counts("day", first, 28), rows.day_counts("day", first, 28, where="ill")),
        *(table.ravel() for table in rows.crossed("ill", looks)),
        rows.range_totals(["age", "share"], parts=64),
    )
    return np.concatenate([np.ravel(part) for part in parts]).astype(np.int64)


Ask = Callable[[InPlace], np.ndarray]


def of_wards_and_people(opened: InPlace) -> np.ndarray:
    alone = PrivateSource(lambda: opened).opened(DECLARED.reads("ward"))
    return np.array([alone.rows, *opened.counts(WARD)])


def folder(place: Path, *files: Sequence[bytes], end: bytes = b"\n") -> InPlace:
    place.mkdir(parents=True, exist_ok=True)
    for number, several in enumerate(files):
        text = b"\n".join((HEADER, *several)) + end
        (place / f"{number}.csv").write_bytes(text)
    return open_lines(place, FORM)


@pytest.fixture
def at_borders(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little at once that lines, and characters in them, lie across borders."""
    monkeypatch.setattr(lines, "AT_ONCE", 151)
    monkeypatch.setattr(lines, "LONGEST", LONG)


def each_moves_itself_alone(place: Path, hostile: Sequence[bytes], seeds: int = 1, ask: Ask = counts) -> bool:
    """Whether hostile lines among honest ones add what they count for where each has a file of its own."""
    honest_ones = [[honest(number) for number in range(40)], [honest(number) for number in range(40, 60)]]
    before = ask(folder(place / "honest", *honest_ones))
    alone = ask(folder(place / "alone", *([line] for line in hostile)))
    for seed in range(seeds):
        draw, several = random.Random(seed), [list(lines) for lines in honest_ones]
        for number, line in enumerate(hostile):
            into = several[number % 2]
            into.insert(draw.choice((0, draw.randrange(len(into)), len(into))), line)
        after = ask(folder(place / f"among {seed}", *several, end=b"\n" if seed % 2 else b""))
        if (after - before).tolist() != alone.tolist():
            return False
    return True


@pytest.mark.thorough
@pytest.mark.usefixtures("at_borders")
def test_a_line_moves_itself_alone(tmp_path: Path) -> None:
    assert each_moves_itself_alone(tmp_path, HOSTILE, seeds=3)


@pytest.mark.usefixtures("at_borders")
def test_a_line_is_one_row_or_none(tmp_path: Path) -> None:
    for line in HOSTILE:
        (tmp_path / "a.csv").write_bytes(HEADER + b"\n" + line)
        read = lines.Lines(files=(tmp_path / "a.csv",), form=FORM, names=("ward", "age"))
        assert sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(read)) == int(line in ROWS), line


@pytest.mark.usefixtures("at_borders")
@pytest.mark.parametrize("broken", ["cells may be quoted", "a mark is left out", "many lines are left out together"])
def test_readers_that_let_one_line_move_others_are_caught(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, checked = lines.arrow_csv.ParseOptions, lines._checked

    def quoted(**how: object) -> object:
        return parse(**how | {"quote_char": '"', "newlines_in_values": True})

    def together(block: bytes) -> Iterator[bytes]:
        return checked(block if all(map(lines.readable, block.split(b"\n"))) else b"")

    if broken == "cells may be quoted":
        monkeypatch.setattr(lines.arrow_csv, "ParseOptions", quoted)
    elif broken == "a mark is left out":  # only where what Arrow reads at once begins with it
        monkeypatch.setattr(lines, "_all_readable", lambda _: True)
    else:
        monkeypatch.setattr(lines, "_checked", together)
    hostile = {"cells may be quoted": HOSTILE[:1], "a mark is left out": HOSTILE[15:16]}.get(broken, HOSTILE[17:18])
    assert not each_moves_itself_alone(tmp_path, hostile * 8, ask=of_wards_and_people)


def test_lines_are_the_same_wherever_borders_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 6)
    draw = random.Random(4)
    letters = [
        b"a",
        b",",
        b'"',
        b"\r",
        b"\n",
        b"\r\n",
        b"\n",
        b"\0",
        b"\xff",
        "é".encode(),
        "\ufeff".encode(),
        b"aaaaa",
    ]
    kept = 0
    for _ in range(600):
        data = b"".join(draw.choices(letters, k=draw.randrange(40)))
        one_by_one = [line.removesuffix(b"\r") for line in data.split(b"\n")]
        right = [line for line in one_by_one if line and lines.readable(line)]
        for at_once in (1, 2, 5, 13, 1000):
            found = b"".join(lines.readable_lines(io.BytesIO(data), at_once))
            assert [line for line in found.split(b"\n") if line] == right, (data, at_once)
        kept += len(right)
    assert kept > 500


SPOILERS = (b"\xff", b"\0", b"a\rb", b"\xef\xbb\xbfa", b"x" * (lines.LONGEST + 1), b"\xed\xa0\x80")


def looked_at(block: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many lines are looked at one by one, and how many bytes at once, until the readable ones are known."""
    one_by_one, at_once = [], []
    readable, all_readable = lines.readable, lines._all_readable
    with monkeypatch.context() as patch:
        patch.setattr(lines, "readable", lambda line: one_by_one.append(1) or readable(line))
        patch.setattr(lines, "_all_readable", lambda many: at_once.append(len(many)) or all_readable(many))
        assert b"".join(lines._checked(block)).count(b"honest") == 40_000
    return len(one_by_one), sum(at_once)


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_one_unreadable_line_costs_next_to_nothing(spoiler: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the time of a charged question tells whether there is one, which is private."""
    half = "hönest,honest\n".encode() * 20_000
    assert looked_at(half + half, monkeypatch) == (0, 2 * len(half))
    for block in (half + spoiler + b"\n" + half, spoiler + b"\n" + half + half, half + half + spoiler + b"\n"):
        singly, together = looked_at(block, monkeypatch)
        assert singly <= lines._FEW / 10
        assert together <= 4 * len(block)


def test_a_reader_that_looks_at_every_line_beside_a_bad_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_FEW", 2**30)
    block = b"honest\n" * 40_000 + b"\xff\n"
    assert looked_at(block, monkeypatch)[0] > 40_000 > lines.AT_ONCE / 1000


@pytest.mark.thorough
@pytest.mark.parametrize("several_groupings", [True, False])
def test_lines_are_read_once_for_each_question(
    several_groupings: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many columns are looked at: else what one line costs is paid for each of them."""
    read, begun = lines.Lines._batches, []

    def batches(self: lines.Lines) -> Iterator[pa.RecordBatch]:
        begun.append(self)
        yield from read(self)

    monkeypatch.setattr(lines.Lines, "_batches", batches)
    made = folder(tmp_path, [honest(number) for number in range(40)])
    opened = replace(made, tongue=replace(made.tongue, several_groupings=several_groupings))
    looks: dict[str, np.ndarray | None] = {"age": np.array([10.0]), "share": np.array([0.25]), "ward": None}
    questions: tuple[Callable[[OpenSource], object], ...] = (
        *(lambda rows: rows.rows, lambda rows: rows.counts("ward"), lambda rows: rows.number_counts("age", unit=1.0)),
        *(lambda rows: rows.range_totals(["age", "share"], parts=64), lambda rows: rows.crossed("ill", looks)),
    )
    times = []
    for declared in (ALL, DECLARED):
        for ask in questions:
            begun.clear()
            ask(PrivateSource(lambda: opened).opened(declared.reads("ward", "age", "share", "ill")))
            times.append(len(begun))
    assert times == [1, 1, 1, 1, 1 if several_groupings else 3, 1, 1, 1, 1, 1]


def test_more_columns_than_an_engine_numbers_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = folder(tmp_path, [honest(number) for number in range(40)])
    rows = PrivateSource(lambda: opened).opened(ALL.reads("ward", "age", "share", "ill"))
    looks: dict[str, np.ndarray | None] = {"age": np.array([10.0]), "share": np.array([0.25]), "ward": None}
    wanted = [table.tolist() for table in rows.crossed("ill", looks)]
    for most in (1, 2):
        monkeypatch.setattr(together, "_AT_ONCE", most)
        assert [table.tolist() for table in rows.crossed("ill", looks)] == wanted
    unalike = replace(opened, tongue=replace(opened.tongue, several_groupings=False))
    one_by_one = PrivateSource(lambda: unalike).opened(ALL.reads("ward", "age", "share", "ill"))
    assert [table.tolist() for table in one_by_one.crossed("ill", looks)] == wanted


def test_a_line_without_end_is_never_held(tmp_path: Path) -> None:
    class Endless(io.RawIOBase):
        left, largest = 300, 0

        def read(self, size: int = -1) -> bytes:
            self.left, self.largest = self.left - 1, max(self.largest, size)
            return b"x" * size if self.left > 0 else b"\na\n"[: 3 * (self.left == 0)]

    endless = Endless()
    assert list(lines.readable_lines(endless, 100_000)) == [b"a\n"]
    assert endless.largest == 100_000


def test_cells_that_are_not_of_their_type_are_missing(tmp_path: Path) -> None:
    form = Form(columns=(("n", "integer"), ("x", "number"), ("d", "date")), delimiter=";", decimal=",")
    cells = [
        b"7",
        b" -7 ",
        b"1,5",
        b"1.5",
        b"1.234,5",
        b"",
        b"x",
        b"1e3",
        b"9223372036854775808",
        b"2024-03-01",
        b"31.3.",
    ]
    text = b'\xef\xbb\xbf"d"; x ;n\r\n' + b"".join(cell + b";" + cell + b";" + cell + b"\r\n" for cell in cells)
    (tmp_path / "a.csv").write_bytes(text)
    opened = open_lines(tmp_path, form)
    assert dict(opened.kinds) == {"n": "integer", "x": "number", "d": "moment"}
    found = opened.run(f'SELECT "n", "x", strftime("d", \'%Y-%m-%d\') FROM {opened.source}')  # noqa: S608
    empty = [(None, None, None)]
    assert sorted(found, key=str) == sorted(
        [
            *[(7, 7.0, None), (-7, -7.0, None), (1000, 1000.0, None), (None, 1.5, None), (None, 2.0**63, None)],
            *[(None, None, "2024-03-01")],
            *empty * 5,
        ],
        key=str,
    )


def test_only_files_with_the_stated_names_are_read_and_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "a.csv").write_bytes(b"age,ward\n5,North\n")
    (tmp_path / "more" / "b.csv").write_bytes(b"x,ward,age\nz,South,6\n")
    form = Form(columns=(("ward", "text"), ("age", "integer")))
    opened = open_lines(tmp_path, form)
    assert opened.counts(Column(name="ward", type="category", categories=("North", "South"))).tolist() == [1, 1]
    assert opened.rows() == 2
    for sql in (
        f"FROM read_csv('{tmp_path}/a.csv')",
        f"COPY {opened.source} TO '{tmp_path}/c'",
        "CREATE TABLE t (x INT)",
    ):
        with pytest.raises(UnreadableFile):
            opened.run(sql)
    for wrong in (b"", b"ward\nNorth\n", b"ward,age,age\n", b"ward;age\n", b'"ward,age\n', b"ward,\xff,age\n"):
        (tmp_path / "a.csv").write_bytes(wrong)
        for ask in (partial(open_lines, tmp_path, form), opened.rows):
            with pytest.raises(UnreadableFile, match="name") as caught:
                ask()
            assert str(tmp_path) not in str(caught.value)
    with pytest.raises(UnreadableFile, match="no CSV"):
        open_lines(tmp_path / "absent", form)


def test_a_form_that_is_none_is_refused() -> None:
    good = {"columns": (("a", "text"),)}
    Form(columns=(('a"b%c:d?', "text"),))
    for wrong in (
        *({"columns": ()}, {"columns": (("a", "text"), ("A", "text"))}, {"columns": ((" a", "text"),)}),
        *({"columns": (("", "text"),)}, {"columns": (("a", "other"),)}),
        *(good | {"delimiter": sign} for sign in ("", '"', "\n", "ab", "1")),
        *(good | {"decimal": sign} for sign in ("", ";", ",")),
    ):
        with pytest.raises(InvalidArgument):
            Form(**wrong)  # type: ignore[arg-type]


def test_any_name_of_a_column_is_only_a_name(tmp_path: Path) -> None:
    name = "a\"b%c:d?{}'"
    (tmp_path / "a.csv").write_text('"a""b%c:d?{}\'",x\nyes,1\nno,2\n JA ,3\nperhaps,4\n')
    for kind in ("text", "yes/no"):
        opened = open_lines(tmp_path, Form(columns=(("x", "integer"), (name, kind))))
        assert opened.kinds[name] == kind
        assert opened.counts(Column(name=name, type="yes/no")).tolist() == [1, 2]
