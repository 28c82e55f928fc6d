"""A value that a page is sent for a widget counts only if that widget could have sent it.

Streamlit reads what arrives as the widget would have sent it. A value of another kind, by a hand-made message, ended
the thread of the script, or stayed in the session and failed at every later run. Here it counts as not sent.
"""

from __future__ import annotations

import logging
from typing import Any

from streamlit.runtime.state import session_state

_log = logging.getLogger(__name__)
_read = session_state.WStates.__getitem__


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    session_state.WStates.__getitem__ = _checked  # type: ignore[method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    session_state.WStates.__getitem__ = _read  # type: ignore[method-assign]


def _checked(states: session_state.WStates, key: str) -> Any:
    """The value of a widget. Raises KeyError where there is none, or none that it could have sent."""
    sent, known = states.states.get(key), states.widget_metadata.get(key)
    if isinstance(sent, session_state.Serialized) and known is not None:
        kind = sent.value.WhichOneof("value")
        if kind is not None and kind != known.value_type:
            _forget(states, key)
        try:
            return _read(states, key)
        except (TypeError, ValueError, AttributeError, IndexError, OverflowError):
            _forget(states, key)
    return _read(states, key)


def _forget(states: session_state.WStates, key: str) -> None:
    """It counts as not sent. The log gets no word of the value."""
    states.states.pop(key, None)
    _log.info("a widget was sent a value that it could not have sent")
    raise KeyError(key) from None
