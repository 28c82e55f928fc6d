"""Samples by name. ``samples()`` says what there is without loading any; ``load_sample`` gives one as a table."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.entry import Progress, Request, Sample
from dpcore.datasets.private_rows import PrivateRows
from dpcore.datasets.stopping import each
from dpcore.datasets.table import Table
from dpcore.errors import InvalidArgument

if TYPE_CHECKING:  # it loads DuckDB
    from dpcore.datasets.reading.reader import Tables

_CATALOG = "dpcore.datasets.catalog"


@cache
def samples() -> tuple[Sample, ...]:
    """Every sample, the best first example first. Raises RuntimeError when two claim one key."""
    found: list[Sample] = []
    for info in pkgutil.iter_modules(importlib.import_module(_CATALOG).__path__):
        found.extend(importlib.import_module(f"{_CATALOG}.{info.name}").SAMPLES)
    if len({sample.key for sample in found}) != len(found):
        raise RuntimeError("two samples have the same key")
    return tuple(sorted(found, key=lambda sample: (sample.rank, sample.key)))


def sample(name: str) -> Sample:
    """What is known about one sample. Raises InvalidArgument for a name that is not among ``samples()``."""
    for known in samples():
        if known.key == name:
            return known
    raise InvalidArgument("name", "must be one of the samples")


def load_sample(
    name: str, *, path: str | Path | None = None, progress: Progress | None = None, tables: Tables | None = None
) -> Table:
    """The sample as a typed table. Not cached here: the caller decides how long to keep it.

    ``path`` is a file of the person's own, for samples with ``path_allowed``. ``progress(fraction, words)`` is called
    while a sample is fetched; ``tables`` as in ``read_table``. Raises InvalidArgument, and UnavailableSample when it
    needs a file or a network that is not there.
    """
    known = sample(name)
    if path is not None and not known.path_allowed:
        raise InvalidArgument("path", "is not used by this sample")
    frame = known.load(Request(path=None if path is None else Path(path), progress=progress, tables=tables))
    applied = apply(known.schema, frame)
    lineage = f"sample:{name}"
    return applied.table(fingerprint=f"{lineage}:{_digest(applied.frame, repr(applied.schema))}", lineage=lineage)


def sample_rows(name: str, *, path: str | Path | None = None, progress: Progress | None = None) -> PrivateRows:
    """The rows of a sample as a release takes them, for practice. Arguments and errors as ``load_sample``."""
    known = sample(name)
    if path is not None and not known.path_allowed:
        raise InvalidArgument("path", "is not used by this sample")
    return PrivateRows(known.load(Request(path=None if path is None else Path(path), progress=progress)))


def expanded(table: Table, *, option: str, count: str) -> Table:
    """A table of counts as a table of people: each option repeated as often as its count, other columns left out.

    Raises InvalidArgument when the table is not one of options.
    """
    if table.schema.each_row != "option":
        raise InvalidArgument("table", "must hold options with their counts")
    column = table.schema.column(option)
    if not table.complete(option, count).all():
        raise InvalidArgument("table", "must not have missing cells")
    times = np.maximum(np.rint(table.numbers(count)), 0).astype(np.int64)
    repeated = table.frame[option].take(np.repeat(np.arange(table.rows), times)).reset_index(drop=True)
    return replace(
        table,
        frame=pd.DataFrame({option: repeated}),
        schema=replace(table.schema, columns=(column,), each_row="record"),
        fingerprint=f"{table.fingerprint}/expanded",
    )


def _digest(frame: pd.DataFrame, declared: str) -> str:
    """SHA-256 of every cell in order, and of the declaration."""
    digest = hashlib.sha256(declared.encode())
    for name in frame.columns:
        digest.update(f"|{len(name)}:{name}|".encode())
        digest.update(_bytes(frame[name]))
    return digest.hexdigest()


def _bytes(column: pd.Series) -> bytes:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(dtype=np.int32).tobytes()
    if isinstance(column.dtype, pd.StringDtype):
        return "".join(f"{len(word)}:{word}" for word in each(column.fillna("\0"))).encode("utf-8", "surrogatepass")
    missing = column.isna().to_numpy(dtype=bool)
    filled = column.fillna(False if column.dtype == "boolean" else 0) if missing.any() else column
    kind = {"boolean": "bool", "Int64": "int64"}.get(str(column.dtype), str(column.dtype))
    return missing.tobytes() + filled.to_numpy(dtype=kind).tobytes()
