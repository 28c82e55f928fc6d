"""A state that is looked up answers as the copy that Streamlit makes, and a page is drawn the same."""

from __future__ import annotations

import copy
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.cursor import RunningCursor
from streamlit.delta_generator_singletons import ContextVarWithLazyDefault
from streamlit.elements.widgets.text_widgets import TextInputSerde
from streamlit.navigation.page import Page
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from dashboard import replay
from dashboard.runtime import looked_up, shortcuts

KEYS = st.text(string.ascii_letters + string.digits + "_- :|", min_size=1, max_size=8)
ID = "$$ID-0123456789abcdef0123456789abcdef-"
INTERNAL = "$$STREAMLIT_INTERNAL_KEY_of_its_own"
VALUES = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@contextmanager
def streamlits() -> Iterator[None]:
    """The state as Streamlit asks it."""
    looked_up.unguard()
    try:
        yield
    finally:
        looked_up.guard()


@pytest.fixture
def as_streamlit_does_it() -> Iterator[Callable[[], None]]:
    def undo() -> None:
        looked_up.unguard()
        shortcuts.unguard()

    yield undo
    looked_up.guard()
    shortcuts.guard()
    replay.guard()


@st.composite
def states(draw: st.DrawFn) -> tuple[SessionState, list[str]]:
    """A state as it is between runs and within one: values of a session, of widgets with and without a key, some of
    widgets that are gone, and Streamlit's own.
    """
    state, names = SessionState(), draw(st.lists(KEYS, unique=True, max_size=8))
    for name in names:
        kind = draw(st.sampled_from(("own", "old own", "widget", "old widget", "gone", "set", "no key")))
        value, wid = draw(VALUES), f"{ID}{name}"
        if kind == "own":
            state._new_session_state[name] = value
        elif kind == "old own":
            state._old_state[name] = value
        elif kind == "no key":
            state._new_widget_state.set_from_value(f"{ID}None", value)
        else:
            if kind != "gone":
                state._key_id_mapper[name] = wid
            if kind == "set":
                state._new_session_state[name] = draw(VALUES)
            if kind == "widget":
                state._new_widget_state.set_from_value(wid, value)
            else:
                state._old_state[wid] = value
    if draw(st.booleans()):
        state._old_state[INTERNAL] = 1
    return state, names


@hypothesis.settings(max_examples=40)
@given(states())
def test_what_is_looked_up_is_what_a_copy_holds(made: tuple[SessionState, list[str]]) -> None:
    state, names = made
    safe = SafeSessionState(state, lambda: None)
    with streamlits():
        copy = state.filtered_state
    found = looked_up.LookedUp(safe)
    for key in (*names, *(f"{ID}{name}" for name in names), f"{ID}None", INTERNAL, "no such key"):
        assert (key in found) == (key in copy), key
        assert found.get(key, "none") == copy.get(key, "none"), key
    assert dict(found) == copy
    assert len(found) == len(copy)
    assert repr(found) == repr(copy)


@hypothesis.settings(max_examples=60)
@given(states())
def test_a_state_is_compacted_as_streamlit_does_it(made: tuple[SessionState, list[str]]) -> None:
    state, names = made
    other = copy.deepcopy(state)
    looked_up._compacted(state)
    with streamlits():
        other._compact_state()
    assert state._old_state == other._old_state
    assert not state._new_session_state
    for one in (state, other):
        assert len(one._new_widget_state) == 0
    for name in (*names, *(f"{ID}{name}" for name in names)):
        assert (name in state) == (name in other)


@hypothesis.settings(max_examples=60)
@given(states())
def test_a_value_is_the_one_that_streamlit_finds(made: tuple[SessionState, list[str]]) -> None:
    state, names = made
    safe = SafeSessionState(state, lambda: None)

    def looked(look: Callable[[object, str], object], where: object, key: str) -> object:
        try:
            return look(where, key)
        except KeyError as error:
            return str(error)

    for key in (*names, *(f"{ID}{name}" for name in names), f"{ID}None", INTERNAL, "no such key"):
        with streamlits():
            theirs = looked(SafeSessionState.__getitem__, safe, key), key in state, state._get_widget_id(key)
        ours = looked(looked_up._value, safe, key), key in state, state._get_widget_id(key)
        assert ours == theirs, key
        assert ours[0] == looked(SessionState.__getitem__, state, key)


def test_what_was_sent_for_a_widget_that_nobody_has_drawn_is_not_there() -> None:
    for told in (True, False):
        state = SessionState()
        state._new_widget_state.set_widget_from_proto(WidgetState(id=f"{ID}a", int_value=3))
        state._key_id_mapper["a"] = f"{ID}a"
        if told:
            state._set_widget_metadata(
                WidgetMetadata(f"{ID}a", lambda value: value or 0, lambda value: value, "int_value")
            )
        with streamlits():
            theirs = "a" in copy.deepcopy(state)
        assert ("a" in state) == theirs == told


def test_what_a_widget_shows_of_its_value_is_what_is_found() -> None:
    state = SessionState()
    state._new_session_state["a"] = 3
    state._key_id_mapper["a"] = f"{ID}a"
    shown = WidgetMetadata(f"{ID}a", lambda _: 0, lambda _: 0, "int_value", presenter=lambda value, _: value + 1)
    state._set_widget_metadata(shown)
    with streamlits():
        assert state["a"] == 4
    assert state["a"] == 4


class Counted:
    """A lock that says whether it is held, and how often it was."""

    def __init__(self) -> None:
        self.held, self.times = False, 0

    def __enter__(self) -> None:
        self.held, self.times = True, self.times + 1

    def __exit__(self, *_: object) -> None:
        self.held = False


def test_whoever_looks_holds_the_lock_and_goes_through_one_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that is left is emptied by another thread: nothing is read while something else changes it."""
    state, lock = SessionState(), Counted()
    state._new_session_state.update({"first": 1, "second": 2})
    safe = SafeSessionState(state, lambda: None)
    object.__setattr__(safe, "_lock", lock)  # an attribute of its own is a key of the state
    unlocked: list[str] = []
    for name in ("__getitem__", "_keys"):
        inside = getattr(SessionState, name)

        def asked(*given: object, inside: Callable[..., object] = inside, name: str = name) -> object:
            unlocked.extend([] if lock.held else [name])
            return inside(*given)

        monkeypatch.setattr(SessionState, name, asked)
    found = safe.filtered_state
    for look in (lambda: found["first"], lambda: list(found), lambda: len(found), lambda: repr(found)):
        before = lock.times
        look()
        assert lock.times > before
    going = iter(found.values())
    first = next(going)
    state._new_session_state.clear()
    assert {first, *going} == {1, 2}, "what goes meanwhile is no error"
    assert unlocked == []


@pytest.mark.parametrize("page", ["selection", "data"])
def test_a_page_is_drawn_the_same(
    page: str,
    open_app: Callable[..., AppTest],
    as_streamlit_does_it: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []
    replay.unguard()  # so that every message is made anew
    enqueue = ScriptRunContext.enqueue

    def kept(context: ScriptRunContext, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "delta":
            sent.append(msg.SerializeToString(deterministic=True))
        enqueue(context, msg)

    app = open_app(page).run()
    with monkeypatch.context() as listening:  # or it is undone last, and takes away what is put back before
        listening.setattr(ScriptRunContext, "enqueue", kept)
        app.run()
        ours = sent.copy()
        sent.clear()
        as_streamlit_does_it()
        app.run()
    assert len(ours) > 50
    assert ours == sent


def test_a_shorter_way_comes_to_the_same_place() -> None:
    """Of a page at the root too, and of a variable that nobody has made yet."""
    pages = [Page.__new__(Page) for _ in range(3)]
    for page, address in zip(pages, ("", "one", "two"), strict=True):
        page._url_path = address
    variable = ContextVarWithLazyDefault("any", default=lambda: "first")
    ours = [page._script_hash for page in pages], variable.get(), variable.set("second"), variable.get()
    assert isinstance(RunningCursor(0)._transient_elements, shortcuts.SparseList)
    shortcuts.unguard()
    try:
        assert [page._script_hash for page in pages] == ours[0]
        assert type(RunningCursor(0)._transient_elements) is shortcuts.SparseList
    finally:
        shortcuts.guard()
    assert (ours[1], ours[3]) == ("first", "second")
    variable.reset(ours[2])
    assert variable.get() == "first"
    assert len(set(ours[0])) == 3


def drawn_anew() -> None:
    """A page whose widgets are others in each run, as an editor's are after each change; a part of it stays."""
    import streamlit as st

    run = st.session_state.run = st.session_state.get("run", 0) + 1

    def noted(_: object = None) -> None:
        st.session_state.clicked = [*st.session_state.get("clicked", []), run]

    st.text_area("options", "x" * 10_000, key=f"options-{run}")
    columns = [f"{run}-{number}" for number in range(300)]
    st.multiselect("columns", columns, key=f"columns-{run}")
    st.selectbox("column", columns, key=f"columns-of-{run}")
    st.button("all", key=f"columns-all-{run}", on_click=noted, args=(columns,))
    st.text_input("no key", f"{run}")
    st.button("go", key=f"go-{run}", on_click=noted)
    st.text_input("kept", key="kept", persist_state="session")
    st.session_state.mine = st.session_state.get("mine", "theirs")

    @st.fragment
    def part() -> None:
        st.text_input("in a part", key="part")

    part()


def inside(app: AppTest) -> SessionState:
    state = app.session_state._state
    return state if isinstance(state, SessionState) else state._state  # type: ignore[no-any-return]


def known(app: AppTest) -> list[str]:
    """What a session knows of how widgets are read."""
    return list(inside(app)._new_widget_state.widget_metadata)


def test_how_a_widget_is_read_goes_with_it() -> None:
    """A page that was changed four hundred times held 600 MB of the texts that its boxes had begun with."""
    looked_up.guard()
    app = AppTest.from_function(drawn_anew).run()
    app.text_input(key="kept").set_value("a")
    app.text_input(key="part").set_value("b").run()
    once = len(known(app))
    for _ in range(looked_up.MOST_LEFT):
        app.run()
    assert not app.exception
    assert looked_up.MOST_LEFT < len(known(app)) <= once + looked_up.MOST_LEFT
    assert sum("options" in name for name in known(app)) == 1
    assert sum("columns" in name for name in known(app)) == 3
    assert sum("go-" in name for name in known(app)) > looked_up.MOST_LEFT / 2
    looked_up.forget_left(app.session_state._state)
    app.run()
    alone = len(known(app))
    assert alone < once, "nothing is left of what told of a file that is gone"
    app.run()
    assert len(known(app)) > alone, "once"
    ids = inside(app)._key_id_mapper
    assert sum("options" in name for name in ids._key_id_mapping) == 1
    assert {*ids._id_key_mapping} == {*ids._key_id_mapping.values()}
    assert (app.text_input(key="kept").value, app.text_input(key="part").value) == ("a", "b")


def test_streamlit_keeps_them_for_good(as_streamlit_does_it: Callable[[], None]) -> None:
    as_streamlit_does_it()
    app = AppTest.from_function(drawn_anew).run()
    for _ in range(5):
        app.run()
    assert sum("options" in name for name in known(app)) == 6, "what shows that it can fail"


def broken_off() -> None:
    """A page that is drawn anew by each run and fails, or stops, before its end."""
    import streamlit as st

    run = st.session_state.run = st.session_state.get("run", 0) + 1
    st.text_input("stays", key="stays")
    for number in range(100):
        st.text_input("anew", "x", key=f"box-{run}-{number}")
    if st.session_state.get("how") == "stops":
        st.stop()
    elif st.session_state.get("how") == "fails":
        raise RuntimeError


@pytest.mark.parametrize("how", ["stops", "fails"])
def test_runs_that_never_end_add_a_bounded_number(how: str) -> None:
    """Only a whole run forgets what it has not drawn: three pages that had none added 1 MB a second without end."""
    looked_up.guard()
    app = AppTest.from_function(broken_off, default_timeout=60).run()
    app.text_input(key="stays").set_value("a").run()
    most = looked_up.MOST_BESIDE + 2 * len(known(app))
    app.session_state.how = how
    for _ in range(20):
        app.run()
    assert len(known(app)) <= most + 101
    ids = inside(app)._key_id_mapper
    assert {*ids._id_key_mapping} == {*ids._key_id_mapping.values()}
    assert len(ids._key_id_mapping) <= most + 101
    assert sum(key.startswith(ID[:4]) for key in inside(app)._old_state) <= most + 101
    assert app.text_input(key="stays").value == "a", "each run draws it, so that it is never the oldest"
    app.session_state.how = ""
    app.run()
    assert len(known(app)) <= 101 + looked_up.MOST_LEFT + 101


def draw_box(state: SessionState, name: str) -> None:
    """A box for text of this name, with a value."""
    wid, read = f"{ID}{name}", TextInputSerde("", 10)
    state._set_widget_metadata(WidgetMetadata(wid, read.deserialize, read.serialize, "string_value"))
    state._key_id_mapper[name] = wid
    state._new_widget_state.set_from_value(wid, "x")


def test_the_oldest_that_were_drawn_are_forgotten_first() -> None:
    looked_up.guard()
    state = SessionState()
    for run in range(20):
        for name in ("stays", *(f"{run}-{number}" for number in range(100))):
            draw_box(state, name)
        state._compact_state()
        assert state["stays"] == "x"
    assert "19-99" in state and "0-0" not in state  # noqa: PT018 - both say which


def test_nothing_of_a_larger_page_that_is_still_drawn_is_forgotten() -> None:
    """Somebody types into what is there already: that run begins before the page was whole."""
    looked_up.guard()
    state = SessionState()
    for name in ("small", *(f"large {number}" for number in range(3 * looked_up.MOST_BESIDE))):
        draw_box(state, name)
    state._compact_state()
    assert state["large 0"] == "x"


@pytest.mark.thorough
def test_streamlit_adds_them_without_end(as_streamlit_does_it: Callable[[], None]) -> None:
    as_streamlit_does_it()
    app = AppTest.from_function(broken_off, default_timeout=60).run()
    app.session_state.how = "fails"
    for _ in range(20):
        app.run()
    assert len(known(app)) == 2101, "what shows that it can fail"


def test_a_click_on_a_button_that_is_just_gone_counts() -> None:
    """It was on its way when the page was drawn anew."""
    looked_up.guard()
    app = AppTest.from_function(drawn_anew).run()
    late = app.button(key="go-1").id
    states = app.run()._tree.get_widget_states()
    states.widgets.add(id=late, trigger_value=True)
    app._run(states)
    assert app.session_state.clicked == [1]


@pytest.mark.parametrize(
    ("fragment", "parts", "holds", "stays"),
    [
        (None, None, None, False),
        (None, ["a"], None, True),
        ("b", ["a"], None, True),
        ("a", ["a"], None, False),
        (None, None, "_old_state", True),
        (None, None, "_new_session_state", True),
    ],
)
def test_what_another_part_draws_or_a_session_holds_stays(
    fragment: str | None, parts: list[str] | None, holds: str | None, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside what a run of some parts has drawn, and under either name of a widget."""
    monkeypatch.setattr(looked_up, "get_script_run_ctx", lambda: SimpleNamespace(fragment_ids_this_run=parts))
    for held in ("box", f"{ID}box"):
        state = SessionState()
        read = TextInputSerde("", 10)
        state._new_widget_state.set_widget_metadata(
            WidgetMetadata(f"{ID}box", read.deserialize, read.serialize, "string_value", fragment_id=fragment)
        )
        state._key_id_mapper["box"] = f"{ID}box"
        if holds is not None:
            getattr(state, holds)[held] = "x"
        monkeypatch.setattr(looked_up, "MOST_LEFT", 1)
        state._new_widget_state.widget_metadata["last"] = WidgetMetadata(
            "last", read.deserialize, read.serialize, "string_value", fragment_id=fragment
        )
        looked_up._without_stale(state, frozenset())
        assert (f"{ID}box" in state._new_widget_state.widget_metadata) == stays
        assert ("box" in state._key_id_mapper) == stays
