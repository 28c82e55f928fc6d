"""Types of columns that one more row may make of each other, and as what the cells of each file are read among others.

A number with more decimals, a point in time to the nanosecond, a text that is kept as bytes: of one such cell a program
makes another type for its column in that file. In all files of a folder the others say the same then, for what they are
read as does not hang on the file; what a cell names is told by the type of its own file. A column of nothing but gaps
has no type there, and one cell gives it any: so a type of which no cell is read is none, as if all cells were missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import column, quoted_name

from dpcore.datasets.decimal_texts import MOST_DIGITS, in_duckdb
from dpcore.datasets.in_place.tongue import PARQUET, Cell, DuckDB, Kind
from dpcore.datasets.schema import LONGEST

Family = Literal["number", "moment", "moment with a zone", "text", "bytes", "uuid", "nothing"]
MOMENTS: dict[Family, str] = {"moment": "TIMESTAMP", "moment with a zone": "TIMESTAMP WITH TIME ZONE"}
"""DuckDB's type of them, in microseconds."""
_SIZES = {None, *(f"{sign}INT_{size}" for sign in ("", "U") for size in (8, 16, 32, 64))}
_WHOLE = {"BIGINT", "UBIGINT"}
_TEXTS = {None, "UTF8", "ENUM"}
_UNIT = re.compile(r"unit=TimeUnit\((?:MILLIS=(Milli)|.*MICROS=(Micro)|.*NANOS=(Nano))")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileType:
    """The type of a column in one file: its family, DuckDB's name of it (of whole numbers that of the widest), and of a
    decimal how many digits it has and how many of them are decimals."""

    family: Family
    name: str
    digits: int = 0
    decimals: int = 0

    @property
    def by_arrow(self) -> bool:
        """Whether DuckDB does not read each of its cells as it is."""
        return self.name == "TIMESTAMP_MS" or self.digits > MOST_DIGITS


NOTHING = FileType(family="nothing", name="NULL")
"""That of a column whose cells are all missing, or none of which is read: lists and other nested ones, JSON, times of
day, and whatever else holds what DuckDB does not read of each cell by itself."""


def file_type(leaf: tuple[Any, ...]) -> FileType:
    """Of what a footer says of a column (``shape``)."""
    kind, converted, logical, children, scale, precision, repetition = leaf[2:9]
    told = str(logical or "").partition("(")[0]
    if children or repetition == "REPEATED" or told == "NullType":
        return NOTHING
    if converted == "DECIMAL" or told == "DecimalType":
        return FileType(family="number", name="DECIMAL", digits=int(precision), decimals=int(scale or 0))
    if kind in ("INT32", "INT64") and converted in _SIZES and told in ("", "IntType"):
        return FileType(family="number", name="UBIGINT" if converted == "UINT_64" else "BIGINT")
    if kind in ("BOOLEAN", "FLOAT", "DOUBLE") and not told:
        return FileType(family="number", name=kind)
    if told == "Float16Type":
        return FileType(family="number", name="FLOAT")
    if kind == "BYTE_ARRAY" and converted in _TEXTS and told in ("", "StringType", "EnumType"):
        return FileType(family="text", name="VARCHAR" if converted or told else "BLOB")
    if kind == "FIXED_LEN_BYTE_ARRAY" and converted is None and told in ("", "UUIDType"):
        return FileType(family="uuid", name="UUID") if told else FileType(family="bytes", name="BLOB")
    return _moment(str(kind), str(converted), str(logical or ""))


def _moment(kind: str, converted: str, logical: str) -> FileType:
    if converted == "DATE" or logical.startswith("DateType"):
        return FileType(family="moment", name="DATE")
    unit = _UNIT.search(logical) if logical.startswith("TimestampType") else None
    name = {"Milli": "TIMESTAMP_MS", "Nano": "TIMESTAMP_NS"}.get(unit[unit.lastindex or 0] if unit else "", "TIMESTAMP")
    if converted == "TIMESTAMP_MILLIS":
        name = "TIMESTAMP_MS"
    if not (unit or kind == "INT96" or converted.startswith("TIMESTAMP_")):
        return NOTHING
    return FileType(family="moment with a zone" if "isAdjustedToUTC=1" in logical else "moment", name=name)


def read_as(types: Collection[FileType]) -> str | None:
    """DuckDB's type as which cells of these types, of one family or nothing, are read; None where it reads them
    together as they are."""
    found = {(one.family, one.name) for one in types if one != NOTHING}
    names = {name for _, name in found}
    family: Family = next((of for of, _ in found), "nothing")
    if family == "number" and names - _WHOLE and (len(names) > 1 or "DECIMAL" in names):
        return "DOUBLE"
    if family == "text" and "BLOB" in names:
        return "VARCHAR"
    if family in MOMENTS and (len(names) > 1 or names & {"TIMESTAMP_MS", "TIMESTAMP_NS"}):
        return MOMENTS[family]
    if NOTHING not in types:
        return None
    if family == "moment with a zone":
        return MOMENTS[family]
    return "HUGEINT" if len(names) > 1 else next(iter(names), '"NULL"')


def named_apart(types: Collection[FileType], read: str | None) -> bool:
    """Whether what a cell names is more than its value as that type says."""
    return read == "DOUBLE" or any(one.name == "TIMESTAMP_NS" for one in types)


def value(name: str, of: FileType, read: str) -> str:
    """SQL for a cell as the type that it is ``read`` as; nothing of one that is read by Arrow."""
    cell = identifier(name)
    if of.by_arrow or of == NOTHING:
        return f"CAST(NULL AS {read})"
    if of.family == "text" and of.name == "BLOB":
        return _letters(cell)
    if of.name == "TIMESTAMP_NS":
        whole = f"TRY(epoch_ns({cell}))"
        moment = f"make_timestamp({whole} // 1000 - CAST({whole} % 1000 < 0 AS BIGINT))"
        return f"CAST({moment} AS {read})"
    return f"TRY_CAST({cell} AS {read})"


def text(name: str, of: FileType) -> str:
    """SQL for what a cell names by the type of its own file; nothing of one that is read by Arrow."""
    cell = identifier(name)
    if of.by_arrow or of == NOTHING:
        return "CAST(NULL AS VARCHAR)"
    if of.name == "DECIMAL":
        return in_duckdb(cell, of.digits, of.decimals)
    if of.name == "BOOLEAN":
        return f"CAST({cell} AS VARCHAR)"  # as where all files hold yes and no
    if of.name in ("FLOAT", "DOUBLE"):
        return _named(name, "number")
    if of.name == "TIMESTAMP_NS":
        return f"CAST({cell} AS VARCHAR)"
    return _named(name, "moment" if of.name == "TIMESTAMP" and of.family == "moment" else "fixed")


def moment_text(name: str, read: str) -> str:
    """SQL for what a point in time in microseconds names."""
    return _named(name, "moment" if read == MOMENTS["moment"] else "fixed")


def _letters(cell: str) -> str:
    """SQL for the text that bytes are; nothing of those that are none, as in memory, or more than is looked at."""
    return f"CASE WHEN octet_length({cell}) <= {LONGEST} THEN TRY(decode({cell})) END"


def _named(name: str, kind: Kind) -> str:
    cell: Cell = column(quoted_name(name, quote=True))
    read = PARQUET.named(cell, kind, PARQUET.trimmed)
    return str(read.compile(dialect=DuckDB(), compile_kwargs={"literal_binds": True}))


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
