"""Values that no widget of a page could have sent leave it as it was at first; those it could count as ever."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.components.v2.bidi_component.serialization import BidiComponentSerde
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

from dashboard import failures, values

EPSILON, STEPS, FINGER = "$$ID-1-epsilon", "$$ID-2-steps", "$$ID-3-finger"
DEEP = "[" * 100_000


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    values.guard()
    yield
    values.unguard()


def _step(sent: list[str] | None) -> str:
    """As Streamlit's slider of named steps reads one."""
    return sent[0] if sent and len(sent) == 1 else "a"


def sent(key: str, **value: Any) -> WStates:
    """What a session holds after one message, with a number from 0 to 9, one of three steps and a component."""
    states = WStates()
    number = NumberInputSerde(1.0, NumberInput.FLOAT, 0.0, 9.0)
    states.set_widget_metadata(WidgetMetadata(EPSILON, number.deserialize, number.serialize, "double_value"))
    states.set_widget_metadata(WidgetMetadata(STEPS, _step, lambda step: [step], "string_array_value"))
    part = BidiComponentSerde({"x": 0.5})
    states.set_widget_metadata(WidgetMetadata(FINGER, part.deserialize, part.serialize, "json_value"))
    message = WidgetState(id=key)
    for field, content in value.items():
        if field.endswith("array_value"):
            getattr(message, field).data.extend(content)
        else:
            setattr(message, field, content)
    states.set_widget_from_proto(message)
    return states


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (EPSILON, {"string_value": "abc"}),
        (EPSILON, {"json_value": "{{"}),
        (EPSILON, {"double_array_value": [1.0, 2.0]}),
        (EPSILON, {"bool_value": True}),
        (STEPS, {"double_value": 2.5}),
        (STEPS, {"string_value": "b"}),
        (STEPS, {"bytes_value": b"b"}),
    ],
)
def test_what_it_could_not_have_sent_was_not_sent(key: str, value: dict[str, Any]) -> None:
    states = sent(key, **value)
    first = {EPSILON: 1.0, STEPS: "a"}[key]
    assert states.get(key) == first
    (kept,) = states.as_widget_states()
    assert kept.WhichOneof("value") == {EPSILON: "double_value", STEPS: "string_array_value"}[key]
    assert states[key] == first, "and in the next run"


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        (EPSILON, {"double_value": 2.5}, 2.5),
        (EPSILON, {"int_value": 3}, 3.0),
        (EPSILON, {"double_value": float("nan")}, 1.0),
        (EPSILON, {"double_value": 1e308}, 1.0),
        (EPSILON, {}, 1.0),
        (STEPS, {"string_array_value": ["b"]}, "b"),
    ],
)
def test_what_it_could_have_sent_counts(key: str, value: dict[str, Any], found: object) -> None:
    states = sent(key, **value)
    assert states.get(key) == found
    states.set_from_value(key, found)
    assert len(states.as_widget_states()) == 1


@pytest.mark.parametrize("value", ["{{", '"{{"', DEEP, f'"{DEEP}"', "[1]"])
def test_what_a_component_cannot_read_is_as_at_first_without_a_word_in_the_log(
    value: str, caplog: pytest.LogCaptureFixture
) -> None:
    failures.keep_values_from_the_log()
    caplog.set_level(logging.WARNING)
    logging.getLogger("streamlit").addHandler(caplog.handler)  # it does not pass on what it is told
    try:
        states = sent(FINGER, json_value=value)
        assert states.get(FINGER) == {"x": 0.5}
        assert states[FINGER] == {"x": 0.5}, "and in the next run"
    finally:
        logging.getLogger("streamlit").removeHandler(caplog.handler)
        failures.write_all_to_the_log()
    assert not caplog.records
    assert sent(FINGER, json_value='{"x": 2}').get(FINGER) == {"x": 2}


def test_without_the_guard_it_fails() -> None:
    """What shows that the tests above can fail."""
    values.unguard()
    with pytest.raises(TypeError):
        sent(STEPS, double_value=2.5).get(STEPS)
