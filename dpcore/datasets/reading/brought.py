"""Columns that a table has because a row names or fills them: one row more or less undoes no step by them.

Of JSON these are all: a column that no row names holds nothing, and one that is called as what a step makes gives way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from dpcore.datasets.steps import OneRowPer, Step, makes


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """The columns ``names`` are there by their rows; where it is ``open`` rows could bring every other one, but those
    that were ``used`` up by a step."""

    names: frozenset[str]
    open: bool
    used: frozenset[str] = frozenset()

    def ready(self, frame: pd.DataFrame, step: Step) -> pd.DataFrame:
        """``frame`` with the columns that the step reads, and without those in whose place it makes its own."""
        reads = set(step.done.columns) - {""}
        lacking = reads - set(frame.columns) - self.used if self.open else set()
        nothing = pd.Series("", index=frame.index, dtype=frame.dtypes.iloc[0])
        more = pd.DataFrame(dict.fromkeys(sorted(lacking), nothing), index=frame.index)
        here = pd.concat([frame, more], axis=1) if lacking else frame
        return here.drop(columns=list((makes(step) - reads) & (self.names & set(here.columns))))

    def after(self, step: Step, before: pd.DataFrame, frame: pd.DataFrame) -> Brought:
        """Once the step was done."""
        return replace(
            self,
            names=self.names.intersection(frame.columns) - makes(step),
            open=self.open and not isinstance(step, OneRowPer),
            used=self.used | (frozenset(before.columns) - frozenset(frame.columns)),
        )
