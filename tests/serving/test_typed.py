"""What a message holds beyond what its page could send is taken out before anything waits with it."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.elements.widgets.text_widgets import TextInputSerde
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState

from dashboard import gate, typed, values

TABLE = 2_000_000


def session(boxes: dict[str, int], **held: str) -> SessionState:
    """A session that has drawn boxes of so many characters, and a component; some of them have been typed in."""
    state = SessionState()
    for name, most in boxes.items():
        box = TextInputSerde("", most)
        state._new_widget_state.set_widget_metadata(
            WidgetMetadata(name, box.deserialize, box.serialize, "string_value")
        )
    read: Any = lambda said: said  # noqa: E731 - as a component does
    state._new_widget_state.set_widget_metadata(WidgetMetadata("part", read, read, "json_value"))
    state._old_state |= held
    return state


def asked(*texts: tuple[str, str]) -> ClientState:
    message = ClientState(query_string="page=1", cached_message_hashes=["a"])
    for name, text in texts:
        message.widget_states.widgets.add(id=name, string_value=text)
    return message


def taken(message: ClientState, state: SessionState) -> dict[str, int]:
    """How many characters of each box come to the session; all else of the message stays as it is."""
    found = typed.fitting(message, state)
    assert found.query_string == "page=1"
    assert list(found.cached_message_hashes) == ["a"]
    return {one.id: len(one.string_value) for one in found.widget_states.widgets}


def test_a_page_without_a_box_for_a_table_can_send_none() -> None:
    small = session({"find": 60, "why": 1000})
    for text in ("x" * TABLE, "𐍈" * TABLE, "x" * 1001):
        assert taken(asked(("why", text), ("find", "ε")), small) == {"find": 1}
    assert taken(asked(("why", "𐍈" * 1000)), small) == {"why": 1000}
    assert taken(asked(("pasted", "𐍈" * TABLE)), session({"pasted": TABLE})) == {"pasted": TABLE}


def test_what_was_never_drawn_holds_little() -> None:
    """A browser comes back to a server that began anew with what its page held."""
    state = session({})
    assert taken(asked(("chosen", "x" * 5_000), ("named", "x" * 50)), state) == {"chosen": 5_000, "named": 50}
    assert taken(asked(*((f"{number}", "x" * 5_000) for number in range(100)), ("named", "x" * 50)), state) == {
        "named": 50
    }
    assert taken(asked(("x" * typed.NOT_DRAWN, "x")), state) == {}


def test_one_widget_has_one_value() -> None:
    state = session({"why": 1000})
    assert taken(asked(*((("why", "x" * 1000),) * 500)), state) == {"why": 1000}


def test_all_that_is_typed_is_bounded_together() -> None:
    """Message by message too: what a session holds counts, unless it is written over."""
    boxes = {f"box {number}": TABLE for number in range(3)}
    two = [("box 0", "x" * TABLE), ("box 1", "x" * TABLE)]
    assert taken(asked(*two), session(boxes)) == {}
    state = session(boxes, **{"box 0": "x" * TABLE})
    assert taken(asked(("box 1", "x" * TABLE), ("box 2", "few")), state) == {"box 2": 3}
    assert taken(asked(("box 0", "y" * TABLE), ("box 2", "few")), state) == {"box 0": TABLE, "box 2": 3}
    state = session(boxes)
    state.set_widgets_from_proto(asked(("box 0", "x" * TABLE)).widget_states)
    assert taken(asked(("box 1", "x" * TABLE)), state) == {}, "also before it is read"
    state = session(boxes, kept="x" * TABLE)
    state._key_id_mapper["kept"] = "box 0"
    assert taken(asked(("box 1", "x" * TABLE)), state) == {}, "also where its page was left"
    assert taken(asked(("box 1", "x" * TABLE)), session(boxes, table="x" * TABLE)) == {"box 1": TABLE}


def test_the_whole_message_is_let_go() -> None:
    """One that was cut keeps its memory: nothing of it may be left."""
    message = asked(("why", "x" * TABLE))
    assert typed.fitting(message, session({"why": 60})) is not message
    small = asked(("why", "x"))
    assert typed.fitting(small, session({"why": 60})) is small


@pytest.mark.parametrize("lost", ["could_send", "is_typed"])
def test_a_bound_that_is_lost_is_found_out(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, lost, lambda *_: lost == "could_send")
    if lost == "could_send":
        assert taken(asked(("why", "x" * TABLE)), session({"why": 60})) == {"why": TABLE}
    else:
        two = [("box 0", "x" * TABLE), ("box 1", "x" * TABLE)]
        assert len(taken(asked(*two), session({"box 0": TABLE, "box 1": TABLE}))) == 2


def test_one_message_can_bring_what_a_session_may_hold() -> None:
    assert TABLE <= typed.TOGETHER <= gate.MESSAGE_BYTES
