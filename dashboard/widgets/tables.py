"""Tables that cannot be sorted or saved, whose cells are text and never markup.

Streamlit reads every cell of such a table, its index and its headings as Markdown, and they hold what came from
elsewhere: scenarios of a link, answers, names of people. So nothing but this module draws one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Literal

import pandas as pd
import streamlit as st

from dashboard import words

_LONGEST = 2000
"""Characters of a cell that are shown."""
_PART = 16
"""Signs of code after which a narrow screen may break it."""


class Code(str):
    """A cell that is shown as code, such as a hash."""

    __slots__ = ()


def show_table(
    cells: pd.DataFrame | Mapping[str, object], *, alt: str, border: bool | Literal["horizontal"] = "horizontal"
) -> None:
    """A table, or names with what each is, as the text that they are."""
    st.table(plain(cells), border=border, alt=alt)


def plain(cells: pd.DataFrame | Mapping[str, object]) -> pd.DataFrame | dict[str, str]:
    """The same, of which Markdown makes nothing else."""
    if isinstance(cells, Mapping):
        return {_text(name): _text(value) for name, value in cells.items()}
    shown = cells.map(_text)
    return shown.set_axis(_names(cells.index), axis=0).set_axis(_names(cells.columns), axis=1)


def _names(index: pd.Index) -> pd.Index:
    name = "" if index.name is None else _text(index.name)
    return pd.Index([_text(one) for one in index], name=name or None)


def _text(value: object | Hashable) -> str:
    if isinstance(value, Code):
        signs = words.visible(value, _LONGEST).replace("`", "'")
        return " ".join(f"`{signs[start : start + _PART]}`" for start in range(0, len(signs), _PART))
    return words.safe(str(value), _LONGEST)
