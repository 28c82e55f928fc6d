"""An index without a name is no column either where another program wrote the table anew, as a file of any kind."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

from dpcore.datasets import Reading, read_table
from dpcore.datasets.importing import folder as importing
from dpcore.datasets.importing import import_csv
from dpcore.datasets.reading import columns, kinds, layout
from dpcore.errors import UnreadableFile
from tests.datasets.test_rewritten_columns import in_bytes
from tests.datasets.test_unnamed_index import COUNT, LESS, WHOLE, as_parquet

pytestmark = pytest.mark.usefixtures("one_connection")
INDEX = "__index_level_0__"
Write = Callable[[pd.DataFrame, Path], bytes]


def written(frame: pd.DataFrame) -> pa.Table:
    """As pandas hands a table to Arrow, whose programs know nothing of its notes."""
    return pa.Table.from_pandas(frame).replace_schema_metadata()


def by_arrow(frame: pd.DataFrame, _: Path) -> bytes:
    made = io.BytesIO()
    csv.write_csv(written(frame), made)
    return made.getvalue()


def by_duckdb(kind: str) -> Write:
    def write(frame: pd.DataFrame, folder: Path) -> bytes:
        (folder / "a.parquet").write_bytes(as_parquet(frame))
        with closing(duckdb.connect()) as connection:
            connection.execute(f"COPY (FROM '{folder / 'a.parquet'}') TO '{folder / 'b'}' (FORMAT {kind})")
        return (folder / "b").read_bytes()

    return write


def by_pandas(way: str, **how: Any) -> Write:
    return lambda frame, _: in_bytes(written(frame).to_pandas(), way, **how)


def by_readstat(way: str) -> Write:
    def write(frame: pd.DataFrame, folder: Path) -> bytes:
        getattr(pyreadstat, f"write_{way}")(written(frame).to_pandas(), folder / "a")
        return (folder / "a").read_bytes()

    return write


def in_lists(frame: pd.DataFrame, _: Path) -> bytes:
    held = written(frame)
    return json.dumps([held.column_names, *zip(*held.to_pydict().values(), strict=True)], default=str).encode()


FILES: dict[str, tuple[Write, dict[str, Any]]] = {
    "CSV by Arrow": (by_arrow, {}),
    "CSV by DuckDB": (by_duckdb("csv"), {}),
    "CSV": (by_pandas("to_csv", index=False), {}),
    "tabs": (by_pandas("to_csv", index=False, sep="\t"), {}),
    "a sheet": (by_pandas("to_excel", index=False), {}),
    "JSON by DuckDB": (by_duckdb("json"), {}),
    "JSON": (by_pandas("to_json", orient="records", date_format="iso"), {}),
    "JSON by column": (by_pandas("to_json", orient="columns", date_format="iso"), {"objects": "columns"}),
    "JSON in lists": (in_lists, {"header_rows": 1}),
    "Stata": (by_readstat("dta"), {}),
    "SAS transport": (by_readstat("xport"), {}),
}


@pytest.mark.parametrize("less", LESS)
@pytest.mark.parametrize("kind", FILES)
def test_which_rows_count_hangs_on_no_index(kind: str, less: str, tmp_path: Path) -> None:
    write, stated = FILES[kind]
    read = read_table(write(LESS[less], tmp_path), **stated)
    assert list(read.frame.columns) == ["answer", "word"]
    assert COUNT.read(read.private) == LESS[less].notna().any(axis=1).sum()


@pytest.mark.parametrize("kind", FILES)
def test_a_reader_that_keeps_it_is_found_out(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "without_unnamed_index", lambda frame: frame)
    monkeypatch.setattr(layout, "is_unnamed_index", lambda _: False)
    write, stated = FILES[kind]
    whole, less = (
        COUNT.read(read_table(write(LESS[n], tmp_path), **stated).private) for n in ("whole", "without a row")
    )
    assert less > whole


def with_index(text: str, *places: int, heading: int = 1, named: int = 0) -> bytes:
    """These lines with such a column before each of these places, whose name is in one of the lines of names."""
    lines = [line.split(",") for line in text.splitlines()]
    for number, cells in enumerate(lines):
        for place in reversed(places):
            cells.insert(place, str(number) if number >= heading else INDEX if number == named else "")
    return "\n".join(map(",".join, lines)).encode()


def same(one: Reading, other: Reading) -> bool:
    return (
        one.frame.equals(other.frame)
        and one.places.tolist() == other.places.tolist()
        and (one.records, one.from_rows, one.report.keep_footer)
        == (other.records, other.from_rows, other.report.keep_footer)
    )


ROWS = "\n".join(f"{row % 7},{'abc'[row % 3]},{row}" for row in range(20))
TEXTS = {
    "plain": f"x,word,n\n{ROWS}\n",
    "rows without anything": f"x,word,n\n,,\n{ROWS}\n , ,\n5,,\n,,\n",
    "a total": f"x,word,n\n{ROWS}\nTotal,,190\n",
    "a note": f"x,word,n\n{ROWS}\nas of May,,\n",
    "a cell that is called so": f"x,word,n\n{ROWS}\n5,{INDEX},7\n",
}


@pytest.mark.parametrize("places", [(3,), (0,), (1,), (0, 3), (2, 2, 3)])
@pytest.mark.parametrize("text", TEXTS)
def test_wherever_and_however_often_it_stands_a_text_reads_as_without(text: str, places: tuple[int, ...]) -> None:
    one = {"header_rows": 1, "delimiter": ","}
    assert same(read_table(with_index(TEXTS[text], *places), **one), read_table(TEXTS[text].encode(), **one))
    two = {"header_rows": 2, "delimiter": ","}
    plain = TEXTS[text].replace("\n", "\n(cm),(in words),(no)\n", 1)
    for named in (0, 1):
        found = read_table(with_index(plain, *places, heading=2, named=named), **two)
        assert same(found, read_table(plain.encode(), **two))


def test_a_reader_that_looks_at_its_cells_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "unnamed_index", lambda _: ())
    for text in TEXTS.values():
        assert not same(read_table(with_index(text, 3), header_rows=1), read_table(text.encode(), header_rows=1))


def test_a_name_that_stands_twice_in_a_parquet_file_is_none_either() -> None:
    held, made = written(LESS["without a row"]), io.BytesIO()
    pq.write_table(held.append_column(INDEX, held.column(2)), made)
    assert list(read_table(made.getvalue()).frame.columns) == ["answer", "word"]


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_nothing_else_is_refused_in_a_sentence(kind: str, tmp_path: Path) -> None:
    write, stated = FILES[kind]
    if "delimiter" not in stated and kind.startswith(("CSV", "tabs")):
        stated = {"delimiter": ",", "header_rows": 1}
    with pytest.raises(UnreadableFile, match="no column but an index of pandas"):
        read_table(write(WHOLE[[]].drop(7), tmp_path), **stated)


def test_files_with_and_without_it_are_imported_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [WHOLE[["word"]].assign(other="x").drop(gone) for gone in ([], [7], [23], [3, 9])]
    sources = [tmp_path / f"{at}.csv" for at in range(len(texts))]
    for source, frame in zip(sources, texts, strict=True):
        source.write_bytes(by_arrow(frame, tmp_path))
    for number, order in enumerate((sources, sources[::-1])):
        found = import_csv(order, tmp_path / f"in {number}")
        assert found.rows == sum(map(len, texts))
        made = pq.read_table(tmp_path / f"in {number}").to_pandas()
        assert made.equals(pd.concat(texts if order is sources else texts[::-1], ignore_index=True).astype(made.dtypes))
    monkeypatch.setattr(importing, "is_unnamed_index", lambda _: False)
    with pytest.raises(UnreadableFile):
        import_csv(sources, tmp_path / "none")
