"""Files that people brought and that were read wrong, or not at all."""

from __future__ import annotations

import numpy as np

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, column, rows, typed

HEBREW = 'שם,עיר,סכום\nדוד כהן,תל אביב,"12,345 ₪"\nרחל לוי,ירושלים,"1,200 ₪"\nמשה פרץ,חיפה,"987 ₪"\n'
ARABIC = "الاسم,المدينة\nأحمد محمد,القاهرة\nفاطمة علي,دمشق\nيوسف حسن,بغداد\n"


@case("brought", "Hebrew of Windows", HEBREW.encode("cp1255"))
def _(reading: Reading) -> None:
    assert reading.report.encoding == "cp1255"
    assert rows(reading)[0][:2] == ("דוד כהן", "תל אביב")
    assert typed(reading, "סכום") == [12345, 1200, 987]


@case("brought", "Arabic of Windows", ARABIC.encode("cp1256"))
def _(reading: Reading) -> None:
    assert reading.report.encoding == "cp1256"
    assert rows(reading)[1] == ("فاطمة علي", "دمشق")


@case("brought", "shekels between marks of direction", column(["\u200f12,345.50 ₪\u200f", "₪ 7.25", "1,000.00 ש״ח"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [12345.5, 7.25, 1000.0]


@case("brought", "ISO weeks", column(["2024-W01", "2024-W02", "2024W03", "2024-W04-3"]))
def _(reading: Reading) -> None:
    assert [str(day)[:10] for day in typed(reading, "x")] == ["2024-01-01", "2024-01-08", "2024-01-15", "2024-01-24"]


@case("brought", "weeks that no year has", column(["2024-W01", "2023-W53", "2024-W02", "2024-W03", "2024-W04"]))
def _(reading: Reading) -> None:
    assert reading.column("x").unparsable == 1


@case("brought", "years and months", column(["2024-01", "2024-02", "2024-03"]))
def _(reading: Reading) -> None:
    assert [str(day)[:10] for day in typed(reading, "x")] == ["2024-01-01", "2024-02-01", "2024-03-01"]


@case("brought", "days as eight digits", column(["20240131", "20240201", "20240202", "20231224"], "admitted"))
def _(reading: Reading) -> None:
    assert reading.column("admitted").type == "date"
    assert [each.label for each in reading.column("admitted").readings] == ["year first", "whole numbers"]
    assert str(typed(reading, "admitted")[0])[:10] == "2024-01-31"


@case("brought", "eight digits that are no days", column(["20240131", "20249901", "30240202", "20231224"], "n"))
def _(reading: Reading) -> None:
    assert reading.column("n").type == "integer"


def _survey() -> str:
    rng = np.random.Generator(np.random.PCG64(3))
    times = np.sort(rng.integers(1_704_000_000, 1_704_900_000, 60))
    return "Timestamp,Name,Score\n" + "".join(f"{np.datetime64(int(t), 's')},N{t},{t % 7}\n" for t in times)


@case("brought", "answers of a survey, sorted by time", _survey())
def _(reading: Reading) -> None:
    assert reading.column("Timestamp").type == "date"
    assert reading.suggested().each_row == "record"


@case(
    "brought",
    "working days",
    "day,x\n"
    + "".join(
        f"{d},{d.day % 5}\n"
        for d in np.array(
            [f"2024-01-{n:02}" for n in (2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19)], dtype="datetime64[D]"
        ).tolist()
    ),
)
def _(reading: Reading) -> None:
    assert reading.suggested().each_row == "step"


@case(
    "brought",
    "people numbered as observations",
    "Obs,GPA,TUCE\n" + "".join(f"{i},{i % 4}.5,2{i % 9}\n" for i in range(1, 33)),
)
def _(reading: Reading) -> None:
    assert reading.suggested().each_row == "record"


@case("brought", "years behind a number", "Obs,x,YEAR\n" + "".join(f"{i},{i % 7}.5,{1946 + i}\n" for i in range(1, 17)))
def _(reading: Reading) -> None:
    assert reading.suggested().each_row == "step"


@case("brought", "month ends", "month,x\n2024-01-31,1\n2024-02-29,2\n2024-03-31,4\n2024-04-30,3\n")
def _(reading: Reading) -> None:
    assert reading.suggested().each_row == "step"


@case(
    "brought",
    "chances of rain by day number",
    "day,Alma,Bert,rain\n" + "".join(f"{i},0.{i % 10},0.{9 - i % 10},{i % 2}\n" for i in range(1, 31)),
)
def _(reading: Reading) -> None:
    assert reading.suggested().each_row == "step"
    assert reading.column("rain").type == "yes/no"


for _name, _cells in {
    "id": [f"1,{i:03}" for i in range(1, 40)],
    "phone": [f"1,{7 * i:03}" for i in range(1, 40)],
    "customer_id": [f"1.{7 * i:03}" for i in range(1, 40)],
    "n": [f"1.{i:03}" for i in range(1, 40)],
}.items():

    @case("brought", f"grouped numbers under {_name}", column(_cells, _name))
    def _(reading: Reading, name: str = _name) -> None:
        assert len(reading.column(name).readings) == 2


@case("brought", "cells apart by blanks", "Chins  Situps Jumps\n5 162   60\n 2 110 60\n12  101 101\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("5", "162", "60"), ("2", "110", "60"), ("12", "101", "101")]
    assert reading.report.certain


@case("brought", "named rows apart by blanks", "t status\n0 35 0\n1 34 1\n2 32 0\n")
def _(reading: Reading) -> None:
    assert list(reading.frame.columns) == ["row", "t", "status"]
    assert rows(reading)[1] == ("1", "34", "1")


@case("brought", "sentences in one column", "answer\nno idea at all\nI do not know\nvery good indeed now\n")
def _(reading: Reading) -> None:
    assert reading.frame.shape == (3, 1)


@case(
    "brought",
    "three places after the point between commas",
    "year,jan,feb\n" + "".join(f"{1950 + i},2{i % 5}.{110 + i},2{i % 4}.{120 + i}\n" for i in range(61)),
)
def _(reading: Reading) -> None:
    assert reading.column("jan").type == "number"
    assert reading.column("year").type == "integer"
    assert reading.suggested().each_row == "step"


@case("brought", "one word in all cells", "k,kind,x\n" + "".join(f"{'ab'[i % 2]},rate,{i % 5}\n" for i in range(9)))
def _(reading: Reading) -> None:
    assert reading.column("kind").type == "text"


@case("brought", "months by name, then the day", column(["Jan-1-1995", "Feb-1-1995", "Mar-1-1995"], "x"))
def _(reading: Reading) -> None:
    assert str(typed(reading, "x")[1])[:10] == "1995-02-01"
