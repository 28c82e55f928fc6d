"""What a message holds beyond what its page could send is taken out before anything waits with it."""

from __future__ import annotations

import gc
from itertools import count
from typing import Any

import pytest
from streamlit.elements.widgets.text_widgets import TextInputSerde
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState

from dashboard.runtime import values
from dashboard.serving import messages, typed
from dashboard.serving.pace import EACH
from dashboard.serving.typed import Texts
from dashboard.words import server as words

TABLE = 2_000_000


class Session:
    """As Streamlit has it."""

    def __init__(self) -> None:
        self.id, self.session_state = f"{next(NUMBERS)}", SessionState()


NUMBERS = count()


def session(boxes: dict[str, int], **held: str) -> Session:
    """A session that has drawn boxes of so many characters, and a component; some of them have been typed in."""
    found = Session()
    state = found.session_state
    for name, most in boxes.items():
        box = TextInputSerde("", most)
        state._new_widget_state.set_widget_metadata(
            WidgetMetadata(name, box.deserialize, box.serialize, "string_value")
        )
    read: Any = lambda said: said  # noqa: E731 - as a component does
    state._new_widget_state.set_widget_metadata(WidgetMetadata("part", read, read, "json_value"))
    state._old_state |= held
    return found


@pytest.fixture(autouse=True)
def texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "TEXTS", Texts())


def asked(*texts: tuple[str, str]) -> ClientState:
    message = ClientState(query_string="page=1", cached_message_hashes=["a"])
    for name, text in texts:
        message.widget_states.widgets.add(id=name, string_value=text)
    return message


def taken(message: ClientState, page: Session, visitor: str = "a") -> dict[str, int]:
    """How many characters of each box come to the session; all else of the message stays as it is."""
    found = typed.fitting(message, page, visitor)
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
    page = session({})
    assert taken(asked(("chosen", "x" * 5_000), ("named", "x" * 50)), page) == {"chosen": 5_000, "named": 50}
    assert taken(asked(*((f"{number}", "x" * 5_000) for number in range(100)), ("named", "x" * 50)), page) == {
        "named": 50
    }
    assert taken(asked(("x" * typed.NOT_DRAWN, "x")), page) == {}
    few = [(f"{number}", "x" * 900) for number in range(200)]
    assert taken(asked(*few, ("find", "ε")), session({"find": 60})) == {"find": 1}
    assert len(taken(asked(*few[:100]), page)) == 100


def test_one_widget_has_one_value() -> None:
    page = session({"why": 1000})
    assert taken(asked(*((("why", "x" * 1000),) * 500)), page) == {"why": 1000}


def test_all_that_is_typed_is_bounded_together() -> None:
    """Message by message too: what a session holds counts, unless it is written over."""
    boxes = {f"box {number}": TABLE for number in range(3)}
    two = [("box 0", "x" * TABLE), ("box 1", "x" * TABLE)]
    assert taken(asked(*two), session(boxes)) == {}
    page = session(boxes, **{"box 0": "x" * TABLE})
    assert taken(asked(("box 1", "x" * TABLE), ("box 2", "few")), page) == {"box 2": 3}
    assert taken(asked(("box 0", "y" * TABLE), ("box 2", "few")), page) == {"box 0": TABLE, "box 2": 3}
    page = session(boxes)
    page.session_state.set_widgets_from_proto(asked(("box 0", "x" * TABLE)).widget_states)
    assert taken(asked(("box 1", "x" * TABLE)), page) == {}, "also before it is read"
    page = session(boxes, kept="x" * TABLE)
    page.session_state._key_id_mapper["kept"] = "box 0"
    assert taken(asked(("box 1", "x" * TABLE)), page) == {}, "also where its page was left"
    assert taken(asked(("box 1", "x" * TABLE)), session(boxes, table="x" * TABLE)) == {"box 1": TABLE}


def test_the_whole_message_is_let_go() -> None:
    """One that was cut keeps its memory: nothing of it may be left."""
    message = asked(("why", "x" * TABLE))
    assert typed.fitting(message, session({"why": 60}), "a") is not message
    small = asked(("why", "x"))
    assert typed.fitting(small, session({"why": 60}), "a") is small


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Texts:
    """For five tables, of which one address may have four."""
    texts = Texts(5 * (TABLE + 500))
    monkeypatch.setattr(typed, "TEXTS", texts)
    return texts


def pasted(*whose: str) -> list[tuple[Session, bool]]:
    """Sessions from these addresses which paste a table each, and whether it was taken."""
    found = []
    for visitor in whose:
        page = session({"table": TABLE, "why": 1000})
        message = typed.fitting(asked(("table", "x" * TABLE), ("why", "ε")), page, visitor)
        page.session_state.set_widgets_from_proto(message.widget_states)
        found.append((page, len(message.widget_states.widgets) == 2))
        assert message.widget_states.widgets[-1].string_value == "ε"
    return found


def test_all_that_is_typed_in_all_sessions_is_bounded(room: Texts) -> None:
    """One address has its share; what is not taken is said, until it is taken or gone."""
    found = pasted(*"aaaaabb")
    assert [here for _, here in found] == [True] * 4 + [False, True, False]
    refused, _ = found[4]
    assert [room.refusal(page.id) for page, _ in found] == [words.NO_ROOM_FOR_TEXT * (not here) for _, here in found]
    assert taken(asked(("table", "x" * TABLE)), refused, "a") == {}, "nor at the next message"
    assert taken(asked(("table", "x" * 500)), refused, "a") == {"table": 500}
    assert not room.refusal(refused.id)


def test_a_session_may_say_again_what_it_holds(room: Texts) -> None:
    found = pasted(*"aaaa")
    for page, _ in found:
        assert taken(asked(("table", "y" * TABLE)), page) == {"table": TABLE}
        assert not room.refusal(page.id)


@pytest.mark.parametrize("way", ["emptied", "shortened", "gone"])
def test_what_is_typed_counts_until_it_is_held_no_more(way: str, room: Texts) -> None:
    """Also of a page that was closed: Streamlit keeps it a while."""
    found = pasted(*"aaaaa")
    assert len(room) == 5
    late, _ = found.pop()
    first, _ = found.pop(0)
    assert taken(asked(("table", "x" * TABLE)), late) == {}
    if way == "gone":
        del first
        gc.collect()
        assert len(room) == 4
    else:
        text = "" if way == "emptied" else "few"
        assert taken(asked(("table", text)), first) == {"table": len(text)}
    assert taken(asked(("table", "x" * TABLE)), late) == {"table": TABLE}


def test_wide_letters_count_as_what_they_take(room: Texts) -> None:
    page = session({"table": TABLE})
    assert taken(asked(("table", "𐍈" * TABLE)), page) == {"table": TABLE}
    assert [here for _, here in pasted("a", "b")] == [False, True]


def test_the_boxes_of_one_page_that_are_too_full_are_said(room: Texts) -> None:
    page = session({f"box {number}": TABLE for number in range(2)})
    assert taken(asked(("box 0", "x" * TABLE), ("box 1", "x" * TABLE)), page) == {}
    assert room.refusal(page.id) == words.TOO_MUCH_TYPED


@pytest.mark.parametrize("lost", ["could_send", "is_typed"])
def test_a_bound_that_is_lost_is_found_out(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, lost, lambda *_: lost == "could_send")
    if lost == "could_send":
        assert taken(asked(("why", "x" * TABLE)), session({"why": 60})) == {"why": TABLE}
    else:
        two = [("box 0", "x" * TABLE), ("box 1", "x" * TABLE)]
        assert len(taken(asked(*two), session({"box 0": TABLE, "box 1": TABLE}))) == 2


def test_one_message_can_bring_what_a_session_may_hold() -> None:
    assert TABLE <= typed.TOGETHER <= messages.MESSAGE_BYTES
    assert 4 * typed.TOGETHER <= EACH * typed.MOST
