"""What is typed on a page is bounded before Streamlit has it: box by box, all that a session holds of it, and all.

Streamlit keeps a message until the page sends the next one, until a run has had its turn, and in the session beside
what was made of it; of a page that was closed too, as long as it could come back. So the gate takes out of a message
what its widgets could not have sent, and how large one may be depends on what stands on its page: only where there is a
box for a table it can hold one. What the boxes of all sessions hold is counted until nobody holds the session any more,
and what is more than there is room for is taken out as well, which the page says (``refusal``).
"""

from __future__ import annotations

import logging
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import session_state
from streamlit.runtime.state.common import WidgetMetadata

from dashboard.runtime import values
from dashboard.serving.pace import fits
from dashboard.words import server as words

TOGETHER = 3_500_000
"""Characters that the boxes of a session hold together: a table, a receipt and the options of forty columns."""
SMALL, NOT_DRAWN = 1_000, 100_000
"""Bytes of a value that nothing is asked of yet, and of all of widgets that this session has not drawn: a browser that
comes back to a server that began anew says what its page held."""
MOST, COUNTED = 64 << 20, 20_000
"""Bytes of text in the boxes of all sessions, and those of one session that do not count. Streamlit keeps five to six
times as many."""
_log = logging.getLogger(__name__)


class Session(Protocol):
    """As Streamlit has it."""

    id: str

    @property
    def session_state(self) -> session_state.SessionState: ...


@dataclass(slots=True)
class _Text:
    """What the boxes of a session hold, for which address, and what its page has to say of the last message."""

    session: weakref.ref[Session]
    visitor: str
    size: int = 0
    refusal: str = ""


class Texts:
    """What the boxes of all sessions hold, closed pages too, until the session is gone. Asked by one thread alone."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held: dict[str, _Text] = {}

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, session: Session) -> bool:
        """Whether a session counts, so that its next message may free room."""
        return session.id in self._held

    def has_room(self, session: Session, visitor: str, size: int) -> bool:
        """Whether a session may hold so many bytes in its boxes."""
        others = [(one.visitor, one.size) for name, one in list(self._held.items()) if name != session.id]
        return fits([*others, (visitor, size)], visitor, self._most)

    def note(self, session: Session, visitor: str, size: int, refusal: str) -> None:
        """A session holds so many bytes from now on."""
        name = session.id
        if size <= COUNTED and not refusal:
            self._held.pop(name, None)
            return
        held = self._held.get(name)
        if held is None:
            gone = weakref.ref(session, lambda _: self._held.pop(name, None))
            held = self._held[name] = _Text(gone, visitor)
        held.visitor, held.size, held.refusal = visitor, size, refusal

    def refusal(self, session: str) -> str:
        """What the page says of what was typed last and not taken; nothing where all was."""
        held = self._held.get(session)
        return "" if held is None else held.refusal


def refusal() -> str:
    """The same for the page that is drawn now."""
    context = get_script_run_ctx()
    return "" if context is None else TEXTS.refusal(context.session_id)


def fitting(asked: ClientState, session: Session, visitor: str) -> ClientState:
    """What an address asks, without long values that its widgets could not have sent, or that are too much together.

    Their widgets stay as they were. It is a new message, since one that was cut keeps all of its memory.
    """
    if asked.widget_states.ByteSize() <= SMALL and not TEXTS.holds(session):
        return asked
    state = session.session_state
    known = state._new_widget_state.widget_metadata
    widgets = asked.widget_states.widgets
    sent = {one.id: one for one in widgets}  # of one widget the last counts
    long = {name: one for name, one in sent.items() if one.ByteSize() > SMALL}
    away = {name for name in long if name in known and not values.could_send(known[name], long[name])}
    for elsewhere in ([name for name in some if name not in known] for some in (long, sent)):
        if sum(sent[name].ByteSize() for name in elsewhere if name not in away) > NOT_DRAWN:
            away |= {*elsewhere}
    taken = {name: one for name, one in sent.items() if name not in away}
    boxes = {name for name in long if name not in away and values.is_typed(known.get(name))}
    letters, size, told = *_held(known, taken, state), ""
    if boxes:
        if letters > TOGETHER:
            told = words.TOO_MUCH_TYPED
        elif size > COUNTED and not TEXTS.has_room(session, visitor, size):
            told = words.NO_ROOM_FOR_TEXT
        if told:
            away |= boxes
            _, size = _held(known, {name: one for name, one in taken.items() if name not in boxes}, state)
    TEXTS.note(session, visitor, size, told)
    if not away and len(sent) == len(widgets):
        return asked
    _log.info("a message held more than its page could send")
    states = WidgetStates(widgets=[one for name, one in sent.items() if name not in away])
    asked.ClearField("widget_states")
    fits = ClientState(widget_states=states)
    fits.MergeFrom(asked)
    return fits


def _held(
    known: Mapping[str, WidgetMetadata[Any]], taken: Mapping[str, WidgetState], state: session_state.SessionState
) -> tuple[int, int]:
    """How many characters all boxes for text would hold with these values, and in how many bytes."""
    ids, read = state._key_id_mapper, state._new_widget_state
    held: dict[str, object] = {ids.get_id_from_key(key, key) or key: one for key, one in list(state._old_state.items())}
    held |= dict(list(read.states.items()))
    held |= taken
    texts = [_text(one) for name, one in held.items() if values.is_typed(known.get(name))]
    return sum(map(len, texts)), sum(map(sys.getsizeof, texts))


def _text(held: object) -> str:
    """A text, as a session holds it or as it was sent."""
    match held:
        case session_state.Value(value=text) if isinstance(text, str):
            return text
        case session_state.Serialized(value=sent):
            return str(sent.string_value)
        case WidgetState():
            return str(held.string_value)
    return held if isinstance(held, str) else ""


TEXTS = Texts()
