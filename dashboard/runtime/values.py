"""A value that a page is sent for a widget counts only if that widget could have sent it.

Streamlit reads what arrives as the widget would have sent it. A value of another kind, by a hand-made message, ended
the thread of the script, or stayed in the session and failed at every later run. A choice that was none of those
offered came to the page as it was, whatever it said, and some bytes of JSON are thirty times as many in the session.
A text was copied before it was cut to what its box takes. Here the widget is as it was at first.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from streamlit.elements.arrow import DataframeSelectionSerde
from streamlit.elements.plotly_chart import PlotlyChartSelectionSerde
from streamlit.elements.widgets.text_widgets import TextAreaSerde, TextInputSerde
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state import session_state
from streamlit.runtime.state.common import WidgetMetadata

LONGEST = 4_000
"""Characters of a text that a person did not type into a text box: what a component or a chart says of itself."""
_AROUND = 1_000
"""Bytes of a value beside its characters: its widget's name, a few times over."""
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
    try:
        if could_send(known, sent.value):
            return _read(states, key)
    except Exception:  # noqa: BLE001 - whatever Streamlit or a component does with what was sent
        _log.info("a widget was sent a value that it cannot read")
    finally:
        states.set_widget_metadata(known)  # of what kind its values are is not for a message to say
    first = known.deserializer(None)
    states.states[key] = session_state.Value(first)
    return first


def is_typed(known: WidgetMetadata[Any] | None) -> bool:
    """Whether a widget is a box for text."""
    return known is not None and isinstance(_reader(known), TextInputSerde | TextAreaSerde)


def is_small(value: WidgetState, most: int = LONGEST) -> bool:
    """Whether a value takes no more bytes than ``most`` characters can: asked before anything of it is copied."""
    return int(value.ByteSize()) <= 4 * most + _AROUND


def _reader(known: WidgetMetadata[Any]) -> object:
    """What reads the values of a widget, where it is an object of its own."""
    return getattr(known.deserializer, "__self__", None)


def _longest(known: WidgetMetadata[Any]) -> int:
    """How many characters a widget may be sent at most."""
    if known.formatted_options is not None:
        return sum(map(len, known.formatted_options))
    box = _reader(known)
    limit = box.max_chars if isinstance(box, TextInputSerde | TextAreaSerde) else None
    return LONGEST if limit is None else limit


def _is_selection(known: WidgetMetadata[Any], said: Any) -> bool:
    """Whether it says which marks of a chart or rows of a table were chosen, each by its place. Raises KeyError or
    TypeError."""
    chosen = said["selection"]
    if isinstance(_reader(known), PlotlyChartSelectionSerde):
        return isinstance(chosen["points"], list) and all(
            _is_place(one.get("point_index", 0)) for one in chosen["points"]
        )
    return isinstance(chosen["rows"], list) and all(map(_is_place, chosen["rows"]))


def _is_place(said: Any) -> bool:
    return type(said) is int and said >= 0


def could_send(known: WidgetMetadata[Any], value: WidgetState) -> bool:
    """Whether a value is of the kind that a widget sends, no longer than it could be, and one of its options.

    A widget that takes what was never offered to it says so: it names no options.
    """
    kind = value.WhichOneof("value")
    if kind is None:
        return True
    if kind != known.value_type and not {kind, known.value_type} <= _NUMBERS:
        return False
    if not is_small(value) and not is_small(value, _longest(known)):
        return False
    said = getattr(value, kind)
    if isinstance(_reader(known), PlotlyChartSelectionSerde | DataframeSelectionSerde):
        try:
            return _is_selection(known, json.loads(said))
        except ValueError:
            return False
    chosen = [said] if isinstance(said, str) else list(said.data) if kind == "string_array_value" else []
    if known.formatted_options is None:
        return sum(map(len, chosen)) <= _longest(known)
    return len(chosen) == len(set(chosen)) and set(chosen) <= set(known.formatted_options)
