"""A column of an extension type is read as what is stored of it, or as one without a value where these are records: by
the type alone, whoever registered such a type in this process."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pandas.core.arrays.arrow import extension_types as of_pandas_alone
from pyarrow import ipc

from dpcore.datasets import read_table, span_columns
from dpcore.datasets.reading import arrow_files
from dpcore.errors import Defect, UnreadableFile
from tests.datasets.typed_files import as_feather, as_parquet, as_stream

ROWS = 6


class Refused(pa.ExtensionType):  # type: ignore[misc]
    """One whose cells nobody can be handed."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "tests.refused")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, told: bytes) -> Refused:
        raise KeyError(told)


KNOWN = [Refused(pa.string()), of_pandas_alone._period_type, of_pandas_alone._interval_type]


@pytest.fixture(autouse=True)
def refused_is_known() -> Iterator[None]:
    pa.register_extension_type(KNOWN[0])
    yield
    pa.unregister_extension_type(KNOWN[0].extension_name)


@contextmanager
def known_to_nobody() -> Iterator[None]:
    for kind in KNOWN:
        pa.unregister_extension_type(kind.extension_name)
    try:
        yield
    finally:
        for kind in KNOWN:
            pa.register_extension_type(kind)


def of_pandas(cells: Any) -> pa.Array:
    return pa.Table.from_pandas(pd.DataFrame({"c": cells})).column(0).combine_chunks()


def of_words(cells: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(cells)), pa.int8()), cells)


def refused(cells: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(Refused(cells.type), cells)


DAYS = pd.date_range("2024-01-01", periods=ROWS + 1, tz="UTC")
FLAT: dict[str, pa.Array] = {
    **{f"period {of}": of_pandas(pd.period_range("2024", periods=ROWS, freq=of)) for of in ("Y", "Q", "M", "D", "s")},
    "texts": refused(pa.array([f"w{row}" for row in range(ROWS)])),
    "numbers": refused(pa.array([row / 4 for row in range(ROWS)])),
    "long texts": refused(pa.array([f"w{row}" for row in range(ROWS)], pa.large_string())),
}
RECORDS: dict[str, pa.Array] = {
    "bins": of_pandas(pd.cut([row + 0.5 for row in range(ROWS)], range(ROWS + 1))),
    "bins of nobody": of_pandas(pd.cut([float("nan")] * ROWS, range(ROWS + 1))),
    "interval": of_pandas(pd.arrays.IntervalArray.from_breaks([row / 2 for row in range(ROWS + 1)])),
    "interval of days": of_pandas(pd.arrays.IntervalArray.from_breaks(DAYS)),
    "lists": refused(pa.array([[row] for row in range(ROWS)])),
    "inside of one": pa.StructArray.from_arrays([FLAT["texts"]], ["c"]),
}


OF_NOBODY = ("lists", "inside of one")
"""Of a type that Arrow may not make: it hands out nothing of a Parquet file with one."""


def stored(cells: pa.Array) -> pa.Array:
    """The same cells of no such type."""
    if isinstance(cells.type, pa.BaseExtensionType):
        return cells.storage
    if pa.types.is_dictionary(cells.type):
        return pa.DictionaryArray.from_arrays(cells.indices, stored(cells.dictionary))
    return cells


def as_older_file(table: pa.Table) -> bytes:
    made = io.BytesIO()
    with ipc.new_file(made, table.schema, options=ipc.IpcWriteOptions(use_legacy_format=True)) as writer:
        writer.write_table(table)
    return made.getvalue()


Write = Callable[[pa.Table], bytes]
WRITES: list[Write] = [as_feather, as_stream, as_older_file, as_parquet]


def of(*cells: pa.Array) -> pa.Table:
    return pa.table([pa.array(range(ROWS)), *cells], [f"c{at}" for at in range(len(cells) + 1)])


WITHOUT = [[f"{row}", ""] for row in range(ROWS)]


def outcome(data: bytes) -> list[list[str]] | str:
    try:
        return read_table(data).frame.to_numpy().tolist()
    except UnreadableFile as error:
        return str(error)


def written_by(write: Write) -> list[pa.Array]:
    """Arrow writes no Parquet of a list of words of such a type, and hands out none of a type that it may not make."""
    if write is as_parquet:
        return [cells for cells in FLAT.values() if not isinstance(cells.type, Refused)]
    return [*FLAT.values(), *map(of_words, FLAT.values())]


def check(write: Write, *cells: pa.Array) -> None:
    data = write(of(*cells))
    found = outcome(data)
    assert found == outcome(write(of(*map(stored, cells))))
    assert isinstance(found, list)
    assert "" not in found[0]
    with known_to_nobody():
        assert outcome(data) == found


@pytest.mark.parametrize("write", WRITES)
def test_a_column_is_read_as_it_is_stored(write: Write) -> None:
    check(write, *written_by(write))


@pytest.mark.parametrize("write", WRITES)
def test_records_are_as_a_column_without_a_value(write: Write) -> None:
    for name, cells in RECORDS.items():
        if write is as_parquet and (pa.types.is_dictionary(cells.type) or name in OF_NOBODY):
            continue
        data = write(of(cells))
        assert outcome(data) == WITHOUT
        with known_to_nobody():
            assert outcome(data) == WITHOUT


@pytest.mark.parametrize("write", WRITES[:3])
def test_no_row_decides_whether_a_file_is_read(write: Write) -> None:
    """One whose cells are missing."""
    places = pa.array([None, *range(1, ROWS)])
    without = [cells.take(places) for cells in written_by(write)]
    whole, found = outcome(write(of(*written_by(write)))), outcome(write(of(*without)))
    assert found[1:] == whole[1:]
    assert found[0] == ["0", *[""] * len(without)]
    assert all(outcome(write(of(cells.take(places)))) == WITHOUT for cells in RECORDS.values())


def as_it_is_called(stream: pa.Buffer) -> pa.Buffer:
    return stream


@pytest.mark.defects
@pytest.mark.parametrize("name", FLAT)
def test_these_tests_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_files, "as_stored", as_it_is_called)
    with pytest.raises((AssertionError, Defect)):
        check(as_feather, of_words(FLAT[name]))
    with pytest.raises((AssertionError, Defect)):
        test_records_are_as_a_column_without_a_value(as_stream)


def test_a_note_of_such_a_type_says_as_well_which_columns_are_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": FLAT["texts"], "b": pa.array(range(ROWS), pa.duration("s"))})
    note = base64.b64encode(table.schema.serialize())
    assert list(span_columns.spans(note)) == [1]
    monkeypatch.setattr(span_columns, "as_stored", as_it_is_called)
    with pytest.raises(KeyError):
        span_columns.spans(note)


def test_types_of_arrow_itself_stay() -> None:
    """Stored, a UUID is bytes."""
    cells = pa.array([b"a" * 16] * ROWS, pa.uuid())
    (found, *_) = outcome(as_feather(of(cells, FLAT["texts"])))
    assert found == ["0", "61616161-6161-6161-6161-616161616161", "w0"]


def test_a_file_that_ends_before_its_schema_does_is_refused() -> None:
    data = as_feather(of(FLAT["texts"]))
    for end in (8, 12, 16, 40, 200):
        assert isinstance(outcome(data[:end]), str)
