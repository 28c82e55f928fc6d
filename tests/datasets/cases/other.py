"""Dates, yes and no, and tables with hardly anything in them."""

from __future__ import annotations

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, column, refused, rows, typed


@case("other", "ambiguous dates", column(["01/02/2024", "03/04/2024", "05/06/2024"], "when"))
def _(reading: Reading) -> None:
    assert reading.column("when").type == "date"
    assert [each.label for each in reading.column("when").readings] == ["day first", "month first"]
    assert reading.column("when").readings[1].examples[0] == ("01/02/2024", "2 January 2024")


@case("other", "dates that settle themselves", column(["01/02/2024", "25/04/2024", "05/06/2024"], "when"))
def _(reading: Reading) -> None:
    assert reading.column("when").certain
    assert str(typed(reading, "when")[0])[:10] == "2024-02-01"


@case("other", "ISO dates and times", column(["2024-01-31T10:20:30Z", "2024-02-01 11:00", "2024-02-03"], "when"))
def _(reading: Reading) -> None:
    assert reading.column("when").certain
    assert str(typed(reading, "when")[1]) == "2024-02-01 11:00:00"


@case("other", "clock times with zones", column(["2024-01-31T10:20:30+01:00", "2024-02-01T11:00:00Z"], "when"))
def _(reading: Reading) -> None:
    assert any("Time zones" in note for note in reading.column("when").notes)


@case("other", "none as an answer", "drug,x\nnone,1\naspirin,2\nnone,3\nibuprofen,4\naspirin,5\n")
def _(reading: Reading) -> None:
    assert reading.column("drug").missing == 2
    assert any("may be an answer" in note for note in reading.column("drug").notes)


@case("other", "serial dates", column(["45292", "45293", "45300", "45292"], "date"))
def _(reading: Reading) -> None:
    labels = [each.label for each in reading.column("date").readings]
    assert labels == ["whole numbers", "a spreadsheet's count of days since 1900"]
    assert reading.column("date").readings[1].examples[0] == ("45292", "1 January 2024")


@case("other", "gene names", column(["SEPT2", "MARCH1", "2-Sep", "1-Mar", "TP53", "DEC1"], "gene"))
def _(reading: Reading) -> None:
    assert reading.column("gene").type in ("text", "category")
    assert any("SEPT2" in note for note in reading.column("gene").notes)
    assert rows(reading)[2][1] == "2-Sep"


@case("other", "TRUE, yes and 1", column(["TRUE", "yes", "1", "FALSE", "no", "0"]))
def _(reading: Reading) -> None:
    assert reading.column("x").type == "yes/no"
    assert typed(reading, "x") == [True, True, True, False, False, False]


refused("degenerate", "empty", b"", "The file is empty")
refused("degenerate", "only blanks", b" \n\n \t\n", "The file is empty")


@case("degenerate", "heading only", "name,age\n")
def _(reading: Reading) -> None:
    assert (reading.frame.columns.tolist(), rows(reading)) == (["name", "age"], [])


@case("degenerate", "one row", "name,age\nAnn,31\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("Ann", "31")]


@case("degenerate", "one row without a heading", "3,31\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("3", "31")]
    assert not reading.report.header_certain


@case("degenerate", "all-missing column", "a,b\n1,\n2,NA\n3,\n")
def _(reading: Reading) -> None:
    assert reading.column("b").type == "text"
    assert reading.column("b").missing == 3


@case("degenerate", "constant column", "a,b\n1,x\n2,x\n3,x\n")
def _(reading: Reading) -> None:
    assert any("same value" in note for note in reading.column("b").notes)


@case("degenerate", "single class", "a,ill\n1,yes\n2,yes\n3,yes\n")
def _(reading: Reading) -> None:
    assert reading.column("ill").type == "yes/no"
    assert any("nothing to choose or predict" in note for note in reading.column("ill").notes)


@case("degenerate", "unique identifiers", "id,x\n" + "".join(f"{1000 + 7 * i},{i % 3}\n" for i in range(40)))
def _(reading: Reading) -> None:
    assert reading.column("id").identifier
    assert reading.column("id").type == "text"


@case("degenerate", "many rows per person", "patient id,x\n" + "".join(f"P{i // 5},{i % 3}\n" for i in range(100)))
def _(reading: Reading) -> None:
    assert any("several rows" in note for note in reading.column("patient id").notes)
