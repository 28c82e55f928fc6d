"""Whether all Parquet files of a folder are one table, by what their footers say; no row is read for it.

A file whose columns do not fit the others would make a question fail only once it is read, after the charge, and by
what its cells hold. So files must agree in names and types, but for whole numbers and doubles of several sizes, which
are read as the widest of them: a month with a gap is often written as doubles, and one of nothing but gaps without a
type, which is then that of the other files. What such a cell names (whose row it is,
an option) is told by its own file's type, for as a double an id of 18 digits is that of many others: see ``Shape``.

Columns in which a cell may hold what DuckDB cannot read are left out: times of day, JSON, lists and the like; and spans
of time, which it takes for numbers: see ``span_columns``. Points in time in milliseconds, which reach further than its
own, are read beside the others: see ``milliseconds``. All of it hangs on the type of a column alone.
"""

from __future__ import annotations

import glob
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import column, quoted_name

from dpcore.datasets import made_of
from dpcore.datasets.declaration import Stated
from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.in_place.range_columns import RangeColumns, range_columns
from dpcore.datasets.in_place.tongue import PARQUET, Cell, DuckDB
from dpcore.datasets.span_columns import NOTE, spans
from dpcore.datasets.temporary import private_folder
from dpcore.datasets.unnamed_index import is_unnamed_index
from dpcore.errors import UnreadableFile

UNLIKE = "The Parquet files of this folder differ in the names or types of their columns; ask who writes them."
NO_COLUMN = "The Parquet files of this folder have no column that can be read safely."
PATTERN = "The path of this folder holds *, ? or [, which would name other folders as well; call it something else."
_DECIMALS = {"FLOAT", "DOUBLE"}
_NUMBERS = {"INT32", "INT64", *_DECIMALS}
_SAID = "file_name, name, type, converted_type, logical_type, num_children, scale, precision, type_length"
_SIZES = {None, *(f"{sign}INT_{size}" for sign in ("", "U") for size in (8, 16, 32, 64))}
_ANY_NUMBER = "any number"
_NOTES = "SELECT DISTINCT value FROM parquet_kv_metadata({}) WHERE key = ?"
_NOT_READ = re.compile(r"(?s:(STRUCT|MAP|UNION|VARIANT|JSON|GEOMETRY)\b.*|.*\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A selection of all rows, and by a column's name that of another one, which holds the same cells as texts.

    There is one wherever some files write decimals and others whole numbers, or decimals of another size: the column
    itself holds doubles then, and its texts are those of each file's own type.

    ``kinds`` are the types of all columns, in their order, and ``late``, with their time zones, the points in time that
    the selection is without: they are read beside it (``milliseconds``), and ``files`` are then the rows of each file.
    ``form`` is what the files say of those that they were made of, where answers say it.
    """

    selection: str
    kinds: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    late: Mapping[str, str | None] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    form: tuple[Stated, ...] = ()


@lru_cache(maxsize=16)
def one_table(folder: Path, state: str) -> Shape:
    """All columns that can be read safely, of all files in ``folder`` and below it.

    ``state`` changes with the files. Raises UnreadableFile where they are not of one shape.
    """
    if glob.escape(str(folder)) != str(folder):
        raise UnreadableFile(PATTERN)
    every = "'" + str(folder / "**" / "*.parquet").replace("'", "''") + "'"
    footers = f"SELECT {_SAID} FROM parquet_schema({every})"  # noqa: S608 - the server's own folder
    try:
        with private_folder() as overflow, in_memory(overflow, reach=str(folder)) as connection:
            every_leaf = connection.execute(footers).fetchall()
            notes = connection.execute(_NOTES.format(every), [made_of.KEY.encode()]).fetchall()
            types = connection.execute(_NOTES.format(every), [NOTE]).fetchall()
            ranges = range_columns(connection, every, every_leaf)
            stored = _without_unnamed_index(every_leaf)
            leaves = ranges.leaves(stored)
            in_some = len(stored) < len(every_leaf) or bool(ranges.numbers)  # columns that other files do not hold
            widened = _widened(leaves) or in_some
            read = ranges.source(_read(every, widened))
            described = connection.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()  # noqa: S608 - the server's own folder
    except (duckdb.Error, OSError):
        raise UnreadableFile(UNLIKE) from None
    form = made_of.stated(note for (note,) in notes)
    late, left_out = _by_type(leaves, described, {one.name for (note,) in types for one in spans(note).values()})
    left_out |= {name for name, *_ in described if is_unnamed_index(name)}
    kinds = {name: kind for name, kind, *_ in described if name not in left_out and not _NOT_READ.fullmatch(kind)}
    if not kinds:
        raise UnreadableFile(NO_COLUMN)
    names = [name for name in kinds if name not in late]
    groups = _groups(leaves, names) if widened else {}
    texts: dict[str, str] = {}
    if len(groups) > 1:
        for name in sorted({name for numbers in groups for name, _ in numbers}):
            texts[name] = _unused(f"{name} as text", (*kinds, *texts.values()))
    in_folders = {name for name, *_ in described} - {leaf[1] for leaf in leaves}
    selection = f"SELECT {', '.join(map(_identifier, names)) or 'NULL'} FROM {read}"  # noqa: S608 - the server's own folder
    if texts:
        selected = [
            _selected(files, names, texts, dict(numbers), in_folders, ranges) for numbers, files in groups.items()
        ]
        selection = " UNION ALL ".join(selected)
    files = {}
    if late:
        of = {file: dict(numbers) for numbers, together in groups.items() for file in together}
        for file in sorted({leaf[0] for leaf in leaves}):
            rows = _selected([file], names, texts, of.get(file, {}), in_folders, ranges)
            files[file] = _typed(
                rows, {**{name: kinds[name] for name in names}, **dict.fromkeys(texts.values(), "VARCHAR")}
            )
    return Shape(selection=selection, kinds=kinds, texts=texts, late=late, files=files, form=form)


def _typed(rows: str, kinds: Mapping[str, str]) -> str:
    """The rows with columns of these types: a file by itself may have narrower ones than all together."""
    cells = (f"CAST({_identifier(name)} AS {kind}) AS {_identifier(name)}" for name, kind in kinds.items())
    return f"SELECT {', '.join(cells)} FROM ({rows})"  # noqa: S608 - the server's own folder


def _read(files: str, widened: bool, more: str = "") -> str:
    return f"read_parquet({files}, hive_types_autocast=false, union_by_name={str(widened).lower()}{more})"


def _groups(leaves: list[tuple[Any, ...]], names: Sequence[str]) -> dict[tuple[tuple[str, str], ...], list[str]]:
    """Files by how they write those columns of numbers that some files write as decimals and others do not so."""
    kinds: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for file, name, kind, *_ in leaves:
        if name in names:
            kinds[file][name] = kind
    of = {name: {found[name] for found in kinds.values() if name in found} for name in names}
    several = [name for name in names if len(of[name]) > 1 and of[name] & _DECIMALS]
    groups: defaultdict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for file, found in kinds.items():
        groups[tuple((name, found[name]) for name in several)].append(file)
    return dict(groups)


def _selected(
    files: Sequence[str],
    names: Sequence[str],
    texts: Mapping[str, str],
    kinds: Mapping[str, str],
    in_folders: set[str],
    ranges: RangeColumns,
) -> str:
    """The rows of files of one shape: see ``Shape``. What folders are called is ``in_folders``, whichever these are."""
    cells = [f"CAST({_identifier(name)} AS DOUBLE)" if name in texts else _identifier(name) for name in names]
    told = [(name, _text(name, kinds[name])) for name in texts]
    columns = [
        *(f"{cell} AS {_identifier(name)}" for cell, name in zip(cells, names, strict=True)),
        *(f"{cell} AS {_identifier(texts[name])}" for name, cell in told),
    ]
    listed = "[" + ", ".join(map(_path, files)) + "]"
    read = _read(listed, True, f", hive_partitioning={str(bool(in_folders)).lower()}")
    return f"SELECT {', '.join(columns)} FROM {ranges.source(read, files)}"  # noqa: S608 - the server's own folder


def _text(name: str, kind: str) -> str:
    """What a number of this kind names, in SQL."""
    cell: Cell = column(quoted_name(name, quote=True))
    read = PARQUET.named(cell, "number" if kind in _DECIMALS else "integer", PARQUET.trimmed)
    return str(read.compile(dialect=DuckDB(), compile_kwargs={"literal_binds": True}))


def _path(file: str) -> str:
    """A file's path in SQL, none of whose own signs stands for others."""
    return "'" + glob.escape(file).replace("'", "''") + "'"


def _unused(name: str, names: Sequence[str]) -> str:
    while name.lower() in {other.lower() for other in names}:
        name += "'"
    return name


def _without_unnamed_index(leaves: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """All but those columns, which none of the roots is said to hold either."""
    of: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for leaf in leaves:
        of[leaf[0]].append(leaf)
    found = []
    for elements in of.values():
        index = {id(leaf) for leaf in _columns(elements) if is_unnamed_index(leaf[1]) and not leaf[5]}
        root, *others = (leaf for leaf in elements if id(leaf) not in index)
        found += [(*root[:5], root[5] - len(index), *root[6:]), *others]
    return found


def _widened(leaves: list[tuple[Any, ...]]) -> bool:
    """Whether columns must be read as what several files say of them. Raises UnreadableFile.

    Numbers of several sizes are read as the widest; a column without a value in a file, and so no type, as in others.
    """
    exact: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    alike: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for file, name, kind, converted, logical, *more in leaves:
        exact[file].append((name, kind, converted, logical, *more))
        is_number = kind in _NUMBERS and converted in _SIZES and str(logical or "IntType").startswith("IntType")
        alike[file].append((name, _ANY_NUMBER) if is_number else exact[file][-1])
    typed = {leaf[0]: leaf for shape in alike.values() for leaf in shape if not _is_empty(leaf)}
    shapes = ([typed.get(leaf[0], leaf) if _is_empty(leaf) else leaf for leaf in shape] for shape in alike.values())
    if len({tuple(sorted(shape, key=repr)) for shape in shapes}) > 1:
        raise UnreadableFile(UNLIKE)
    return len({tuple(shape) for shape in exact.values()}) > 1


def _is_empty(leaf: tuple[Any, ...]) -> bool:
    """Whether it is of a column without a type, as one is written that holds no value."""
    return len(leaf) > 3 and str(leaf[3]).startswith("NullType")


def _by_type(
    leaves: list[tuple[Any, ...]], described: list[tuple[Any, ...]], of_spans: set[str]
) -> tuple[dict[str, str | None], set[str]]:
    """Points in time in milliseconds, with their time zones, and what is left out: times of day, those ``of_spans``,
    and all of them where DuckDB has renamed a column, since another one has its name in small letters.
    """
    columns = [
        leaf for file in {leaf[0] for leaf in leaves} for leaf in _columns([one for one in leaves if one[0] == file])
    ]
    clock = {leaf[1] for leaf in columns if "TimeType" in str(leaf[4]) or str(leaf[3]).startswith("TIME_")}
    clock |= of_spans
    late = {leaf[1] for leaf in columns if str(leaf[3]) == "TIMESTAMP_MILLIS" or "MILLIS=Milli" in str(leaf[4])} - clock
    often = Counter((leaf[0], leaf[1].lower()) for leaf in columns)
    twice = {re.escape(name) for (_, name), number in often.items() if number > 1}
    renamed = re.compile(rf"(?s:({'|'.join(sorted(twice))})(_\d+)?)") if twice else None
    told = {name.lower() for name in clock | late}
    found, left_out = {}, set(clock)
    for name, kind, *_ in described:
        same = renamed.fullmatch(name.lower()) if renamed else None
        if same and same[1] in told:
            left_out.add(name)
        elif name in late and kind.startswith("TIMESTAMP"):  # else a folder's name stands in its place
            found[name] = "UTC" if kind.endswith("ZONE") else None
    return found, left_out


def _columns(elements: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Those of a file's own columns, without what is inside of one, and the root."""
    found, inside = [], [1]
    for element in elements:
        while not inside[-1]:
            inside.pop()
        inside[-1] -= 1
        if len(inside) == 2:
            found.append(element)
        inside.append(int(element[5] or 0))
    return found


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
