"""A session's state is looked up by who asks for one value of it, not copied whole.

Number boxes, lists and text boxes each ask whether one value of the state is None. Streamlit answers with a copy of all
values, and a page has some twenty such boxes: a tenth of a rerun. Here they get what answers when it is asked. And a
page asks for some two hundred values: each goes the short way, where the value lies as it is asked for.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from contextlib import suppress
from typing import Any

from streamlit.runtime.state.common import is_element_id
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, _is_internal_key

_copied: property = SafeSessionState.__dict__["filtered_state"]
_found = SafeSessionState.__getitem__
_compact = SessionState._compact_state


class LookedUp(Mapping[str, Any]):
    """What a copy of the state would hold at the moment one asks. Whoever goes through all of it gets a copy.

    Both with the state's lock held, as Streamlit does: a session that is left is emptied by another thread.
    """

    def __init__(self, state: SafeSessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str) or is_element_id(key) or _is_internal_key(key):
            raise KeyError(key)
        with self._state._lock:
            return self._state._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._copy())

    def __len__(self) -> int:
        return len(self._copy())

    def __repr__(self) -> str:
        return repr(self._copy())

    def items(self) -> ItemsView[str, Any]:
        """Of one copy: a key that goes meanwhile is no error."""
        return self._copy().items()

    def values(self) -> ValuesView[Any]:
        """Of one copy, as ``items``."""
        return self._copy().values()

    def _copy(self) -> dict[str, Any]:
        found: dict[str, Any] = _copied.__get__(self._state)
        return found


def _value(safe: SafeSessionState, key: str) -> Any:
    """What the state holds for ``key``. Raises KeyError with Streamlit's words."""
    safe._yield_callback()
    with safe._lock:
        state = safe._state
        wid = state._key_id_mapper._key_id_mapping.get(key)
        if wid is None and not is_element_id(key):
            for held in (state._new_session_state, state._old_state):
                if key in held:
                    return held[key]
        elif key in state._new_session_state and wid is not None:
            told = state._new_widget_state.widget_metadata.get(wid)
            if told is None or told.presenter is None:
                return state._new_session_state[key]
        return state[key]


def _compacted(state: SessionState) -> None:
    """``_compact_state``, of what has changed: what was looked up before a run is already where it belongs, but for
    what a component shows of itself and for values that were set before their widget was there.
    """
    ids, old, told = state._key_id_mapper._key_id_mapping, state._old_state, state._new_widget_state.widget_metadata
    changed = {ids.get(key, key) for key in state._new_session_state}
    changed.update(state._new_widget_state.states)
    for key in old:
        known = told.get(key)
        if key in ids or (known is not None and known.presenter is not None):
            changed.add(ids.get(key, key))
    for key in changed:
        with suppress(KeyError):  # of a widget that nobody knows any more
            old[key] = state[key]
    state._new_session_state.clear()
    state._new_widget_state.clear()


def forget_widget(safe: SafeSessionState, key: str) -> None:
    """Forget a widget that is never drawn again: Streamlit keeps for good how each was read."""
    with safe._lock:
        state = safe._state
        wid = state._key_id_mapper._key_id_mapping.pop(key, None)
        if wid is not None:
            state._key_id_mapper._id_key_mapping.pop(wid, None)
            state._new_widget_state.widget_metadata.pop(wid, None)
            state._new_widget_state.states.pop(wid, None)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    SafeSessionState.filtered_state = property(LookedUp)  # type: ignore[assignment, method-assign]
    SafeSessionState.__getitem__ = _value  # type: ignore[method-assign]
    SessionState._compact_state = _compacted  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    SafeSessionState.filtered_state = _copied  # type: ignore[assignment, method-assign]
    SafeSessionState.__getitem__ = _found  # type: ignore[method-assign]
    SessionState._compact_state = _compact  # type: ignore[method-assign]
