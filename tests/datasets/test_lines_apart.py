"""Where each line is a row, a line moves itself alone whatever it holds, however marks are written inside cells: one
whose cells both readers would not tell alike holds nothing, and no file is refused for it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.reading import lines_apart
from dpcore.datasets.report import Escape

pytestmark = pytest.mark.usefixtures("one_connection")
ODD: dict[str, tuple[Escape, str]] = {
    "a backslash at the end": ("backslash", "p,5,C:\\"),
    "a backslash alone": ("backslash", "\\"),
    "a backslash before a comma": ("backslash", "p,a\\,b,c"),
    "a backslash before the last comma": ("backslash", "p,5\\,c"),
    "text behind a mark": ("backslash", 'p,5,"a" b'),
    "a mark behind a mark": ("backslash", 'p,5,"a\\"" b'),
    "open": ("backslash", 'p,5,"C:\\"'),
    "open, too long": ("backslash", 'p,"5,a'),
    "a mark too many": ("backslash", 'p,5,"a"b"'),
    "two blanks before a mark": ("backslash", 'p,  "5,5",a'),
    "a mark too many, doubled": ("doubled", 'p,"5,a'),
    "text behind a mark, doubled": ("doubled", 'p,5,"a" b'),
    "two blanks before a mark, doubled": ("doubled", 'p,  "5,5",a'),
    "three blanks before a first mark, doubled": ("doubled", '   "p,5",a'),
}
"""Lines that took others along, or had the file refused."""
BLANKS_BEHIND = 'p,5,"a" '
"""Of marks before which a backslash stands both readers took it alike; not of doubled ones."""
READ = {
    "p,5,C:\\\\": ["p", "5", "C:\\\\"],
    "p,\\N,x": ["p", "\\N", "x"],
    'p,5,"a\\"b"': ["p", "5", 'a"b'],
    'p,5,"C:\\\\"': ["p", "5", "C:\\"],
    'p,5,"a\\,b"': ["p", "5", "a,b"],
    'p,5, "a\\"b"': ["p", "5", 'a"b'],
    'p,5,a"b\\c': ["p", "5", 'a"b\\c'],
    'p,5,"a""b"': ["p", "5", 'a"b'],
    'p,"a, ""b""","""c"': ["p", 'a, "b"', '"c'],
    'p,"",5""': ["p", "", '5""'],
}
SIGNS = ("a", "é", "\\", "\\", "\\\\", "MARK", "MARK", "MARKMARK", "\\MARK", "END", "END", "ENDMARK", " ", "  ", "\t",
         "5", "\\N")  # fmt: skip


def file(lines: list[str], mark: str = '"', end: str = ",", escape: Escape = "backslash") -> bytes:
    """These lines, each behind one that is as it should be."""
    inside = mark * 2 if escape == "doubled" else f"\\{mark}"
    usual = [end.join([f"r{row}", str(row), f"{mark}a{inside}{end}b{row}{mark}"]) for row in range(len(lines) + 1)]
    between = [one for pair in zip(usual, [*lines, ""], strict=True) for one in pair]
    return "\n".join([end.join(["name", "age", "path"]), *between]).encode()


def read(data: bytes, mark: str = '"', end: str = ",", escape: Escape | None = "backslash") -> Reading:
    said: dict[str, Any] = {"breaks": "between", "keep_footer": True, "uneven": "set aside", "header_rows": 1}
    said |= {"header_line": 1, "encoding": "utf-8", "returns": "in cells", "escape": escape}
    return read_table(data, quote=mark, delimiter=end, **said)


def check_others(found: Reading, rows: int, mark: str = '"', end: str = ",") -> None:
    """Those that are as they should be stand where they did, and hold what they held."""
    held = dict(zip(found.places, found.frame.to_numpy().tolist(), strict=True))
    for row in range(rows + 1):
        assert held[2 * row] == [f"r{row}", str(row), f"a{mark}{end}b{row}"], row


@pytest.mark.parametrize("name", ODD)
def test_a_line_whose_cells_are_not_clear_holds_nothing(name: str) -> None:
    escape, line = ODD[name]
    found = read(file([line], escape=escape), escape=escape)
    check_others(found, 1)
    assert (len(found.frame), found.report.spilled) == (2, 1)
    (said,) = (notice for notice in found.report.notices if "stays open" in notice.sentence)
    assert said.lines == (3,)


def test_what_both_readers_tell_alike_is_read() -> None:
    found = read(file(list(READ)))
    check_others(found, len(READ))
    assert found.frame.to_numpy().tolist()[1::2] == list(READ.values())
    assert found.report.spilled == 0


def drawn(count: int, mark: str, end: str) -> list[str]:
    draw = random.Random(f"{mark}{end}")
    lines = ("".join(draw.choices(SIGNS, k=draw.choice((1, 2, 3, 5, 9)))) for _ in range(count))
    return [line.replace("MARK", mark).replace("END", end) for line in lines]


@pytest.mark.parametrize("mark", ['"', "'"])
@pytest.mark.parametrize("end", [",", ";", "\t", " ", "|"])
@pytest.mark.parametrize("escape", ["backslash", "doubled"])
def test_drawn_lines_move_no_other(escape: Escape, end: str, mark: str) -> None:
    lines = drawn(400, mark, end)
    found = read(file(lines, mark, end, escape), mark, end, escape)
    check_others(found, len(lines), mark, end)
    assert 50 < found.report.spilled < 380


@pytest.mark.parametrize("end", [",", "\t", " "])
def test_a_line_without_a_backslash_is_read_as_where_marks_are_doubled(end: str) -> None:
    """Which it is nobody is asked of a file in which no line holds one."""
    lines = [f"r{end}5{end}{line.replace(chr(92), '')}" for line in [*drawn(300, '"', end), BLANKS_BEHIND]]
    heading = end.join(["name", "age", "path"])
    data = "\n".join([heading, f'r{end}5{end}"open', *lines]).encode()
    assert "escape" not in read(data, end=end, escape=None).report.decided
    doubled, behind = (read(data, end=end, escape=escape) for escape in ("doubled", "backslash"))
    assert 20 < doubled.report.spilled == behind.report.spilled
    assert doubled.frame.equals(behind.frame)
    assert list(doubled.places) == list(behind.places)


def test_a_way_that_nobody_stated_is_that_of_the_file_as_it_is() -> None:
    found = read(file([ODD["a backslash before a comma"][1], ODD["text behind a mark"][1]]), escape=None)
    check_others(found, 2)
    assert (found.report.escape, found.report.spilled) == ("backslash", 2)
    assert "escape" in found.report.decided


@pytest.mark.parametrize("name", ODD)
def test_these_tests_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_apart._Line, "told", lambda self, line: line)
    with pytest.raises((UnreadableFile, KeyError, AssertionError)):
        test_a_line_whose_cells_are_not_clear_holds_nothing(name)


def test_marks_that_are_not_read_as_doubled_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_apart._Line, "_as_stated", lambda self, cell: cell[0])
    with pytest.raises(UnreadableFile):
        test_a_line_without_a_backslash_is_read_as_where_marks_are_doubled(",")
