"""A value that a page is sent for a widget counts only if that widget could have sent it.

Streamlit reads what arrives as the widget would have sent it. A value of another kind, by a hand-made message, ended
the thread of the script, or stayed in the session and failed at every later run. Here the widget is as it was at first.
"""

from __future__ import annotations

import logging
from typing import Any

from streamlit.runtime.state import session_state

_NUMBERS = frozenset({"int_value", "double_value"})
"""A box for whole numbers is registered for the one, and sends the other."""
_log = logging.getLogger(__name__)
_read = session_state.WStates.__getitem__


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    session_state.WStates.__getitem__ = _checked  # type: ignore[method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    session_state.WStates.__getitem__ = _read  # type: ignore[method-assign]


def _checked(states: session_state.WStates, key: str) -> Any:
    """The value of a widget: as at first, where it was sent one that it could not have sent. Raises KeyError."""
    sent, known = states.states.get(key), states.widget_metadata.get(key)
    if not isinstance(sent, session_state.Serialized) or known is None:
        return _read(states, key)
    kind = sent.value.WhichOneof("value")
    try:
        if kind is None or kind == known.value_type or {kind, known.value_type} <= _NUMBERS:
            return _read(states, key)
    except Exception:  # noqa: BLE001 - whatever Streamlit or a component does with what was sent
        _log.info("a widget was sent a value that it cannot read")
    finally:
        states.set_widget_metadata(known)  # of what kind its values are is not for a message to say
    first = known.deserializer(None)
    states.states[key] = session_state.Value(first)
    return first
