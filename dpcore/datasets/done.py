"""What was done to a table before it was declared, as a question holds it: what kind of step, of which column.

No word of a row is in it: of one that is read as missing only that there is one. Words that a person states, such as
those that mean missing of a column that says whose a row is, are in it as they are of each column that is read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

StepKind = Literal["totals", "missing", "columns", "rows", "months", "together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step. ``columns`` are those it works on, "" for one whose name is not public, and ``stated`` is all that was
    stated with it, whatever is usual left out."""

    kind: StepKind
    columns: tuple[str, ...]
    stated: tuple[str, ...] = ()

    def naming(self, public: Collection[str]) -> Done:
        """Without the names of other columns than these."""
        return replace(self, columns=tuple(name if name in public else "" for name in self.columns))
