"""What is said again is what would have been said: every page is drawn both ways through one story."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from benchmarks.people import TYPED
from dashboard import catalogue, replay, session
from dashboard.replay import commands, memory, widgets
from dashboard.shell import OWN_PAGES
from tests.dashboard.conftest import rested

PAGES = [key for key, _, _ in OWN_PAGES] + [page.key for page in catalogue.pages()]
Says = Callable[..., list[str]]


@pytest.fixture
def as_streamlit_does_it() -> Iterator[Callable[[], None]]:
    yield replay.unguard
    replay.guard()


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """What the elements of one run say and where, in order; names made at random are counted instead."""
    sent: list[bytes] = []

    def told(context: ScriptRunContext, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "delta":
            sent.append(msg.SerializeToString(deterministic=True))

    def run(do: Callable[[], Any]) -> list[str]:
        sent.clear()
        numbers = itertools.count()
        monkeypatch.setattr(session.uuid, "uuid4", lambda: SimpleNamespace(hex=f"{next(numbers):032x}"[::-1]))
        do()
        return [repr(one) for one in sent]

    inside = ScriptRunContext.__init__

    def begun(context: ScriptRunContext, *args: Any, **named: Any) -> None:
        inside(context, *args, **named)
        enqueue = context._enqueue

        def both(msg: ForwardMsg) -> None:
            told(context, msg)
            enqueue(msg)

        context._enqueue = both

    monkeypatch.setattr(ScriptRunContext, "__init__", begun)
    return run


def story(app: AppTest, says: Says, page: str) -> list[list[str]]:
    """ε moves there and back, and whatever else this page lets one choose is chosen."""

    def move(level: float) -> None:
        app.number_input(key=TYPED).set_value(level).run()

    found = [says(partial(move, level)) for level in (0.8, 0.5, 0.8, 0.5)]
    boxes = [box.key for box in app.selectbox if box.key not in (None, "data")]
    for box in boxes[: 0 if page == "training" else 2]:  # there each would be simulated

        def choose(box: str = str(box), place: int = 0) -> None:
            here = app.selectbox(key=box)
            here.set_value(here.options[place]).run()

        found += [says(lambda: choose(place=-1)), says(choose)]
    found.append(says(app.run))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_drawn_the_same(
    page: str, open_app: Callable[..., AppTest], as_streamlit_does_it: Callable[[], None], says: Says, every_step: None
) -> None:
    simulated = open_app(page).run()
    for level in (0.8, 0.5):  # so that no step of the story waits for what is simulated beside it
        simulated.number_input(key=TYPED).set_value(level).run()
        rested(simulated)
        rested(simulated)
    ours = story(open_app(page).run(), says, page)
    as_streamlit_does_it()
    theirs = story(open_app(page).run(), says, page)
    assert len(ours) >= 5
    assert min(map(len, ours)) > 30
    for step, (mine, yours) in enumerate(zip(ours, theirs, strict=True)):
        assert mine == yours, f"step {step}"


def drawn(script: Callable[[], None], *runs: Callable[[AppTest], Any]) -> AppTest:
    """A page in process that remembers, run once for the start and once for each of ``runs``."""
    app = AppTest.from_function(script, default_timeout=60).run()
    for do in runs:
        do(app)
        app.run()
    assert not app.exception, app.exception
    return app


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Commands that Streamlit carried out itself, in order."""
    found: list[str] = []
    for kind, names in ((commands, commands.NAMES), (widgets, widgets.NAMES)):
        for name in names:
            plain = getattr(replay._COMMANDS[name], "__wrapped__", replay._COMMANDS[name])

            def noted(*args: Any, name: str = name, plain: Callable[..., Any] = plain, **named: Any) -> Any:
                found.append(name)
                return plain(*args, **named)

            again = kind.replayed(name, noted)
            monkeypatch.setattr(DeltaGenerator, name, again)
            if hasattr(st, name):
                monkeypatch.setattr(st, name, getattr(st._main, name))
    return found


def _texts() -> None:
    import streamlit as st

    from dashboard import replay

    with replay.drawing(st.session_state.setdefault("_memory", replay.Memory())):
        st.caption("one")
        left, right = st.columns([1, 2])
        left.metric("so many", 1)
        right.metric("so many", 1.0)
        with st.container(border=True, key="box"), st.expander("more"):
            st.markdown("two", help="why")
        with st.popover("menu"):
            st.progress(0.5, text="half")


def test_what_was_said_is_not_made_again(made: list[str]) -> None:
    app = drawn(_texts)
    assert made.count("metric") == 2, "1 and 1.0 are two"
    made.clear()
    app.run()
    app.run()
    assert made == []
    assert [one.value for one in app.metric] == ["1", "1.0"]
    assert app.expander[0].markdown[0].value == "two"
    assert len(app.columns) == 2
    assert app.columns[1].metric[0].value == "1.0", "what stands in a box stands in it again"


def test_without_a_run_that_remembers_streamlit_does_everything(made: list[str]) -> None:
    def script() -> None:
        import streamlit as st

        st.caption("one")

    app = drawn(script)
    app.run()
    assert app.caption[0].value == "one"
    assert made == ["caption", "caption"]


def _asks() -> None:
    import streamlit as st

    from dashboard import replay

    state = st.session_state
    state["runs"] = state.get("runs", 0) + 1
    run = state["runs"]
    with replay.drawing(state.setdefault("_memory", replay.Memory())):
        found = st.selectbox("which", ("a", "b"), key="which", format_func=lambda one: one.upper())
        state["found"] = found
        several = st.pills("several", ("x", "y"), selection_mode="multi", key="several", default=["x"])
        state["picked"] = list(several)
        several.append("z")  # what a page does to its answer is not in the next one
        pressed = st.button("press", key="press", on_click=lambda: state.__setitem__("told", run))
        state["pressed"] = pressed
        st.number_input("n", 0, 10, key="n", on_change=lambda run: state.__setitem__("changed", run), args=(run,))


def test_a_widget_says_again_what_it_holds_and_calls_whom_the_last_run_named(made: list[str]) -> None:
    app = drawn(_asks)
    app.run()  # until the widgets are known
    made.clear()
    app.run()
    assert made == []
    assert (app.session_state["found"], app.session_state["picked"]) == ("a", ["x"])
    app.selectbox(key="which").set_value("b").run()
    assert app.session_state["found"] == "b"
    assert made == ["selectbox"], "what holds something else is made anew"
    app.run()
    runs = app.session_state["runs"]
    app.button(key="press").click().run()
    assert app.session_state["told"] == runs, "the callback of the run before the click, not one of earlier runs"
    assert app.session_state["pressed"] is True
    app.run()
    assert app.session_state["pressed"] is False
    runs = app.session_state["runs"]
    app.number_input(key="n").set_value(3).run()
    assert app.session_state["changed"] == runs
    assert app.number_input(key="n").value == 3
    assert app.session_state["picked"] == ["x"]


def test_a_stale_answer_would_be_found(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "alike", lambda now, then: True)
    app = drawn(_asks)
    app.run()
    app.selectbox(key="which").set_value("b").run()
    assert app.session_state["found"] == "a", "the mutant: what was said before is taken for what is held"


def test_a_caller_of_an_earlier_run_would_be_found(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "_told_anew", lambda metadata, told: metadata)
    app = drawn(_asks)
    app.run()
    app.run()
    runs = app.session_state["runs"]
    app.button(key="press").click().run()
    assert app.session_state["told"] < runs


def test_a_key_that_two_elements_have_is_refused_as_before(caplog: pytest.LogCaptureFixture) -> None:
    def script() -> None:
        import streamlit as st

        from dashboard import replay

        with replay.drawing(st.session_state.setdefault("_memory", replay.Memory())):
            for _ in range(st.session_state.get("times", 1)):
                with st.container(key="one"):
                    st.text_input("t", key=f"t{st.session_state.get('same', 0)}")

    app = AppTest.from_function(script, default_timeout=60).run()
    app.run()
    app.session_state["times"] = 2
    app.run()
    assert app.exception
    assert "multiple elements with the same `key='one'`" in caplog.text


def test_a_part_that_draws_itself_again_is_left_to_streamlit(made: list[str]) -> None:
    def script() -> None:
        import streamlit as st

        from dashboard import replay

        @st.fragment
        def part() -> None:
            st.caption("in a part")

        with replay.drawing(st.session_state.setdefault("_memory", replay.Memory())):
            part()

    app = drawn(script)
    made.clear()
    app.run()
    assert app.caption[0].value == "in a part"
    assert made == ["container", "caption"]


@pytest.mark.parametrize(
    ("one", "other"),
    [((1,), (1.0,)), ((1,), (True,)), (([1, 2],), ((1, 2),)), (([1, 2],), ([1.0, 2],)), (({"a": 1},), ({"a": True},))],
)
def test_calls_that_are_told_apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert one == other or type(one[0]) is not type(other[0])
    assert memory.key_of("x", "", one, {}) == memory.key_of("x", "", one, {})
    assert memory.key_of("x", "", one, {}) != memory.key_of("x", "", other, {})
    assert memory.key_of("x", "", (), {"a": one[0]}) != memory.key_of("x", "", (), {"a": other[0]})
    assert memory.key_of("x", "", (one[0],), {}) != memory.key_of("x", "", (), {"a": one[0]})


def test_what_cannot_be_compared_is_not_kept() -> None:
    with pytest.raises(TypeError):
        memory.key_of("x", "", ({1, 2},), {})


def test_a_memory_is_bounded_and_keeps_what_was_used_last() -> None:
    kept = memory.Memory()
    for number in range(4_000):
        kept.put(number, number, 1_000)
        kept.get(0)
        kept.begin()
    assert kept._bytes <= memory.ROOM + 2_000
    assert kept.get(0) == 0
    assert kept.get(1) is None
    assert kept.get(3_999) == 3_999
    kept.clear()
    assert kept.get(3_999) is None
    for _ in range(10):
        kept.put("one", 1, 1_000)
    assert kept._bytes < 3_000, "what takes the place of another counts once"


def test_what_was_said_goes_with_the_file(open_app: Callable[..., AppTest]) -> None:
    app = open_app("selection").run()
    said = app.session_state[session.SAID._name]
    assert said._kept
    assert any(slot is session.SAID and slot._own is not None for slot in session.Slot.made)
    said.clear()
    assert not said._kept


def test_each_session_has_a_memory_of_its_own(open_app: Callable[..., AppTest]) -> None:
    one, two = open_app("demos").run(), open_app("demos").run()
    assert one.session_state[session.SAID._name] is not two.session_state[session.SAID._name]
    assert get_script_run_ctx(suppress_warning=True) is None
