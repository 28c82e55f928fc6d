"""What a cell of a folder of Parquet files names hangs on its own file's type alone, never on how another is written.

One row without a number makes a month's whole numbers decimals. Read as those, ids of 18 digits of all other months
would be one and the same, and codes of eight digits with singles.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, open_folder, shape
from dpcore.errors import UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, MostCommonOption, QuantileValue

WHOLE = {"int32": 20_000_001, "int64": 10**18 + 1, "uint64": 10**19}
DECIMALS = ("float32", "float64")
PAID = Column(name="paid", type="category", categories=("card", "cash"))
ILL = Column(name="ill", type="yes/no")


def month(folder: Path, name: str, kind: str, codes: list[Any]) -> None:
    """Three rows of one person each, of whom one is ill."""
    folder.mkdir(parents=True, exist_ok=True)
    number = float if kind.startswith("float") else int
    rows = [None if code is None else number(code) for code in codes for _ in range(3)]
    paid = ["card" if at % 2 else "cash" for at in range(len(codes)) for _ in range(3)]
    cells = {"code": pa.array(rows, kind), "paid": paid, "ill": [at % 3 == 0 for at in range(len(rows))]}
    pq.write_table(pa.table(cells), folder / f"{name}.parquet")


def read(folder: Path, codes: list[int]) -> list[Any]:
    """What is counted for questions that a code says something for: whose a row is, an option, yes."""
    stored = open_folder(folder)
    private = PrivateSource(lambda: stored)
    whose = Declaration(
        columns=(PAID, ILL, Column(name="code", type="text")), id_column="code", rows_per_person=2, people=10
    )
    words = tuple(map(str, codes))
    option = Declaration(columns=(ILL, Column(name="code", type="category", categories=words)))
    answer = Declaration(columns=(ILL, Column(name="code", type="yes/no", yes_words=words[:1], no_words=words[1:])))
    asked: list[Any] = [
        NoisyCount.of(whose, epsilon=1.0),
        MostCommonOption.of(whose, "paid", epsilon=1.0),
        MostCommonOption.of(option, "code", epsilon=1.0),
        BestRule.of(option, ["code"], target="ill", epsilon=1.0),
        MostCommonOption.of(answer, "code", epsilon=1.0),
    ]
    for one in asked:
        private.check(one.reads)
    model = ScaledModel.of(option, target="ill", columns=["code"], epsilon=1.0, delta=1e-6)
    return [*(np.ravel(one.read(private)).tolist() for one in asked), model.read(private).counts().tolist()]


def changed(place: Path, whole: str, decimals: str) -> bool:
    """Whether a month of nobody's rows changes anything, by how that file is written."""
    codes = [WHOLE[whole] - at for at in range(5)]
    month(place / "without", "1", whole, codes)
    found = []
    for kind in (whole, decimals):
        shutil.rmtree(place / "with", ignore_errors=True)
        month(place / "with", "1", whole, codes)
        month(place / "with", "2", kind, [None])
        found.append(read(place / "with", codes))
    return found[0] != found[1]


@pytest.mark.thorough
@pytest.mark.parametrize("whole", list(WHOLE))
@pytest.mark.parametrize("decimals", DECIMALS)
def test_what_a_number_names_does_not_hang_on_other_files(tmp_path: Path, whole: str, decimals: str) -> None:
    assert not changed(tmp_path, whole, decimals)


def test_reading_all_files_as_the_widest_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "read_as", lambda _: None)
    for whole, decimals in (("int64", "float64"), ("int32", "float32")):
        assert changed(tmp_path / whole, whole, decimals)


def test_numbers_that_are_equal_are_one_person_in_whichever_file(tmp_path: Path) -> None:
    for at, (kind, cells) in enumerate(
        {"int64": [7, 2**53, 10**17, -1, 0], "float64": [7.0, 2.0**53, 1e17, -1.0, -0.0], "float32": [7.0]}.items()
    ):
        month(tmp_path, str(at), kind, cells)
    stored = open_folder(tmp_path)
    asked = NoisyCount.of(Declaration(columns=(Column(name="code", type="text"),), id_column="code"), epsilon=1.0)
    assert asked.read(PrivateSource(lambda: stored)) == 5
    assert stored.names == ("code", "paid", "ill")
    assert stored.kinds["code"] == "number"


def test_a_code_of_17_digits_is_one_option_in_a_file_of_decimals_alone(tmp_path: Path) -> None:
    found = []
    for kind in ("int64", "float64"):
        month(tmp_path / kind, "1", kind, [10**17, 5, None])
        stored = open_folder(tmp_path / kind)
        column = Column(name="code", type="category", categories=("100000000000000000", "5"))
        found.append(
            MostCommonOption.of(Declaration(columns=(column,)), "code", epsilon=1.0)
            .read(PrivateSource(lambda stored=stored: stored))
            .tolist()
        )
    assert found == [[3, 3], [3, 3]]


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64(), pa.decimal128(5, 1), pa.decimal256(60, 1)])
def test_yes_is_named_so_whatever_another_file_holds(tmp_path: Path, kind: pa.DataType) -> None:
    options, found = ("true", "1", "0", "false"), []
    for at, files in enumerate(([], [pa.array([None], kind)], [pa.array([1], pa.int8()).cast(kind)])):
        for nth, cells in enumerate([pa.array([True, False, True]), *files]):
            (tmp_path / f"{at}").mkdir(exist_ok=True)
            pq.write_table(pa.table({"code": cells}), tmp_path / f"{at}" / f"{nth}.parquet")
        stored = open_folder(tmp_path / f"{at}")
        found.append(stored.counts(Column(name="code", type="category", categories=options)).tolist())
        asked = NoisyCount.of(Declaration(columns=(Column(name="code", type="text"),), id_column="code"), epsilon=1.0)
        assert asked.read(PrivateSource(lambda stored=stored: stored)) == 2
    assert found == [[2, 0, 0, 1], [2, 0, 0, 1], [2, 1, 0, 1]]


def test_a_median_is_of_every_number_as_it_is(tmp_path: Path) -> None:
    month(tmp_path, "1", "int32", [20_000_001])
    month(tmp_path, "2", "float32", [20_000_000, None])
    stored = PrivateSource(lambda: open_folder(tmp_path))
    column = Column(name="code", type="number", low=19_999_990.0, high=20_000_010.0)
    asked = QuantileValue.of(Declaration(columns=(column,)), "code", epsilon=1.0)
    values, sizes = stored.opened(asked.reads).number_counts("code", unit=1.0)
    assert dict(zip(values.tolist(), sizes.tolist(), strict=True)) == {20_000_000: 3, 20_000_001: 3}


def test_names_of_folders_and_columns_stay_what_they_are(tmp_path: Path) -> None:
    for at, kind in enumerate(("int64", "float64")):
        table = pa.table({"x as text": ["a"], "x": pa.array([1], kind), "Y": [at]})
        (tmp_path / f"ward={at}").mkdir()
        pq.write_table(table, tmp_path / f"ward={at}" / "it's.parquet")
    stored = open_folder(tmp_path)
    assert stored.names == ("x as text", "x", "Y", "ward")
    assert sorted(stored.run(f"SELECT x, ward FROM {stored.source}")) == [(1.0, "0"), (1.0, "1")]  # noqa: S608
    assert stored.counts(Column(name="x", type="category", categories=("1",))).tolist() == [2]


def test_no_sign_of_a_path_stands_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is read once, and none of a folder beside."""
    month(tmp_path / "x", "a*", "int64", [1])
    month(tmp_path / "x", "ab", "float64", [2])
    assert open_folder(tmp_path / "x").rows() == 6
    with monkeypatch.context() as forgetting:
        forgetting.setattr(shape, "_path", lambda file: f"'{file}'")
        shape.one_table.cache_clear()
        assert open_folder(tmp_path / "x").rows() == 9
    month(tmp_path / "[x]", "a", "int64", [1])
    with pytest.raises(UnreadableFile, match="call it something else"):
        open_folder(tmp_path / "[x]")
