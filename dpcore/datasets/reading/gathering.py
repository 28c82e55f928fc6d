"""Records put together to columns of text, a batch at a time and within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import pyarrow as pa

from dpcore.datasets.reading.bounds import check_size, check_text
from dpcore.datasets.reading.engine import text_frame

_BATCH = 20_000


class Gathering:
    """Takes records one by one; names come as they appear, and a cell that a record lacks is empty."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._open: dict[str, list[str]] = {name: [] for name in names}
        self._done: dict[str, list[pa.Array]] = {name: [] for name in self._open}
        self._fresh = self._rows = self._text = self._longest = 0

    @property
    def rows(self) -> int:
        return self._rows + self._fresh

    @property
    def names(self) -> list[str]:
        return list(self._open)

    def add(self, record: Mapping[str, str]) -> None:
        """Raises UnreadableFile when it becomes too much."""
        for name, cell in record.items():
            column = self._open.get(name)
            if column is None:
                column = self._open[name] = [""] * self._fresh
                self._done[name] = [] if self._rows == 0 else [_empty(self._rows)]
                check_size(self.rows, len(self._open))
            column.append(cell)
            self._text += len(cell)
            self._longest = max(self._longest, len(cell))
        self._fresh += 1
        if len(record) < len(self._open):
            for column in self._open.values():
                if len(column) < self._fresh:
                    column.append("")
        if self._fresh == _BATCH:
            self._flush()

    def _flush(self) -> None:
        check_size(self.rows, len(self._open))
        check_text(self._text, self._longest)
        for name, column in self._open.items():
            self._done[name].append(_text(column))
            self._open[name] = []
        self._rows, self._fresh = self._rows + self._fresh, 0

    def frame(self) -> pd.DataFrame:
        """All records as columns of text."""
        if self._fresh:
            self._flush()
        columns = [pa.chunked_array(parts or [_empty(self._rows)]) for parts in self._done.values()]
        return text_frame(columns, list(self._done))


def _text(cells: list[str]) -> pa.Array:
    try:
        return pa.array(cells, pa.large_string())
    except UnicodeEncodeError:  # half a character, as JSON can hold it
        return pa.array([cell.encode("utf-8", "replace").decode() for cell in cells], pa.large_string())


def _empty(rows: int) -> pa.Array:
    return pa.array([""], pa.large_string()).take(pa.array([0] * rows, pa.int32()))
