"""What was done to a table before it was declared, as a question holds it: what kind of step, of which column.

No word of a row is in it: of one that is read as missing only that there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StepKind = Literal["totals", "missing", "columns", "rows", "months", "together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """One step. ``columns`` are those it works on, "" for one whose name is not public, and ``stated`` is what was
    stated with it, of which no word of a row is a part."""

    kind: StepKind
    columns: tuple[str, ...]
    stated: tuple[str, ...] = ()
