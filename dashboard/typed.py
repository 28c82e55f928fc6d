"""What is typed on a page is bounded before Streamlit has it: box by box, and all that a session holds of it.

Streamlit keeps a message until the page sends the next one, until a run has had its turn, and in the session beside
what was made of it. So the gate takes out of a message what its widgets could not have sent, and how large one may be
depends on what stands on its page: only where there is a box for a table it can hold one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state import session_state
from streamlit.runtime.state.common import WidgetMetadata

from dashboard import values

TOGETHER = 3_500_000
"""Characters that the boxes of a session hold together: a table, a receipt and the options of forty columns."""
SMALL, NOT_DRAWN = 1_000, 100_000
"""Bytes of a value that nothing is asked of yet, and of all larger ones of widgets that this session has not drawn:
a browser that comes back to a server that began anew says what its page held."""
_log = logging.getLogger(__name__)


def fitting(asked: ClientState, state: session_state.SessionState) -> ClientState:
    """What is asked, without long values that its widgets could not have sent, or that are too much together.

    Their widgets stay as they were. It is a new message, since one that was cut keeps all of its memory.
    """
    if asked.widget_states.ByteSize() <= SMALL:
        return asked
    known = state._new_widget_state.widget_metadata
    widgets = asked.widget_states.widgets
    sent = {one.id: one for one in widgets}  # of one widget the last counts
    long = {name: one for name, one in sent.items() if one.ByteSize() > SMALL}
    elsewhere = [name for name in long if name not in known]
    away = {name for name in long if name in known and not values.could_send(known[name], long[name])}
    if sum(long[name].ByteSize() for name in elsewhere) > NOT_DRAWN:
        away |= {*elsewhere}
    taken = {name: one for name, one in sent.items() if name not in away}
    boxes = {name for name in long if name not in away and values.is_typed(known.get(name))}
    if boxes and _characters(known, taken, state) > TOGETHER:
        away |= boxes
    if not away and len(sent) == len(widgets):
        return asked
    _log.info("a message held more than its page could send")
    states = WidgetStates(widgets=[one for name, one in sent.items() if name not in away])
    asked.ClearField("widget_states")
    fits = ClientState(widget_states=states)
    fits.MergeFrom(asked)
    return fits


def _characters(
    known: Mapping[str, WidgetMetadata[Any]], taken: Mapping[str, WidgetState], state: session_state.SessionState
) -> int:
    """How many characters all boxes for text would hold with these values."""
    ids, read = state._key_id_mapper, state._new_widget_state
    held: dict[str, object] = {ids.get_id_from_key(key, key) or key: one for key, one in list(state._old_state.items())}
    held |= dict(list(read.states.items()))
    held |= taken
    return sum(_length(one) for name, one in held.items() if values.is_typed(known.get(name)))


def _length(held: object) -> int:
    """Characters of a text, as a session holds it or as it was sent."""
    match held:
        case session_state.Value(value=text) if isinstance(text, str):
            return len(text)
        case session_state.Serialized(value=sent):
            return len(sent.string_value)
        case WidgetState():
            return len(held.string_value)
    return len(held) if isinstance(held, str) else 0
