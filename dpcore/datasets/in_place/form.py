"""What the owner of a folder of CSV files states of how they are written; nothing of it is guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.errors import InvalidArgument
from dpcore.validate import one_of

if TYPE_CHECKING:
    from dpcore.datasets.in_place.tongue import Kind

STATED: tuple[Kind, ...] = ("text", "integer", "number", "date", "yes/no")
"""As what the columns of a file may be stated."""
_MOST_COLUMNS = 10_000
_DELIMITERS = "\t,;|:^~ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the owner of a folder of CSV files states of them: the columns that are offered, by their names in the
    first line of each file, and what stands between cells, and before the decimals of a number.

    Raises InvalidArgument.
    """

    columns: tuple[tuple[str, Kind], ...]
    delimiter: str = ","
    decimal: str = "."

    def __post_init__(self) -> None:
        names = [name for name, _ in self.columns]
        different = {name.casefold() for name in names} - {""}  # an engine takes “Age” and “age” for one
        if not 0 < len(different) == len(names) <= _MOST_COLUMNS or any(name != name.strip() for name in names):
            raise InvalidArgument("columns", "must have different names, without spaces around them")
        for _, kind in self.columns:
            one_of(STATED, columns=kind)
        if len(self.delimiter) != 1 or self.delimiter not in _DELIMITERS:
            raise InvalidArgument("delimiter", "must be a comma, a semicolon, a tab, a space or one of | : ^ ~")
        one_of((".", ","), decimal=self.decimal)
        if self.decimal == self.delimiter:
            raise InvalidArgument("decimal", "must differ from the delimiter")
