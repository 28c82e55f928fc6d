"""What Streamlit does some hundred times for a page, in fewer steps; a test draws pages both ways.

* Each place on a page begins with an empty list of a generic type, and what it is generic over is worked out anew.
* Which box is open is asked of a variable that is made where it is not there yet: it nearly always is.
* A page is known by a hash of its address, which is made whenever it is asked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from streamlit import cursor
from streamlit.cursor import SparseList
from streamlit.delta_generator_singletons import ContextVarWithLazyDefault
from streamlit.navigation.page import Page
from streamlit.util import calc_hash

from dashboard.runtime.replaced import Methods, put, put_back, there


class _Plain(SparseList[Any]):
    """The list of whatever kind: ``_Plain[int]`` is itself."""

    @classmethod
    def __class_getitem__(cls, _: Any) -> type[_Plain]:
        return cls


def _now(variable: ContextVarWithLazyDefault[Any]) -> Any:
    """``ContextVarWithLazyDefault.get``."""
    held = variable._context_var
    return _STREAMLITS[ContextVarWithLazyDefault, "get"](variable) if held is None else held.get()


def _set(variable: ContextVarWithLazyDefault[Any], value: Any) -> Any:
    """``ContextVarWithLazyDefault.set``."""
    held = variable._context_var
    return _STREAMLITS[ContextVarWithLazyDefault, "set"](variable, value) if held is None else held.set(value)


@lru_cache(maxsize=256)
def _hash(address: str) -> str:
    return calc_hash(address)


_OURS: Methods = {
    (cursor, "SparseList"): _Plain,
    (ContextVarWithLazyDefault, "get"): _now,
    (ContextVarWithLazyDefault, "set"): _set,
    (Page, "_script_hash"): property(lambda page: _hash(page._url_path)),
}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
