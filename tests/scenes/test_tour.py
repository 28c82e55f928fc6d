"""A deck being walked, presented, made and left, in the running app."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.catalogue import address
from dashboard.poll.rooms import ROOMS
from dashboard.scenes import embed
from dashboard.scenes.address import opened
from dashboard.scenes.deck import bundled, read_deck
from dashboard.words import scenes as words
from dashboard.words.poll import LOCAL, OTHER_ROOM
from tests.dashboard.conftest import CLINIC, TOKEN, text
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]


def pressed(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def press(app: AppTest, label: str) -> None:
    """Click the first button with this label."""
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception, [error.value for error in app.exception]


@pytest.mark.thorough
@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", bundled())
def test_every_scene_opens_its_page_and_its_address_is_exactly_its_link(open_app: Open, name: str) -> None:
    """From the first scene to the last in one session: nothing of one scene is left in the next one's link."""
    app = open_app("start", tour=name)
    deck = bundled()[name]
    for number, scene in enumerate(deck.scenes, 1):
        assert {warning.value for warning in app.warning} <= {LOCAL}  # a room says so before it is opened
        assert scene.title in text(app).replace("\\", "")
        controls = opened(scene.address, sample_case).controls
        usual = {key: controls[key].written(controls[key].default) for key, _ in scene.address.settings}
        expected = {key: said for key, said in scene.address.settings if usual[key] != said}
        assert {key: found[0] for key, found in query(app).items()} == expected | {"tour": name, "scene": str(number)}
        if number < len(deck.scenes):
            pressed(app, "scene-next")
    pressed(app, "scene-next")  # from the start again
    assert query(app)["scene"] == ["1"]
    pressed(app, "tour-end")
    assert not {"tour", "scene", "part"} & set(query(app))


def query(app: AppTest) -> dict[str, list[str]]:
    return {key: value if isinstance(value, list) else [value] for key, value in dict(app.query_params).items()}


def test_a_tour_that_was_left_waits(open_app: Open) -> None:
    app = open_app("start", tour="five_minutes", scene="3", selection_axis="n", epsilon="0.05")
    app.switch_page(address("budget")).run()
    assert words.LEFT in text(app)
    pressed(app, "tour-return")
    assert query(app)["selection_axis"] == ["n"]


def test_what_is_set_in_one_scene_is_gone_in_the_next(open_app: Open) -> None:
    app = open_app("start", tour="five_minutes")
    app.select_slider(key="epsilon-slider").set_value(5.0).run()
    assert query(app)["epsilon"] == ["5"]
    pressed(app, "scene-next")
    assert "epsilon" not in query(app)
    pressed(app, "scene-back")
    assert query(app)["epsilon"] == ["0.05"]


@pytest.mark.parametrize("name", ["gone", "~cut", "mine", "<b>"])
def test_a_deck_that_is_not_here_is_told_and_the_page_is_shown(open_app: Open, name: str) -> None:
    app = open_app("start", present=name)
    assert words.NO_DECK in text(app)
    assert "present" not in query(app)
    assert app.sidebar.selectbox(key="data")


def test_the_stage_has_no_sidebar_and_draws_answers_once_each(open_app: Open) -> None:
    """Each click is one release from the practice budget; a second click of the same button repeats the first."""
    app = open_app("start", present="five_minutes", scene="7", part="release", epsilon="0.15")
    pressed(pressed(app, "scene-back"), "scene-next")
    assert not app.sidebar.selectbox
    assert words.NONE_YET in text(app)
    for count in (1, 2, 3):
        pressed(app, "draw-again")
        assert f"{count} private answer" in text(app)
    receipts = compute.ledger().history(CLINIC)
    assert len(receipts) == 3
    assert len({receipt.request_id for receipt in receipts}) == 3
    assert compute.ledger().budget(CLINIC).remaining.epsilon == pytest.approx(3 - 3 * 0.15)
    app.run()
    assert len(compute.ledger().history(CLINIC)) == 3, "drawing the stage anew draws no answer"


def test_an_empty_budget_closes_the_button_until_it_is_reset(open_app: Open) -> None:
    app = open_app("start", present="five_minutes", scene="8")
    pressed(pressed(app, "scene-back"), "scene-next")
    for _ in range(6):
        pressed(app, "draw-again")
    assert words.EMPTY_BUDGET in text(app)
    assert all(button.key != "draw-again" for button in app.button)
    pressed(app, "draw-again-reset")
    assert words.NONE_YET in text(app)


def test_rooms_are_scenes_and_another_scene_s_room_waits(open_app: Open) -> None:
    """Each scene offers its own kind of room; the one that is open stays until another is opened."""
    app = open_app("start", present="with_the_room")
    assert bundled()["with_the_room"].scenes[0].sentence in text(app).replace("\\", "")
    pressed(app, "poll-open")
    assert "0 phones are in" in text(app)
    pressed(app, "scene-next")
    assert OTHER_ROOM in text(app)
    assert "phones are in" not in text(app)
    pressed(app, "scene-back")
    assert "0 phones are in" in text(app)
    pressed(app, "scene-next")
    pressed(app, "poll-follow-open")
    assert "0 phones are in" in text(app)
    assert OTHER_ROOM not in text(app)
    pressed(app, "stage-stop")
    assert query(app) == {"room": ["follow"]}
    assert "0 phones are in" in text(app), "the page itself shows the same room"
    ROOMS.leave(TOKEN)


def test_a_view_becomes_a_scene_of_ones_own_deck(open_app: Open) -> None:
    app = open_app("selection", epsilon="0.2")
    pressed(app, "share")
    app.text_input(key="add-sentence").set_value("Look here.")
    app.selectbox(key="add-part").set_value("outcomes")
    press(app, words.ADD)
    app.switch_page(address("thresholding")).run()
    pressed(app, "share")
    press(app, words.ADD)
    app.switch_page(address("demos")).run()
    pressed(app, "up-2")
    deck = made(app)
    assert [scene.address.page for scene in deck.scenes] == ["thresholding", "selection"]
    assert deck.scenes[1].sentence == "Look here."
    assert dict(deck.scenes[1].address.settings) == {"epsilon": "0.2", "part": "outcomes"}
    pressed(app, "off-2")
    assert len(made(app).scenes) == 1
    pressed(app, "deck-undo")
    assert len(made(app).scenes) == 2
    start = next(button for button in app.button if button.key.startswith("tour-~"))
    pressed(app, start.key)
    assert "Say in one sentence" in text(app).replace("\\", "")
    assert query(app)["tour"][0].startswith("~")


def made(app: AppTest):  # type: ignore[no-untyped-def]
    """The deck as the page would save it."""
    from dashboard.scenes.held import MAKING
    from dashboard.scenes.tour import made as as_deck

    return read_deck(as_deck(app.session_state[MAKING._name]).written())


def test_a_frame_shows_one_chart_with_its_headline_and_its_mark(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "embedded", lambda: True)
    app = open_app("selection", epsilon="0.1")
    shown = text(app)
    assert "# At ε = 0.1 the private answer names" in shown
    assert "May this picture leave the room?" in shown
    assert not app.sidebar.selectbox
    assert not app.tabs
    assert len(app.get("plotly_chart")) == 1
