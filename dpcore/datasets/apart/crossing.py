"""A table on its way from the process that read it: one Arrow stream, looked at where it lies and never copied.

Whoever reads it trusts neither side of it: the process that wrote it may have been led astray by the file. Arrow checks
every offset and every character, and what stands beside the cells can be nothing but the report's own classes.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc

from dpcore.datasets import report
from dpcore.datasets.reading.engine import text_frame
from dpcore.datasets.reading.tabulate import Tabulated

_BESIDE = b"beside"
_KNOWN = {name: getattr(report, name) for name in ("Report", "Notice", "Alternative")}
_TEXT, _NUMBER = pa.large_string(), pa.int64()


class Garbled(Exception):
    """What came back is no table."""


def write(table: Tabulated, file: IO[bytes]) -> None:
    """The table as an Arrow stream: its columns, the line of each row, and its place where rows were set aside."""
    frame = table.frame
    columns = [_text(frame.iloc[:, place]) for place in range(frame.shape[1])]
    numbers = [table.lines] if table.places is None else [table.lines, table.places]
    beside = (
        [str(name) for name in frame.columns],
        table.report,
        {str(name): tuple(map(str, words)) for name, words in table.codebooks.items()},
        {str(name): str(about) for name, about in table.about.items()},
        table.records,
        sorted(map(str, table.from_rows)),
    )
    schema = pa.schema(
        [pa.field(f"c{place}", _TEXT) for place in range(len(columns))]
        + [pa.field(f"n{place}", _NUMBER) for place in range(len(numbers))],
        metadata={_BESIDE: pickle.dumps(beside, protocol=5)},
    )
    whole = pa.Table.from_arrays([*columns, *(pa.array(each, _NUMBER) for each in numbers)], schema=schema)
    with ipc.new_stream(file, schema) as stream:
        stream.write_table(whole)


def read(buffer: Any) -> Tabulated:
    """The table in ``buffer`` (anything with Python's buffer protocol), whose cells stay there. Raises Garbled."""
    try:
        found = ipc.open_stream(pa.py_buffer(buffer)).read_all()
        found.validate(full=True)
        names, told, codebooks, about, records, from_rows = _Beside(io.BytesIO(found.schema.metadata[_BESIDE])).load()
        width = len(names)
        if [field.type for field in found.schema] != [_TEXT] * width + [_NUMBER] * (found.num_columns - width):
            raise Garbled
        loose = frozenset(map(str, from_rows))
        lines, *places = (np.asarray(found.column(place)) for place in range(width, found.num_columns))
        if not isinstance(told, report.Report) or told.rows != found.num_rows or len(places) > 1:
            raise Garbled
    except (
        pa.ArrowException,
        pickle.UnpicklingError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        EOFError,
        OSError,
    ):
        raise Garbled from None
    return Tabulated(
        frame=text_frame(found.columns[:width], names),
        lines=lines,
        report=told,
        codebooks=codebooks,
        about=about,
        places=places[0] if places else None,
        records=records,
        from_rows=loose,
    )


def _text(column: pd.Series[Any]) -> Any:
    return pa.array(column.array, _TEXT)


class _Beside(pickle.Unpickler):
    """Makes reports, notices and alternatives of what it reads, and nothing else that has a name."""

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        if module != report.__name__ or name not in _KNOWN:
            raise pickle.UnpicklingError("not a part of a report")
        found: Callable[..., Any] = _KNOWN[name]
        return found
