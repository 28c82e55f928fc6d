"""Names of columns, titles above them and totals below."""

from __future__ import annotations

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, names, notice, rows


@case("header", "duplicate names", "a,b,a,a\n1,x,2,3\n4,y,5,6\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["a", "b", "a (2)", "a (3)"]
    assert rows(reading)[0] == ("1", "x", "2", "3")
    assert notice(reading, "more than once").columns == ("a (2)", "a (3)")


@case("header", "blank name", "a,,c\n1,x,2\n4,y,5\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["a", "column 2", "c"]
    assert notice(reading, "without a name").count == 1


@case("header", "none", "1,2.5,x\n2,3.5,y\n3,4.5,x\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["column 1", "column 2", "column 3"]
    assert len(reading.frame) == 3
    assert reading.report.header_lines == ()


@case("header", "none, words only", "red,big\nblue,small\nred,small\nred,big\nblue,big\n")
def _(reading: Reading) -> None:
    assert len(reading.frame) == 5
    assert not reading.report.header_certain


@case("header", "lines above the table", "Report of 2024\nfor the council\n\nname,age\nAnn,31\nBob,45\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["name", "age"]
    assert rows(reading) == [("Ann", "31"), ("Bob", "45")]
    assert notice(reading, "above the table").lines == (1, 2)


@case("header", "padded lines above the table", "Report of 2024,,\nname,age,town\nAnn,31,X\nBob,45,Y\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["name", "age", "town"]
    assert notice(reading, "above the table").texts == ("Report of 2024  ",)


@case("header", "two rows, groups", ",2023,,2024,\nname,q1,q2,q1,q2\nAnn,1,2,3,4\nBob,5,6,7,8\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["name", "2023 q1", "2023 q2", "2024 q1", "2024 q2"]
    assert len(reading.frame) == 2
    assert not reading.report.header_certain


@case("header", "two rows, units", "weight,height\n(kg),(cm)\n70,180\n60,165\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["weight (kg)", "height (cm)"]
    assert len(reading.frame) == 2


@case("header", "years as names", "country,1952,1957,1962\nA,28.1,30.3,31\nB,55,56.2,57\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["country", "1952", "1957", "1962"]
    assert not reading.report.header_certain


@case("header", "TOTAL footer", "ward;cases\nNorth;10\nSouth;20\nEast;5\n;\nTOTAL;35\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("North", "10"), ("South", "20"), ("East", "5")]
    assert notice(reading, "Totals or notes").texts == ("TOTAL 35",)
    assert notice(reading, "without anything").lines == (5,)


@case("header", "note at the foot", "ward,cases,year\nNorth,10,1\nSouth,20,1\nEast,5,1\nSource: the council\n")
def _(reading: Reading) -> None:
    assert len(reading.frame) == 3
    assert notice(reading, "Totals or notes").lines == (5,)


@case(
    "header",
    "a category called Total",
    "kind,n\nTotal,1\nPart,2\nTotal,3\nPart,4\n" * 1 + "Part,1\nTotal,2\n" * 20 + "Part,5\n",
)
def _(reading: Reading) -> None:
    assert len(reading.frame) == 45


@case("header", "a name of 10 KB", "a," + "x" * 10_240 + "\n1,2\n3,4\n")
def _(reading: Reading) -> None:
    assert len(names(reading)[1]) == 120
    assert notice(reading, "shortened").count == 1


@case("header", "HTML and script", "<b>age</b>,<script>alert(1)</script>\n1,<img src=x onerror=alert(1)>\n2,x\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["<b>age</b>", "<script>alert(1)</script>"]


@case("header", "Markdown image and link", "![x](http://e.example/a.png),[click](javascript:alert)\n1,2\n3,4\n")
def _(reading: Reading) -> None:
    assert names(reading)[0] == "![x](http://e.example/a.png)"


@case("header", "bidirectional and zero-width characters", "a\u202egpj.exe,b\u200bc\n1,2\n3,4\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["a\u202egpj.exe", "b\u200bc"]


@case("header", "look-alike names", "age,аge,AGE ,income\n1,2,3,4\n5,6,7,8\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["age", "аge", "AGE", "income"]
    assert set(notice(reading, "look alike").columns) == {"age", "аge", "AGE"}
