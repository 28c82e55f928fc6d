"""Files made to break a reader, or that are no tables at all."""

from __future__ import annotations

import gzip
import io
import zipfile

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, column, refused, rows


@case(
    "hostile", "formula cells", column(['=HYPERLINK(""http://e.example"")', "@SUM(A1)", "+cmd|' /C calc'!A0", "fine"])
)
def _(reading: Reading) -> None:
    assert rows(reading)[0][1] == '=HYPERLINK("http://e.example")'
    assert any("start like a formula" in note for note in reading.column("x").notes)


def _zip(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"0" * 50_000_000)
    return file.getvalue()


def _names(count: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.csv", b"")
    return file.getvalue()


refused("hostile", "gzip bomb", lambda: gzip.compress(b"0,0\n" * 25_000_000), "far more than a table", heavy=True)
refused("hostile", "zip bomb", lambda: _zip("bomb.csv"), "far more than a table")
refused("hostile", "a zip archive that is no workbook", lambda: _zip("xl/workbook.xml"), "cannot be opened")
refused("hostile", "an archive of 10,001 names", lambda: _names(10_001), "far more files")
refused("hostile", "HTML page named csv", "\n<!DOCTYPE html><html><table><tr><td>1</td></tr></table>", "web page")
refused(
    "hostile", "10,001 columns", ",".join("abc" for _ in range(10_001)) + "\n" + "1," * 10_000 + "1\n", "10,001 columns"
)
refused(
    "hostile", "a field of 100 MB", lambda: b'a,b\n1,"' + b"x" * 100_000_000 + b'"\n', "line 2 holds more", heavy=True
)


@case(
    "hostile",
    "500 columns",
    ",".join(f"c{i}" for i in range(500)) + "\n" + (",".join("1" for _ in range(500)) + "\n") * 20,
)
def _(reading: Reading) -> None:
    assert reading.frame.shape == (20, 500)


refused(
    "hostile", "501 columns", ",".join(f"c{i}" for i in range(501)) + "\n" + (",".join("1" * 501) + "\n") * 3, "501"
)


@case(
    "hostile", "text that is slow for backtracking",
    lambda: column(["1" * 99_999 + "!", "1," * 30_000, "(" * 50_000, "a" * 60_000 + "@", "1-" * 40_000, " " * 90_000]),
)  # fmt: skip
def _(reading: Reading) -> None:
    assert len(reading.frame) == 6
    assert reading.column("x").type in ("text", "category")


@case("hostile", "control and separator characters in cells", 'a,b\n"x\u2028y",\x1f\nz\x0b,\x85w\n')
def _(reading: Reading) -> None:
    assert rows(reading) == [("x\u2028y", "\x1f"), ("z\x0b", "\x85w")]
