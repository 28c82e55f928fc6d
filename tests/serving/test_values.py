"""Values that no widget of a page could have sent leave it as it was at first; those it could count as ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

from dashboard import values

EPSILON, STEPS = "$$ID-1-epsilon", "$$ID-2-steps"


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    values.guard()
    yield
    values.unguard()


def _step(sent: list[str] | None) -> str:
    """As Streamlit's slider of named steps reads one."""
    return sent[0] if sent and len(sent) == 1 else "a"


def sent(key: str, **value: Any) -> WStates:
    """What a session holds after one message, with a number from 0 to 9 and one of three steps on the page."""
    states = WStates()
    number = NumberInputSerde(1.0, NumberInput.FLOAT, 0.0, 9.0)
    states.set_widget_metadata(WidgetMetadata(EPSILON, number.deserialize, number.serialize, "double_value"))
    states.set_widget_metadata(WidgetMetadata(STEPS, _step, lambda step: [step], "string_array_value"))
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


def test_without_the_guard_it_fails() -> None:
    """What shows that the tests above can fail."""
    values.unguard()
    with pytest.raises(TypeError):
        sent(STEPS, double_value=2.5).get(STEPS)
