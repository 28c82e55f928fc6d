"""Values that no widget of a page could have sent leave it as it was at first; those it could count as ever."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.components.v2.bidi_component.serialization import BidiComponentSerde
from streamlit.elements.arrow import DataframeSelectionSerde
from streamlit.elements.plotly_chart import PlotlyChartSelectionSerde
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.elements.widgets.text_widgets import TextAreaSerde, TextInputSerde
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1 import AppTest

from dashboard.runtime import values
from dashboard.serving import failures

EPSILON, STEPS, FINGER, CLICKED = "$$ID-1-epsilon", "$$ID-2-steps", "$$ID-3-finger", "$$ID-4-clicked"
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
    clicks = lambda said: None if said is None else json.loads(said)  # noqa: E731 - as Streamlit reads a click in one
    states.set_widget_metadata(WidgetMetadata(CLICKED, clicks, json.dumps, "json_trigger_value"))
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


def offered() -> None:
    """A page with one widget of every kind that offers options, two for what nobody offered, and a box for text."""
    import streamlit as st

    from dashboard.widgets.inputs import text_box

    def told(key: str) -> None:
        st.session_state["told"] = {**st.session_state["told"], key: st.session_state[key]}

    several = {"multiselect": st.multiselect, "pills": st.pills, "control": st.segmented_control}
    for kind, draw in {"selectbox": st.selectbox, "radio": st.radio, **several}.items():
        draw(kind, ["a", "b", "c"], key=kind, on_change=told, args=(kind,))
    st.pills("many", ["a", "b", "c"], key="pills_many", selection_mode="multi", on_change=told, args=("pills_many",))
    st.select_slider("slider", ["a", "b", "c"], key="slider", on_change=told, args=("slider",))
    st.tabs(["a", "b", "c"], key="tabs", on_change=told, args=("tabs",))
    st.menu_button("menu", ["a", "b", "c"], key="menu", on_click=told, args=("menu",))
    st.selectbox("new", ["a"], key="new", accept_new_options=True, on_change=told, args=("new",))
    st.multiselect("new", ["a"], key="new_many", accept_new_options=True, on_change=told, args=("new_many",))
    text_box("typed", key="typed", most=5000, lines=True, on_change=told, args=("typed",))
    text_box("few", key="few", most=5, value="first", on_change=told, args=("few",))
    st.text_input("any", key="any", on_change=told, args=("any",))


LISTS = ("multiselect", "pills", "control", "pills_many", "slider", "new_many")
OPEN = ("new", "new_many", "typed", "few", "any")
OF_OPTIONS = ("selectbox", "radio", "tabs", "menu", *LISTS[:-1])


def chosen(*said: str) -> dict[str, object]:
    """What a page is told in its callbacks when each of its widgets is sent these choices."""
    app, message = AppTest.from_function(offered, default_timeout=30.0), WidgetStates()
    app.session_state["told"] = {}
    app.run()
    for name, key in app.session_state._state._state._key_id_mapper.id_key_mapping.items():
        state = message.widgets.add(id=name)
        if key in LISTS:
            state.string_array_value.data.extend(said)
        elif key == "menu":
            state.string_trigger_value.data = said[0]
        else:
            state.string_value = said[0]
    app._run(message)
    assert not app.exception
    told: dict[str, object] = app.session_state["told"]
    return told


SELECTED = "$$ID-5-selected"
NO_PLACE = ("null", '"x"', "1e400", "0.5", "true", "[0]", "{}", "-1", "9" * 5000)


def marks(said: str) -> Any:
    """The marks that a session finds chosen in a chart of which a message says so."""
    return _selected(PlotlyChartSelectionSerde(), said)["points"]


def rows(said: str) -> Any:
    """The same of rows of a table."""
    return _selected(DataframeSelectionSerde(), said)["rows"]


def _selected(read: Any, said: str) -> Any:
    states = WStates()
    states.set_widget_metadata(WidgetMetadata(SELECTED, read.deserialize, read.serialize, "string_value"))
    states.set_widget_from_proto(WidgetState(id=SELECTED, string_value=said))
    return states[SELECTED]["selection"]


@pytest.mark.parametrize("points", ["null", "1", '"ab"', '{"a": 1}', "[1]", "[null]", "[[]]"])
def test_what_is_no_list_of_marks_chooses_none(points: str) -> None:
    assert marks(f'{{"selection": {{"points": {points}}}}}') == []


@pytest.mark.parametrize("place", NO_PLACE)
def test_what_is_no_place_chooses_none(place: str) -> None:
    assert marks(f'{{"selection": {{"points": [{{"point_index": 0}}, {{"point_index": {place}}}]}}}}') == []
    assert rows(f'{{"selection": {{"rows": [0, {place}]}}}}') == []


@pytest.mark.parametrize("said", ["null", "1", '"ab"', '{"0": 1}'])
def test_what_is_no_list_of_rows_chooses_none(said: str) -> None:
    assert rows(f'{{"selection": {{"rows": {said}}}}}') == []


@pytest.mark.parametrize(
    "said",
    ["", "{", "{}", "[]", "null", "1", '"x"', '{"selection": null}', '{"selection": []}', '{"selection": {}}', DEEP],
)
@pytest.mark.parametrize("chosen", [marks, rows])
def test_what_says_of_no_choice_chooses_none(chosen: Callable[[str], Any], said: str) -> None:
    assert chosen(said) == []


def test_what_was_chosen_counts() -> None:
    taken_back = {"points": [], "point_indices": [], "box": [], "lasso": []}
    assert marks(json.dumps({"selection": taken_back})) == []
    points = [{"point_index": 3, "x": 0.5}, {"x": 1}]
    assert marks(json.dumps({"selection": {**taken_back, "points": points}})) == points
    assert rows('{"selection": {"rows": [2, 0], "columns": [], "cells": []}}') == [2, 0]
    assert rows('{"selection": {"rows": [], "columns": [], "cells": []}}') == []


def test_a_choice_is_one_that_was_offered() -> None:
    """Any other leaves the widget as it was at first, whatever it says, unless the widget takes new ones."""
    found = chosen("b")
    assert set(found) == {*OF_OPTIONS, *OPEN}
    assert [found[key] for key in OF_OPTIONS] == ["b", "b", "b", "b", ["b"], "b", "b", ["b"], "b"]
    assert chosen("punycode") == {"new": "punycode", "new_many": ["punycode"], "typed": "punycode", "any": "punycode"}
    assert not {*chosen("b", "punycode")} & {"multiselect", "pills", "control", "pills_many", "slider"}
    assert not {*chosen("b", "b")} & {"multiselect", "pills_many"}, "nobody chooses one twice"
    assert chosen("c", "b")["multiselect"] == ["c", "b"]


@pytest.mark.parametrize("sign", ["x", "𐍈"])
def test_only_what_a_person_types_is_long(sign: str) -> None:
    """Some bytes of JSON are thirty times as many in memory, and stay there for as long as the page is open.

    A box takes no more than it says, and a text of more is not cut, which would be a copy; one that says nothing takes
    no more than what is not typed.
    """
    long = sign * (values.LONGEST + 1)
    assert chosen(long) == {"typed": long}
    assert chosen(sign * 5000) == {"typed": sign * 5000}
    assert not chosen(sign * 5001)
    assert chosen(sign * 5)["few"] == sign * 5
    assert "few" not in chosen(sign * 6)


def test_a_box_takes_what_it_begins_with() -> None:
    app = AppTest.from_string(
        "from dashboard.widgets.inputs import text_box\n"
        "text_box('options', key='long', most=3, value='a, b, c')\n"
        "text_box('options', key='short', most=3, value='a', lines=True)\n",
        default_timeout=30.0,
    ).run()
    assert app.text_input(key="long").value == "a, b, c"
    assert app.text_input(key="long").proto.max_chars == 7
    assert app.text_area(key="short").proto.max_chars == 3


@pytest.mark.parametrize("said", ["[", "", "\x00", "{", "nul"])
def test_a_selection_that_cannot_be_read_was_not_sent(said: str) -> None:
    """It ended the page's connection, and wrote a line into the log."""
    assert not marks(said)
    assert not rows(said)
    for read in (PlotlyChartSelectionSerde(), DataframeSelectionSerde()):
        known = WidgetMetadata(SELECTED, read.deserialize, read.serialize, "string_value")
        assert not values.could_send(known, WidgetState(id=SELECTED, string_value=said))


def test_what_is_not_text_is_short_too() -> None:
    """A file that was never sent has a name of any length."""
    for size, found in ((100, True), (20_000, False)):
        message = WidgetState()
        message.file_uploader_state_value.uploaded_file_info.add(file_id="x" * size)
        known = WidgetMetadata(FINGER, lambda said: said, lambda said: said, "file_uploader_state_value")
        assert values.could_send(known, message) == found


def test_more_bytes_than_it_has_characters_are_not_made_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine million bytes were thirty-six million as a text, cut to twenty characters afterwards."""
    large = SimpleNamespace(WhichOneof=lambda _: "string_value", ByteSize=lambda: 9_000_000)
    for box in (TextInputSerde("", 20), TextAreaSerde("", 20), TextInputSerde("")):
        known = WidgetMetadata(FINGER, box.deserialize, box.serialize, "string_value")
        assert not values.could_send(known, large)  # type: ignore[arg-type]
    monkeypatch.setattr(values, "is_small", lambda *_: True)
    with pytest.raises(AttributeError):  # its text is asked for
        values.could_send(known, large)  # type: ignore[arg-type]


def test_a_box_cut_to_its_limit_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the tests above can fail: as it was, a box took any text, and cut it."""
    monkeypatch.setattr(values, "could_send", lambda *_: True)
    assert chosen("x" * 5001)["typed"] == "x" * 5000
    assert chosen("x" * 5001)["any"] == "x" * 5001


def test_a_component_says_little() -> None:
    for length, found in ((values.LONGEST - 7, True), (values.LONGEST + 1, False)):
        states = sent(FINGER, json_value='{"y":"' + "y" * (length - 8) + '"}')
        assert ("y" in states.get(FINGER)) == found
        clicked = sent(CLICKED, json_trigger_value='["' + "z" * (length - 4) + '"]')
        assert (clicked.get(CLICKED) is not None) == found


@pytest.mark.parametrize("say", [{"json_value": "[" * 5000}, {"json_trigger_value": "[" * 5000}])
def test_what_is_too_long_is_not_read(say: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_read", lambda *_: pytest.fail("it was read"))
    key = FINGER if "json_value" in say else CLICKED
    assert sent(key, **say).get(key) == ({"x": 0.5} if key == FINGER else None)


def test_without_the_guard_it_fails() -> None:
    """What shows that the tests above can fail."""
    values.unguard()
    with pytest.raises(TypeError):
        sent(STEPS, double_value=2.5).get(STEPS)
    assert chosen("punycode")["selectbox"] == "punycode"
    long = "y" * values.LONGEST
    assert sent(FINGER, json_value=f'{{"y":"{long}"}}').get(FINGER) == {"y": long, "x": 0.5}
