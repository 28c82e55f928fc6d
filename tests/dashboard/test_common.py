"""What is said about a sample is said once for everybody; nothing of a person, and nothing of their file, is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, replay, session, traces
from dashboard.budget import visitor
from dashboard.replay import memory, parts, widgets
from dashboard.scenes.deck import bundled
from dashboard.words import needs
from tests.dashboard.conftest import TOKEN, rested, text, widget
from tests.dashboard.test_chosen_after_looking import own
from tests.dashboard.test_draw_beside import press
from tests.questions.samples import sample_case

PAGES = [page.key for page in catalogue.pages()]
OTHER = "fedcba9876543210" * 2


def said() -> str:
    """All that is kept for everybody, keys and messages."""
    return repr([(key, value) for key, (value, _) in memory.COMMON._kept.items()])


@pytest.mark.parametrize("page", PAGES)
def test_the_second_person_is_told_what_the_first_one_was(
    page: str, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = next(iter(catalogue.questions(page).values()))
    asked: list[str] = []
    inside = kind.ask
    monkeypatch.setattr(
        kind, "ask", lambda case, read: (asked.append(kind.key) if not case.brief else None, inside(case, read))[1]
    )
    first = text(open_app(page).run())
    assert asked
    assert first
    asked.clear()
    monkeypatch.setattr(visitor, "token", lambda: OTHER)
    second = open_app(page).run()
    if page != "training":  # where more results may have come meanwhile
        assert asked == []
        assert text(second) == first
    assert second.session_state[session.SAID._name] is not None


def test_nothing_kept_for_everybody_names_a_visitor(open_app: Callable[..., AppTest]) -> None:
    for page in PAGES:
        app = open_app(page).run()
        widget(app, "epsilon-typed").set_value(0.6).run()
    assert len(memory.COMMON._kept) > 100
    assert TOKEN not in said()
    assert traces.EVERYBODYS.askings
    followed = [list(by_name) for one in traces.EVERYBODYS.askings.values() for by_name in one.followed.values()]
    assert any(followed)
    assert TOKEN not in repr([*traces.EVERYBODYS.askings, *followed])


def test_a_visitors_answer_is_not_kept_for_everybody(open_app: Callable[..., AppTest]) -> None:
    app = open_app("selection").run()
    before = set(memory.COMMON._kept)
    press(app, "selection-now-0")
    assert "Most common:" in text(app)
    app.run()
    added = [key for key in memory.COMMON._kept if key not in before]
    assert "Most common:" not in said()
    assert [key for key in added if "dots" in key[:3]] == [], "nor its ring in the picture"  # type: ignore[index]


def test_a_question_for_everybody_is_asked_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    case = sample_case("clinic")
    mine = replace(case, source=replace(case.source, everybodys=True, lineage=f"practice:{TOKEN}"))
    told: list[Any] = []
    with traces.reading(lambda control, place="options": control.default):
        traces.asked(SimpleNamespace, mine, lambda case, read: told.append(case) or 1)  # type: ignore[type-var, func-returns-value]
    assert told[0].source.lineage is None
    assert TOKEN not in repr(list(traces.EVERYBODYS.askings))


def test_of_an_own_file_nothing_is_kept_for_everybody(open_app: Callable[..., AppTest]) -> None:
    app = own(open_app)
    before = len(memory.COMMON._kept), len(traces.EVERYBODYS.askings)
    app.switch_page(catalogue.address("selection")).run()
    assert not app.exception
    assert (len(memory.COMMON._kept), len(traces.EVERYBODYS.askings)) == before


@pytest.mark.parametrize("shares", [True, False])
def test_only_what_is_common_is_heard_by_others(shares: bool) -> None:
    mine, yours = memory.Memory(), memory.Memory()
    with replay.common(shares):
        memory.keep(mine, ("a",), "said", 4)
        assert memory.recalled(yours, ("a",)) == ("said" if shares else None)
    assert memory.recalled(memory.Memory(), ("a",)) is None, "who draws nothing common hears nothing"


def test_something_of_one_visitor_within_what_is_common() -> None:
    mine, yours = memory.Memory(), memory.Memory()
    with replay.common():
        with replay.common(False):
            memory.keep(mine, ("a",), "mine", 4)
        assert memory.recalled(yours, ("a",)) is None


def test_what_is_common_stays_within_its_room() -> None:
    few = memory.Everybodys(room=10 * memory._EACH)
    for step in range(30):
        few.put(("a", step), "x", 100)
        few.put(("a", 29), "x", 100)
    assert few._bytes == sum(size + memory._EACH for _, size in few._kept.values()) <= 10 * memory._EACH
    assert few.get(("a", 29)) is not None, "the latest stays"
    assert few.get(("a", 0)) is None
    few.clear()
    assert few._bytes == 0


class Thing:
    """Something that can be gone."""


def test_a_key_does_not_keep_what_it_names() -> None:
    one = Thing()
    key, again = replay.Same(one), replay.Same(one)
    assert key == again
    assert hash(key) == hash(again)
    assert key != replay.Same(Thing())
    kept = {key: 1}
    del one
    assert key != again, "it is gone, and what comes to its place in memory is another"
    assert again not in kept
    assert replay.Same(None) == replay.Same(None)
    held = {"a": 1}
    assert replay.Same(held) == replay.Same(held)
    assert replay.Same(held) != replay.Same({"a": 1})


@pytest.mark.parametrize("pair", [(0.0, -0.0), (1, 1.0), (True, 1), ([0.0], [-0.0]), ({"a": 0.0}, {"a": -0.0})])
def test_two_calls_that_differ_have_two_keys(pair: tuple[Any, Any]) -> None:
    keys = [memory.key_of("metric", "", (one,), {}) for one in pair]
    assert keys[0] != keys[1]
    assert keys[0] == memory.key_of("metric", "", (pair[0],), {})


def test_what_cannot_be_told_apart_has_no_key() -> None:
    with pytest.raises(TypeError, match="Decimal"):
        memory.key_of("metric", "", (Decimal("1.0"),), {})


def test_a_part_that_the_page_has_put_something_into_is_one_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or what was put there for one would be put there for another."""
    kept: list[Any] = []
    monkeypatch.setattr(memory, "keep", lambda *given: kept.append(given))
    script = (
        "import streamlit as st\nfrom dashboard import replay\n"
        "def draw():\n    st.number_input('n', 0, 9, key='n')\n"
        "st.session_state['n'] = 3\n"
        "with replay.drawing(replay.Memory()), replay.common():\n    replay.part(('asks',), draw)\n"
    )
    app = AppTest.from_string(script, default_timeout=60).run()
    assert not app.exception
    assert [given for given in kept if isinstance(given[2], parts.Part)] == []
    app = AppTest.from_string(script.replace("draw)", "draw, told=True)"), default_timeout=60).run()
    assert not app.exception
    assert [given for given in kept if isinstance(given[2], parts.Part)], "the key tells what is put there"


SCENES = [
    (name, number)
    for name, deck in bundled().items()
    for number, scene in enumerate(deck.scenes, 1)
    if scene.address.page in {page.key for page in catalogue.pages()}
]


def staged(open_app: Callable[..., AppTest], name: str, number: int) -> AppTest:
    """A scene on the stage, as one comes to it from the one beside it."""
    app = open_app("start", present=name, scene=str(number)).run()
    ways = ("scene-next", "scene-back") if number == 1 else ("scene-back", "scene-next")
    for way in ways:
        press(app, way)
    assert bundled()[name].scenes[number - 1].title in text(app).replace("\\", "")
    return app


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "number"), SCENES)
def test_a_stage_adds_nothing_by_being_drawn_again(name: str, number: int, open_app: Callable[..., AppTest]) -> None:
    app = rested(staged(open_app, name, number).run()).run().run()
    before = len(memory.COMMON._kept), sum(len(one.traces) for one in traces.EVERYBODYS.askings.values())
    app.run()
    assert not app.exception
    assert (len(memory.COMMON._kept), sum(len(one.traces) for one in traces.EVERYBODYS.askings.values())) == before


def test_an_answer_on_the_stage_is_not_kept_for_everybody(open_app: Callable[..., AppTest]) -> None:
    name, number = next(
        (name, number) for name, number in SCENES if bundled()[name].scenes[number - 1].address.part == "release"
    )
    app = staged(open_app, name, number)
    press(app, "draw-again")
    app.run()
    assert "1 private answer" in text(app)
    assert "Private answers" not in said()
    assert "private answer drawn" not in said()


def test_what_is_left_of_a_budget_is_not_kept_for_everybody(open_app: Callable[..., AppTest]) -> None:
    """Where the card says that it is less than what is needed."""
    app = open_app("selection", epsilon="2.5").run()
    press(app, "selection-now-0")
    need = next(box for box in app.number_input if "need" in str(box.key) or "target" in str(box.key))
    need.set_value(0.999 if need.max is not None and need.max <= 1 else 99.9).run()
    told = [caption.value for caption in app.caption if caption.value == needs.too_dear(0.5)]
    assert told, [caption.value for caption in app.caption]
    assert needs.too_dear(0.5) not in said()


SET_AND_TOLD = (
    "import streamlit as st\nfrom dashboard import replay\n"
    "state = st.session_state\n"
    "def heard(who):\n    state['heard'] = who\n"
    "with replay.drawing(state.setdefault('_memory', replay.Memory())), replay.common(), replay.asking():\n"
    "    state['given'] = st.number_input('n', 0, 9, 3, key='n', on_change=heard, args=(state.get('who'),))\n"
)


def set_and_told() -> tuple[Any, ...]:
    """What one person gets who has set a box, what a second one then gets and holds of it, and whom it calls when they
    set it.
    """
    first = AppTest.from_string(SET_AND_TOLD, default_timeout=60).run()
    first.number_input(key="n").set_value(5).run()
    second = AppTest.from_string(SET_AND_TOLD, default_timeout=60)
    second.session_state["who"] = "second"
    second.run()
    began = second.session_state["given"], second.number_input(key="n").value
    second.number_input(key="n").set_value(7).run()
    assert not first.exception
    assert not second.exception
    return first.session_state["given"], *began, second.session_state["heard"]


def test_a_widget_for_everybody_holds_what_each_has_set_and_calls_for_each() -> None:
    assert set_and_told() == (5, 3, 3, "second")
    (asked,) = [value for value, _ in memory.COMMON._kept.values() if isinstance(value, widgets.Asked)]
    assert all(one.callback is None and not one.callback_args for one, _, _ in asked.widgets)


def called(app: AppTest) -> dict[str, tuple[bool, dict[str, bool]]]:
    """Of every widget of a page, whether somebody is called when it is set, and by which of a component's events."""
    known = app.session_state._state._state._new_widget_state.widget_metadata
    return {
        name: (
            one.callback is not None,
            {event: call is not widgets._nobody for event, call in (one.callbacks or {}).items()},
        )
        for name, one in known.items()
    }


@pytest.mark.parametrize("page", PAGES)
def test_whoever_comes_second_is_heard_by_everything_as_the_first_was(
    page: str, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The curve was followed by a finger for the first visitor only."""
    first = called(open_app(page))
    monkeypatch.setattr(visitor, "token", lambda: OTHER)
    second = called(open_app(page))
    if page == "training":  # where more results may have come meanwhile, with menus of their own
        first, second = ({name: one[name] for name in first.keys() & second.keys()} for one in (first, second))
    assert second == first
    if page in ("selection", "thresholding"):  # what follows the finger
        assert any(
            name.endswith("-finger__events") and events == {"epsilon": True} for name, (_, events) in first.items()
        )


def test_an_event_that_is_forgotten_for_everybody_would_be_found(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = widgets.Asked.for_everybody

    def without(asked: widgets.Asked) -> widgets.Asked:
        kept = inside(asked)
        return kept._replace(
            widgets=tuple((replace(one, callbacks=one.callbacks and {}), *rest) for one, *rest in kept.widgets)
        )

    monkeypatch.setattr(widgets.Asked, "for_everybody", without)
    first = called(open_app("selection"))
    assert called(open_app("selection")) != first, "the mutant"


def test_a_widget_that_does_not_look_at_what_it_holds_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "alike", lambda now, then: True)
    assert set_and_told()[0] == 3, "the mutant: what it held for whoever came first"


def test_a_widget_is_for_everybody_only_where_what_is_drawn_is_common() -> None:
    alone = SET_AND_TOLD.replace("replay.common()", "replay.common(False)")
    app = AppTest.from_string(alone, default_timeout=60).run()
    assert not app.exception
    assert [value for value, _ in memory.COMMON._kept.values() if isinstance(value, widgets.Asked)] == []


def test_the_slider_of_an_epsilon_comes_back_unless_somebody_has_moved_it(open_app: Callable[..., AppTest]) -> None:
    def sliders(app: AppTest) -> dict[str, float]:
        return {str(one.key): one.value for one in app.select_slider if "epsilon" in str(one.key)}

    app = open_app("selection").run()
    seen = []
    for level in (0.3, 0.8, 0.3, 2.0, 0.8):
        widget(app, "epsilon-typed").set_value(level).run()
        seen.append(sliders(app))
        assert set(seen[-1].values()) == {level}
    assert seen[0] == seen[2]
    assert seen[1] == seen[4]
    assert not {*seen[0]} & {*seen[1]}
    moved = next(key for key in seen[1] if key.startswith("epsilon-slider"))
    app.select_slider(key=moved).set_value(2.0).run()
    assert moved in sliders(app), "it stays while a person moves it"
    box = next(one for one in app.number_input if str(one.key).startswith("epsilon-typed"))
    box.set_value(0.3).run()
    box = next(one for one in app.number_input if str(one.key).startswith("epsilon-typed"))
    box.set_value(0.8).run()
    assert moved not in sliders(app), "the browser may still hold what it was moved to"
    assert set(sliders(app).values()) == {0.8}
