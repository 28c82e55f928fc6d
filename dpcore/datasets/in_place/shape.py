"""Whether all Parquet files of a folder are one table, by what their footers say; no row is read for it.

A file whose columns do not fit the others would make a question fail only once it is read, after the charge, and by
what its cells hold. So files must agree in names and types, but for types that one row can make of each other: see
``file_types``. What such a cell names (whose row it is, an option) is told by its own file's type, for as a double an
id of 18 digits is that of many others: see ``Shape``. A column of nothing but gaps in a file is written without a type,
which is then that of the other files; where none has one, its cells are missing, whatever it is declared as.

Columns in which a cell may hold what DuckDB cannot read are left out: times of day, JSON, lists and the like; and spans
of time, which it takes for numbers: see ``span_columns``. Points in time in milliseconds, which reach further than its
own, and decimals of many digits are read beside the others: see ``arrow_beside``. All of it hangs on the type of a
column alone.
"""

from __future__ import annotations

import glob
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from dpcore.datasets import made_of
from dpcore.datasets.declaration import Stated
from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.in_place.file_types import (
    FileType,
    file_type,
    identifier,
    named_apart,
    read_as,
    text,
    value,
)
from dpcore.datasets.in_place.range_columns import RangeColumns, range_columns
from dpcore.datasets.span_columns import NOTE, spans
from dpcore.datasets.temporary import private_folder
from dpcore.datasets.unnamed_index import is_unnamed_index
from dpcore.errors import UnreadableFile

UNLIKE = "The Parquet files of this folder differ in the names or types of their columns; ask who writes them."
NO_COLUMN = "The Parquet files of this folder have no column that can be read safely."
PATTERN = "The path of this folder holds *, ? or [, which would name other folders as well; call it something else."
_SAID = "file_name, name, type, converted_type, logical_type, num_children, scale, precision, type_length"
_NOTHING = "nothing"
_NOTES = "SELECT DISTINCT file_name, value FROM parquet_kv_metadata({}) WHERE key = ?"
_NOT_READ = re.compile(r"(?s:(STRUCT|MAP|UNION|VARIANT|JSON|GEOMETRY)\b.*|.*\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A selection of all rows, and by a column's name that of another one, which holds the same cells as texts.

    There is one wherever a column is read as another type than that of its own file, and a cell names more than it is
    then: numbers of several types are read as doubles.

    ``kinds`` are the types of all columns, in their order, and ``late`` those that the selection is without: Arrow
    reads them beside it (``arrow_beside``). ``files`` are then the rows of each file, with nothing in place of the
    cells that Arrow reads there, and by file the columns which these are (``by_arrow``).
    ``form`` is what the files say of those that they were made of, where answers say it, and ``stated`` whether all
    of them say that: then somebody stated the type of each column, and no row decided it.
    """

    selection: str
    kinds: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)
    by_arrow: Mapping[str, frozenset[str]] = field(default_factory=dict)
    form: tuple[Stated, ...] = ()
    stated: bool = False


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
    form = made_of.stated(note for _, note in notes)
    files = _columns_of(leaves)
    left_out = _left_out(files, described, {one.name for _, note in types for one in spans(note).values()})
    left_out |= {name for name, *_ in described if is_unnamed_index(name)}
    kinds = {name: kind for name, kind, *_ in described if name not in left_out and not _NOT_READ.fullmatch(kind)}
    if not kinds:
        raise UnreadableFile(NO_COLUMN)
    own = {
        file: {name: kind for name, kind in _types(leaves).items() if name in kinds} for file, leaves in files.items()
    }
    several = _several(own)
    in_folders = {name for name in several if kinds[name] == "VARCHAR"}  # which stands in place of the files' column
    several = {name: kind for name, kind in several.items() if name not in in_folders}
    in_folders |= {name for name, *_ in described} - {leaf[1] for of in files.values() for leaf in of}
    kinds.update(several)
    late = frozenset(name for of in own.values() for name, kind in of.items() if kind.by_arrow and name in several)
    texts: dict[str, str] = {}
    for name, kind in sorted(several.items()):
        if named_apart([of[name] for of in own.values()], kind):
            texts[name] = _unused(f"{name} as text", (*kinds, *texts.values()))
    groups: defaultdict[tuple[tuple[str, FileType], ...], list[str]] = defaultdict(list)
    for file, of in own.items():
        groups[tuple((name, of[name]) for name in several)].append(file)
    columns = _Columns(kinds=kinds, texts=texts, in_folders=bool(in_folders), ranges=ranges)
    names = [name for name in kinds if name not in late]
    selection = f"SELECT {', '.join(map(identifier, names)) or 'NULL'} FROM {read}"  # noqa: S608 - the server's own folder
    if several:
        selection = " UNION ALL ".join(columns.selected(files, dict(of), names) for of, files in groups.items())
    return Shape(
        selection=selection,
        kinds=kinds,
        texts=texts,
        late=late,
        files={file: columns.typed([file], dict(of)) for of, files in groups.items() for file in files} if late else {},
        by_arrow={file: frozenset(name for name in late if of[name].by_arrow) for file, of in own.items()},
        form=form,
        stated=files.keys() <= {file for file, _ in notes},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """What is selected of files: columns of these ``kinds``, the ``texts`` of some, and what folders are called."""

    kinds: Mapping[str, str]
    texts: Mapping[str, str]
    in_folders: bool
    ranges: RangeColumns

    def selected(self, files: Sequence[str], types: Mapping[str, FileType], names: Sequence[str]) -> str:
        """The columns ``names`` of files of one shape, some of which are of these ``types`` there."""
        cells = {
            name: value(name, types[name], self.kinds[name]) if name in types else identifier(name) for name in names
        }
        told = {self.texts[name]: text(name, types[name]) for name in names if name in self.texts}
        columns = [f"{cell} AS {identifier(name)}" for name, cell in {**cells, **told}.items()]
        listed = "[" + ", ".join(map(_path, files)) + "]"
        read = _read(listed, True, f", hive_partitioning={str(self.in_folders).lower()}")
        return f"SELECT {', '.join(columns) or 'NULL'} FROM {self.ranges.source(read, files)}"  # noqa: S608 - the server's own folder

    def typed(self, files: Sequence[str], types: Mapping[str, FileType]) -> str:
        """All columns: a file by itself may have narrower ones than all together."""
        kinds = {**self.kinds, **dict.fromkeys(self.texts.values(), "VARCHAR")}
        cells = (f"CAST({identifier(name)} AS {kind}) AS {identifier(name)}" for name, kind in kinds.items())
        return f"SELECT {', '.join(cells)} FROM ({self.selected(files, types, list(self.kinds))})"  # noqa: S608 - the server's own folder


def _several(own: Mapping[str, Mapping[str, FileType]]) -> dict[str, str]:
    """DuckDB's type as which those columns are read that are not read together as they are."""
    types: defaultdict[str, set[FileType]] = defaultdict(set)
    for of in own.values():
        for name, kind in of.items():
            types[name].add(kind)
    read = ((name, read_as(found)) for name, found in sorted(types.items()))
    return {name: kind for name, kind in read if kind is not None}


def _types(columns: Iterable[tuple[Any, ...]]) -> dict[str, FileType]:
    told = ((leaf[1], file_type(leaf)) for leaf in columns)
    return {name: kind for name, kind in told if kind is not None}


def _read(files: str, widened: bool, more: str = "") -> str:
    return f"read_parquet({files}, hive_types_autocast=false, union_by_name={str(widened).lower()}{more})"


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
    """Whether columns must be read as what several files say of them. Raises UnreadableFile."""
    exact: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    alike: defaultdict[str, list[tuple[str, Any]]] = defaultdict(list)
    for leaf in leaves:
        file, name, *told = leaf
        kind = file_type(leaf)
        exact[file].append((name, *told))
        alike[file].append((name, tuple(told) if kind is None else kind.family))
    typed = {name: told for shape in alike.values() for name, told in shape if told != _NOTHING}
    shapes = [[(name, typed.get(name) if told == _NOTHING else told) for name, told in of] for of in alike.values()]
    if len({tuple(sorted(shape, key=repr)) for shape in shapes}) > 1:
        raise UnreadableFile(UNLIKE)
    return len({tuple(shape) for shape in exact.values()}) > 1


def _left_out(
    files: Mapping[str, list[tuple[Any, ...]]], described: list[tuple[Any, ...]], of_spans: set[str]
) -> set[str]:
    """Times of day, those ``of_spans``, and all of them and of points in time where DuckDB has renamed a column, since
    another one has its name in small letters.
    """
    columns = [leaf for of in files.values() for leaf in of]
    clock = {leaf[1] for leaf in columns if "TimeType" in str(leaf[4]) or str(leaf[3]).startswith("TIME_")}
    clock |= of_spans
    own = {leaf[1] for leaf in columns if (kind := file_type(leaf)) is not None and kind.by_arrow}
    often = Counter((leaf[0], leaf[1].lower()) for leaf in columns)
    twice = {re.escape(name) for (_, name), number in often.items() if number > 1}
    renamed = re.compile(rf"(?s:({'|'.join(sorted(twice))})(_\d+)?)") if twice else None
    told = {name.lower() for name in clock | own}
    found = set(clock)
    for name, *_ in described:
        same = renamed.fullmatch(name.lower()) if renamed else None
        if same and same[1] in told:
            found.add(name)
    return found


def _columns_of(leaves: list[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    """The columns of each file."""
    of: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for leaf in leaves:
        of[leaf[0]].append(leaf)
    return {file: _columns(elements) for file, elements in sorted(of.items())}


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
