"""A session's state is looked up by who asks for one value of it, not copied whole.

Number boxes, lists and text boxes each ask whether one value of the state is None. Streamlit answers with a copy of all
values, and a page has some twenty such boxes: a tenth of a rerun. Here they get what answers when it is asked. And a
page asks for some two hundred values: each goes the short way, where the value lies as it is asked for. And Streamlit
keeps for good how each widget was read that was ever drawn, with the text that a box began with: here it goes with the
widget.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sized, ValuesView
from contextlib import suppress
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import WidgetMetadata, is_element_id
from streamlit.runtime.state.presentation import apply_presenter
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, _is_internal_key, _missing_key_error_message

_copied: property = SafeSessionState.__dict__["filtered_state"]
_found = SafeSessionState.__getitem__
_ABSENT = object()
_HELD = ("value", "options", "formatted_options", "default_value")
"""Where what reads a widget's values keeps what it began with, and its options."""
MOST_LEFT, LARGE = 64, 200
"""Widgets that are no longer drawn, whose clicks or moves may be on their way, and how much one of them may hold, in
letters or options."""
MOST_BESIDE = 500
"""Widgets that runs which never came to their end may add to twice those of a page."""


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
        return _held(safe._state, key)


class _Missing(KeyError):
    """As Streamlit says it, which is put into words only where somebody reads them."""

    def __str__(self) -> str:
        return str(KeyError(_missing_key_error_message(self.args[0])))


def _held(state: SessionState, key: str) -> Any:
    """``SessionState.__getitem__``: what was set in this run, then what the browser sent, then what was there before.
    It looks whether a value is there, where Streamlit tries and fails.
    """
    ids, new, told = state._key_id_mapper, state._new_session_state, state._new_widget_state
    wid = ids._key_id_mapping.get(key, key)
    name = ids._id_key_mapping.get(key, key) if wid == key else key
    if name in new:
        found = new[name]
    else:
        found = _ABSENT
        if wid in told.states:
            with suppress(KeyError):  # sent for a widget that nobody has drawn yet
                found = told[wid]
        if found is _ABSENT:
            old = state._old_state
            if wid in old:
                found = old[wid]
            elif name in old:
                found = old[name]
            else:
                raise _Missing(name)
    metadata = told.widget_metadata.get(wid)
    return found if metadata is None or metadata.presenter is None else apply_presenter(state, wid, found)


def _holds(state: SessionState, key: str) -> bool:
    """``SessionState.__contains__``."""
    try:
        _held(state, key)
    except KeyError:
        return False
    return True


def _widget_id(state: SessionState, key: str) -> str:
    """``SessionState._get_widget_id``, which a page asks for some two hundred times."""
    return state._key_id_mapper._key_id_mapping.get(key, key)


class _Known(dict[str, WidgetMetadata[Any]]):
    """How widgets are read, the one that was drawn last at the end; how many the last whole run drew, which were drawn
    since the last run began, and whether the next whole run leaves none that it has not drawn."""

    def __init__(self, known: Mapping[str, WidgetMetadata[Any]]) -> None:
        super().__init__(known)
        self.drawn, self.latest, self.bare = 0, set[str](), False


def _drawn(state: SessionState, known: WidgetMetadata[Any]) -> None:
    """``_set_widget_metadata``, in the order of ``_Known``."""
    told = state._new_widget_state
    if not isinstance(told.widget_metadata, _Known):
        told.widget_metadata = _Known(told.widget_metadata)
    told.widget_metadata.pop(known.id, None)
    told.widget_metadata[known.id] = known
    told.widget_metadata.latest.add(known.id)


def _without_unfinished(state: SessionState) -> None:
    """Forget widgets of runs that were broken off before they drew them again: only a whole run forgets what it has not
    drawn, and a page that is asked again in time, or fails, has none.
    """
    known = state._new_widget_state.widget_metadata
    if not isinstance(known, _Known):
        return
    most = MOST_BESIDE + 2 * max(known.drawn, len(known.latest))  # the page in view may be a larger one
    known.latest.clear()
    if len(known) <= most:
        return
    for wid in list(known)[: len(known) - most // 2]:
        _forget(state, wid)


def _compacted(state: SessionState) -> None:
    """``_compact_state``, of what has changed: what was looked up before a run is already where it belongs, but for
    what a component shows of itself and for values that were set before their widget was there.
    """
    _without_unfinished(state)
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
        wid = safe._state._key_id_mapper._key_id_mapping.get(key)
        if wid is not None:
            _forget(safe._state, wid)


def forget_left(safe: SafeSessionState) -> None:
    """Leave nothing of the widgets that the next whole run does not draw: what one began with, or is called with, may
    be words of a file that is gone."""
    with safe._lock:
        known = safe._state._new_widget_state.widget_metadata
        if isinstance(known, _Known):
            known.bare = True


def _forget(state: SessionState, wid: str) -> None:
    """How a widget is read, its name, and what was sent for it."""
    told = state._new_widget_state
    told.widget_metadata.pop(wid, None)
    told.states.pop(wid, None)
    state._old_state.pop(wid, None)
    _unname(state, wid)


def _unname(state: SessionState, wid: str) -> None:
    ids = state._key_id_mapper
    name = ids._id_key_mapping.pop(wid, None)
    if name is not None and ids._key_id_mapping.get(name) == wid:
        del ids._key_id_mapping[name]


def _without_stale(state: SessionState, active: frozenset[str]) -> None:
    """``_remove_stale_widgets``, and how those were read that are no longer drawn and have no value: with it goes what
    a box began with, and a list's options. The last small ones stay, as somebody may have moved them just now; none
    where a file is gone that they may tell of (``forget_left``).
    """
    _STREAMLITS["_remove_stale_widgets"](state, active)
    context = get_script_run_ctx()
    if context is None:
        return
    ids, told = state._key_id_mapper, state._new_widget_state.widget_metadata
    parts = context.fragment_ids_this_run
    stale = [
        wid
        for wid, known in told.items()
        if wid not in active
        and not (parts and known.fragment_id not in parts)
        and not _is_kept(state, wid, ids._id_key_mapping.get(wid, wid))
    ]
    bare = isinstance(told, _Known) and told.bare
    small = [] if bare else [wid for wid in stale if not _is_large(told[wid])]
    for wid in {*stale} - {*small[-MOST_LEFT:]}:
        del told[wid]
        _unname(state, wid)
    if not parts and isinstance(told, _Known):
        told.drawn, told.bare = len(active), False


def _is_large(known: WidgetMetadata[Any]) -> bool:
    """Whether how a widget is read holds much: a text or options, or what its callback is called with."""
    read = getattr(known.deserializer, "__self__", None)
    held = (known.formatted_options, *(getattr(read, name, None) for name in _HELD), *(known.callback_args or ()))
    return any(isinstance(one, Sized) and len(one) > LARGE for one in held)


def _is_kept(state: SessionState, wid: str, name: str) -> bool:
    """Whether a session holds a value of a widget, under either of its names."""
    places = (state._new_widget_state.states, state._old_state, state._new_session_state)
    return any(one in held for held in places for one in (wid, name))


_OURS: dict[str, Any] = {
    "_remove_stale_widgets": _without_stale,
    "__getitem__": _held,
    "__contains__": _holds,
    "_get_widget_id": _widget_id,
    "_compact_state": _compacted,
    "_set_widget_metadata": _drawn,
}
_STREAMLITS: dict[str, Any] = {name: SessionState.__dict__[name] for name in _OURS}


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    SafeSessionState.filtered_state = property(LookedUp)  # type: ignore[assignment, method-assign]
    SafeSessionState.__getitem__ = _value  # type: ignore[method-assign]
    for name, method in _OURS.items():
        setattr(SessionState, name, method)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    SafeSessionState.filtered_state = _copied  # type: ignore[assignment, method-assign]
    SafeSessionState.__getitem__ = _found  # type: ignore[method-assign]
    for name, method in _STREAMLITS.items():
        setattr(SessionState, name, method)
