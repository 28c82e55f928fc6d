"""What a file of SPSS, Stata or SAS says beside its rows, each word decoded by itself as those of cells are.

Labels are often made of the rows, so one that cannot be read is that of its own value alone, which then is missing as a
cell with these bytes is. Names of columns are no row's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.datasets.reading.labelled_letters import Decode
from dpcore.errors import UnreadableFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Head:
    """The ``names`` of all columns in order; by name what each is ``about``, in which format its numbers are
    ``written`` and, as ranges from lowest to highest, the numbers and words that are declared ``missing``.

    ``labels`` are the code and the label of each labelled value, by the ``key`` of its cells; "" is one that cannot be
    read, of which each column has so many ``unreadable`` ones.
    """

    names: tuple[str, ...]
    about: dict[str, str]
    written: dict[str, str]
    missing: dict[str, list[tuple[Any, Any]]]
    labels: dict[str, dict[Hashable, tuple[Any, str]]]
    unreadable: dict[str, int]


def head_of(meta: Any, raw: Callable[[Any], Any], decode: Decode) -> Head:
    """From what its reader says, of which ``raw`` makes numbers and bytes as cells hold them. Raises UnreadableFile for
    columns whose names cannot be read or told apart."""

    def word(text: object) -> Any:
        """None where it cannot be read."""
        found = raw(text)
        try:
            return decode(found) if isinstance(found, bytes) else found
        except UnicodeDecodeError:
            return None

    called = {str(name): word(str(name)) for name in meta.column_names}
    if None in called.values() or len(set(called.values())) < len(meta.column_names):
        raise UnreadableFile(
            "Names of columns in this file are alike or have bytes that are no letters in its encoding; rename these "
            "columns, or save the table as CSV."
        )

    def by_name(told: Mapping[Any, Any] | None) -> dict[str, Any]:
        return {called[str(name)]: value for name, value in (told or {}).items()}

    abouts = ((name, word(about)) for name, about in by_name(meta.column_names_to_labels).items())
    labelled = {
        name: [(key(raw(value)), word(value), word(str(label))) for value, label in known.items()]
        for name, known in by_name(meta.variable_value_labels).items()
    }
    return Head(
        names=tuple(called.values()),
        about={name: about for name, about in abouts if about and about != name},
        written={name: str(form or "") for name, form in by_name(meta.original_variable_types).items()},
        missing={
            name: [(word(part["lo"]), word(part["hi"])) for part in ranges]
            for name, ranges in by_name(meta.missing_ranges).items()
        },
        labels={
            name: {cell: (code, label or "") for cell, code, label in known if code is not None}
            for name, known in labelled.items()
        },
        unreadable=Counter(name for name, known in labelled.items() for *_, label in known if label is None),
    )


def key(cell: Any) -> Hashable:
    """What the label of a cell is found by: cells of other bytes can be one word, and each has a label of its own."""
    found: Hashable = cell.rstrip() if isinstance(cell, str | bytes) else cell
    return found
