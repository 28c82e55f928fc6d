"""Whether all Parquet files of a folder are one table, by what their footers say; no row is read for it.

A file whose columns do not fit the others would make a question fail only once it is read, after the charge, and by
what its cells hold. So files must agree in names and types, but for types that one row can make of each other: see
``file_types``. What such a cell names (whose row it is, an option) is told by its own file's type, for as a double an
id of 18 digits is that of many others: see ``Shape``. A column of nothing but gaps in a file is written without a type,
which is then that of the other files; where none has one, its cells are missing, whatever it is declared as.

So are those of a file's column in which a cell may hold what DuckDB cannot read: times of day, JSON, lists and the
like, of which nothing inside is compared; and spans of time, which it takes for numbers: see ``span_columns``. Points
in time in milliseconds, which reach further than its own, and decimals of many digits are read beside the others: see
``arrow_beside``. All of it hangs on the type of a column alone.
"""

from __future__ import annotations

import glob
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import duckdb

from dpcore.datasets import made_of
from dpcore.datasets.declaration import Stated
from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.in_place.file_types import (
    NOTHING,
    FileType,
    file_type,
    identifier,
    named_apart,
    read_as,
    text,
    value,
)
from dpcore.datasets.pandas_index import NOTE as OF_PANDAS
from dpcore.datasets.pandas_index import noted
from dpcore.datasets.parquet_columns import columns, duckdb_names
from dpcore.datasets.span_columns import NOTE, spans
from dpcore.datasets.temporary import private_folder
from dpcore.datasets.unnamed_index import is_unnamed_index
from dpcore.errors import UnreadableFile

UNLIKE = (
    "The Parquet files of this folder have no column, or differ in the names or types of their columns; ask who writes "
    "them."
)
PATTERN = "The path of this folder holds *, ? or [, which would name other folders as well; call it something else."
_FOOTERS = (
    "SELECT file_name, name, type, converted_type, logical_type, num_children, scale, precision, repetition_type "
    "FROM parquet_schema({})"
)
_STATES = re.compile(r"[^=?\n]+=[^=?\n]*")
_NOTES = "SELECT DISTINCT file_name, value FROM parquet_kv_metadata({}) WHERE key = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A selection of all rows, and by a column's name that of another one, which holds the same cells as texts.

    There is one wherever a column is read as another type than that of its own file, and a cell names more than it is
    then: numbers of several types are read as doubles.

    ``kinds`` are the types of all columns, in their order, and ``late`` those that the selection is without: Arrow
    reads them beside it (``arrow_beside``). ``files`` are then the rows of each file, with nothing in place of the
    cells that Arrow reads there, and by file the columns which these are (``by_arrow``), each with its leaf's place.
    ``form`` is what the files say of those that they were made of, where answers say it, and ``stated`` whether all
    of them say that: then somebody stated the type of each column, and no row decided it.
    """

    selection: str
    kinds: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    files: Mapping[str, str] = field(default_factory=dict)
    by_arrow: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
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
    try:
        with private_folder() as overflow, in_memory(overflow, reach=str(folder)) as connection:
            return _one_table(connection, every)
    except (duckdb.Error, OSError):
        raise UnreadableFile(UNLIKE) from None


def _one_table(connection: duckdb.DuckDBPyConnection, every: str) -> Shape:
    """Of ``every`` file, which are named in SQL. Raises UnreadableFile, duckdb.Error or OSError."""
    elements: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for element in connection.execute(_FOOTERS.format(every)).fetchall():
        elements[element[0]].append(element)
    notes = connection.execute(_NOTES.format(every), [made_of.KEY.encode()]).fetchall()
    told = [dict(connection.execute(_NOTES.format(every), [key]).fetchall()) for key in (NOTE, OF_PANDAS)]
    files = _files(connection, elements, *told)
    keys = _keys_of_folders(files)
    several = {name: kind for name, kind in _several(files).items() if _small(name) not in keys}
    groups: defaultdict[tuple[tuple[str, ...], tuple[FileType, ...]], list[str]] = defaultdict(list)
    for file, of in files.items():
        groups[of.stored, tuple(of.types[name] for name in several)].append(file)
    widened = len(groups) > 1 or len({tuple(element[1:] for element in of) for of in elements.values()}) > 1
    listed = [every] if len(groups) == 1 else ["[" + ", ".join(map(_path, some)) + "]" for some in groups.values()]
    reads = [_read(some, widened, in_folders=bool(keys)) for some in listed]
    one = next(iter(files.values()))
    if not one.types:
        raise UnreadableFile(UNLIKE)
    own = set(map(_small, one.types))
    names = [*one.types, *(name for key, name in keys.items() if key not in own)]
    texts: dict[str, str] = {}
    for name, kind in several.items():
        if named_apart([of.types[name] for of in files.values()], kind):
            texts[name] = _unused(f"{name} as text", (*names, *texts.values()))
    late = frozenset(name for of in files.values() for name, kind in of.types.items() if kind.by_arrow) & several.keys()
    found = _Columns(files=files, keys=keys, several=several, texts=texts)
    parts = list(zip(reads, groups.values(), strict=True))
    described = connection.execute(f"DESCRIBE {found.of_all(parts, names)}").fetchall()
    kinds = {name: kind for name, kind, *_ in described if name in names}
    alone = {file: _read(_path(file), True, in_folders=bool(keys)) for file in files} if late else {}
    return Shape(
        selection=found.of_all(parts, [name for name in names if name not in late]),
        kinds=kinds,
        texts=texts,
        late=late,
        files={file: found.typed(read, file, kinds) for file, read in alone.items()},
        by_arrow={
            file: {name: of.leaves[name] for name in late if of.types[name].by_arrow} for file, of in files.items()
        },
        form=made_of.stated(note for _, note in notes),
        stated=files.keys() <= {file for file, _ in notes},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The columns of one file, by names of which none is another's: their types, the places of their leaves, and their
    own ``places`` among all that are ``stored``, an index of pandas too, by the names that they have there."""

    types: Mapping[str, FileType]
    leaves: Mapping[str, int]
    places: Mapping[str, int]
    stored: tuple[str, ...]


def _files(
    connection: duckdb.DuckDBPyConnection,
    elements: Mapping[str, list[tuple[Any, ...]]],
    notes: Mapping[str, bytes],
    of_pandas: Mapping[str, bytes],
) -> dict[str, _File]:
    """Each file by what its footer and these notes say. Raises duckdb.Error, and UnreadableFile where they are not of
    one shape."""
    called = cache(lambda names: duckdb_names(connection, names))
    found = {}
    for file, of in sorted(elements.items()):
        placed = columns([element[5] for element in of])
        types = [file_type(of[at]) for at, _ in placed]
        of_spans = spans(notes.get(file, b""))
        types = [NOTHING if at in of_spans and kind.name == "BIGINT" else kind for at, kind in enumerate(types)]
        stored = tuple(of[at][1] for at, _ in placed)
        kept = noted(of_pandas.get(file, b"")).columns(stored)
        names = zip(called(tuple(stored[place] for place in kept)), kept, strict=True)
        places = {name: place for name, place in names if not is_unnamed_index(name)}
        found[file] = _File(
            types={name: types[place] for name, place in places.items()},
            leaves={name: placed[place][1] for name, place in places.items()},
            places=places,
            stored=stored,
        )
    if len({frozenset(of.types) for of in found.values()}) > 1:
        raise UnreadableFile(UNLIKE)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """What is selected of files: columns of theirs, and what folders are called (``keys``); ``several`` as another type
    than their own, and the ``texts`` of some of these."""

    files: Mapping[str, _File]
    keys: Mapping[bytes, str]
    several: Mapping[str, str]
    texts: Mapping[str, str]

    def of_all(self, parts: Iterable[tuple[str, Sequence[str]]], names: Sequence[str]) -> str:
        """The columns ``names`` of all files, some at a time."""
        return " UNION ALL ".join(self.selected(read, files, names) for read, files in parts)

    def selected(self, read: str, files: Sequence[str], names: Sequence[str]) -> str:
        """The columns ``names`` of these files, which hold the same ones and are of the same types in ``several``."""
        first = self.files[files[0]]
        # DuckDB puts what folders are called in place of the first column that is called so, or behind all of them
        there = {_small(name): place for place, name in reversed(list(enumerate(first.stored)))}
        behind = [key for key in self.keys if key not in there]
        there |= {key: place for place, key in enumerate(behind, len(first.stored))}
        places = {name: there[key] for key, name in self.keys.items()}
        places |= {
            name: there[_small(name)] if _small(name) in self.keys else place for name, place in first.places.items()
        }
        # by other names, or one could be called as DuckDB calls a row's file, or its place there
        called = {name: f"c{place}" for name, place in places.items()}
        every = ", ".join(f"c{place}" for place in range(len(first.stored) + len(behind)))
        source = f"{read} AS t({every})"
        cells = {
            name: value(called[name], first.types[name], self.several[name]) if name in self.several else called[name]
            for name in names
        }
        told = {self.texts[name]: text(called[name], first.types[name]) for name in names if name in self.texts}
        listed = [f"{cell} AS {identifier(name)}" for name, cell in {**cells, **told}.items()]
        return f"SELECT {', '.join(listed) or 'NULL'} FROM {source}"  # noqa: S608 - the server's own folder

    def typed(self, read: str, file: str, kinds: Mapping[str, str]) -> str:
        """All columns: a file by itself may have narrower ones than all together."""
        of = {**kinds, **dict.fromkeys(self.texts.values(), "VARCHAR")}
        cells = (f"CAST({identifier(name)} AS {kind}) AS {identifier(name)}" for name, kind in of.items())
        return f"SELECT {', '.join(cells)} FROM ({self.selected(read, [file], list(kinds))})"  # noqa: S608 - the server's own folder


def _several(files: Mapping[str, _File]) -> dict[str, str]:
    """DuckDB's type as which those columns are read that are not read together as they are. Raises UnreadableFile where
    types of one column are not alike."""
    types: defaultdict[str, set[FileType]] = defaultdict(set)
    for of in files.values():
        for name, kind in of.types.items():
            types[name].add(kind)
    if any(len({kind.family for kind in found - {NOTHING}}) > 1 for found in types.values()):
        raise UnreadableFile(UNLIKE)
    read = ((name, read_as(found)) for name, found in sorted(types.items()))
    return {name: kind for name, kind in read if kind is not None}


def _keys_of_folders(files: Iterable[str]) -> dict[bytes, str]:
    """What folders on the way to each file are called that say something of it (``ward=3``), in DuckDB's order, by how
    it compares them; none if some files' folders say something else."""
    stated = [{part.partition("=")[0] for part in file.split("/")[:-1] if _STATES.fullmatch(part)} for file in files]
    keys: dict[bytes, str] = {}
    for name in sorted(stated[0]) if all(one == stated[0] for one in stated) else ():
        keys.setdefault(_small(name), name)
    return keys


def _small(name: str) -> bytes:
    """A name as DuckDB compares it, which takes no letters but A to Z for those of small ones."""
    return name.encode().lower()


def _read(files: str, widened: bool, *, in_folders: bool) -> str:
    told = f"union_by_name={str(widened).lower()}, hive_partitioning={str(in_folders).lower()}"
    return f"read_parquet({files}, hive_types_autocast=false, {told})"


def _path(file: str) -> str:
    """A file's path in SQL, none of whose own signs stands for others."""
    return "'" + glob.escape(file).replace("'", "''") + "'"


def _unused(name: str, names: Sequence[str]) -> str:
    while name.lower() in {other.lower() for other in names}:
        name += "'"
    return name
