"""Columns that a table has because a row names or fills them: one row more or less undoes no step by them.

Of JSON these are all: a column that no row names holds nothing, and one that is called as what a step makes gives way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from dpcore.datasets.reading.bounds import MOST_COLUMNS
from dpcore.datasets.steps import OneRowPer, SplitOptions, Step, Worked, by_words, is_made, makes
from dpcore.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """The columns ``names`` are there by their rows, those that are ``loose`` for looking only; where it is ``open``
    rows could bring every other one, but those that were ``used`` up by a step. What ``split`` makes rows alone name.
    """

    names: frozenset[str]
    loose: frozenset[str]
    open: bool
    used: frozenset[str] = frozenset()
    split: tuple[SplitOptions, ...] = ()

    def ready(self, frame: pd.DataFrame, step: Step) -> tuple[pd.DataFrame, Brought]:
        """``frame`` with the columns that the step reads, and without those in whose place it makes its own.

        Raises InvalidArgument for a step that reads what is good for looking only, be it there or not.
        """
        reads = set(step.done.columns) - {""}
        if reads & self.loose or (self.open and any(is_made(name, self.split) for name in reads)):
            raise InvalidArgument(
                "steps",
                "must use no column that only rows name: give it a name in the file, or state its options in the step",
            )
        lacking = reads - set(frame.columns) - self.used if self.open else set()
        nothing = pd.Series("", index=frame.index, dtype=frame.dtypes.iloc[0])
        more = pd.DataFrame(dict.fromkeys(sorted(lacking), nothing), index=frame.index)
        here = pd.concat([frame, more], axis=1) if lacking else frame
        here = here.drop(columns=list((makes(step) - reads) & (self.names & set(here.columns))))
        return here, replace(self, names=self.names | lacking)

    def after(self, step: Step, before: pd.DataFrame, worked: Worked) -> tuple[pd.DataFrame, Brought]:
        """What the step made, once it was done. Of more columns than there may be the last are left out of those for
        looking only. Raises InvalidArgument where those that no row brings are more."""
        here = frozenset(worked.frame.columns)
        names, loose = ((each | worked.from_file) & (here - makes(step)) for each in (self.names, self.loose))
        if len(here - names) > MOST_COLUMNS:
            raise InvalidArgument("steps", f"must not make more than {MOST_COLUMNS} columns")
        room = max(MOST_COLUMNS - len(here - loose), 0)
        beyond = [name for name in worked.frame.columns if name in loose][room:]
        found = replace(
            self,
            names=names - set(beyond),
            loose=loose - set(beyond),
            open=self.open and not isinstance(step, OneRowPer),
            used=self.used | (frozenset(before.columns) - here),
            split=(*self.split, *by_words((step,))),
        )
        return worked.frame.drop(columns=beyond), found
