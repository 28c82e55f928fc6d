"""Once charts of a file were shown, whatever its session holds later says that it was chosen after looking, until that
ends: the same people may stand in other bytes, in an earlier copy or in a file that was forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import source
from dashboard.words.release import LOOKED_AT
from dpcore.release import sentence
from dpcore.releases.asked import CHOSEN
from tests.dashboard.conftest import text
from tests.dashboard.test_chosen_after_looking import own_offer
from tests.dashboard.test_data_page import declare, drop, held, press, shown, tick

Open = Callable[..., AppTest]

ROWS = "".join(f"{('red', 'blue', 'red')[n % 3]}\n" for n in range(90))
FILE = f"colour\n{ROWS}".encode()
OTHERS = {
    "the same": FILE,
    "other line ends": FILE.replace(b"\n", b"\r\n"),
    "a line more": FILE + b"blue\n",
    "a part": FILE[: len(FILE) // 2].rpartition(b"\n")[0] + b"\n",
    "other words": FILE.replace(b"red", b"green"),
}


def brought(app: AppTest, data: bytes = FILE) -> None:
    drop(app, data)
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue\ngreen", public=True)
    press(app, "own-right")


def looked(app: AppTest) -> None:
    tick(app).check()
    press(app, "own-look")


def private(app: AppTest) -> None:
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    assert held(app).use == "twin"


def said(app: AppTest) -> bool:
    """Whether the receipt says so, and the source that card and panel are made from with it."""
    told = CHOSEN in sentence(own_offer(app).request)
    assert shown(app).looked_at is told
    return told


def back(app: AppTest) -> None:
    """A copy that was kept private takes the place of the one that was looked at."""
    brought(app)
    private(app)
    assert not said(app)
    brought(app)
    looked(app)
    press(app, "own-back")
    assert held(app).use == "twin"


def forgotten(app: AppTest) -> None:
    brought(app)
    looked(app)
    press(app, "own-remove")
    press(app, "own-forget")
    brought(app)
    private(app)


def again(data: bytes) -> Callable[[AppTest], None]:
    def way(app: AppTest) -> None:
        brought(app)
        looked(app)
        brought(app, data)
        private(app)

    return way


WAYS = {"brought back": back, "forgotten": forgotten, **{name: again(data) for name, data in OTHERS.items()}}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_in_the_session_unsays_that_a_file_was_looked_at(way: str, open_app: Open) -> None:
    app = open_app("data")
    WAYS[way](app)
    assert said(app)
    app.switch_page("questions/selection/page.py").run()
    assert LOOKED_AT in text(app)


def test_a_session_without_a_look_says_nothing(open_app: Open) -> None:
    app = open_app("data")
    brought(app)
    private(app)
    brought(app, OTHERS["a line more"])
    private(app)
    assert not said(app)


@pytest.mark.parametrize("way", ["brought back", "forgotten", "other line ends"])
def test_a_look_that_is_a_fact_of_one_file_alone_is_found_out(
    way: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OfTheFile:
        """As it was: worked out from the bytes as they arrive."""

        def get(self) -> bool:
            own = source.own_file()
            return own is not None and own.confirmed

    monkeypatch.setattr(source, "OWN_LOOKED", OfTheFile())
    app = open_app("data")
    WAYS[way](app)
    assert not said(app)
