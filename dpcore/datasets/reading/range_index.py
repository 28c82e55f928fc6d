"""The index with a name whose numbers are one after the other, as a column of a file: see ``range_notes``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from dpcore.datasets.range_notes import stated
from dpcore.datasets.reading.bounds import check_size


def with_range_index(
    frame: pd.DataFrame, own: Sequence[str], note: bytes, named: Callable[[list[str]], Sequence[str]]
) -> pd.DataFrame:
    """The columns of a table of text, and behind them what ``note`` states of an index as a rule. ``own`` is what the
    file calls them; ``named`` gives names as a reader has them where all are columns. Raises UnreadableFile for too
    many columns."""
    for name, numbers in stated(note, len(frame)):
        if name not in own:
            check_size(len(frame), frame.shape[1] + 1)
            cells = pd.Series(np.arange(numbers.start, numbers.stop, numbers.step), index=frame.index)
            whole = pd.concat([frame, cells.astype("str").astype(frame.dtypes.iloc[0])], axis=1)
            return whole.set_axis(pd.Index(named([*own, name])), axis=1)
    return frame
