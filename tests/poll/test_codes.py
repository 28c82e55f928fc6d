"""A room's code names the replica at which the room is, and whoever guesses codes gains nothing by that."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.poll import along, rooms
from dashboard.poll.codes import ALPHABET, LENGTH, new_code, place_of, shown_code
from dashboard.poll.held import PHONE
from dashboard.poll.refused import Elsewhere, PollRefused
from dashboard.poll.rooms import LIFE, MOST_ROOMS, TRIES, TRIES_PER_SECOND, Rooms
from dashboard.words import poll as said
from tests.poll.conftest import SNACKS, SPEAKER, fine, press, told

COUNTS = (1, 2, 3, 7, 64)


class Clock:
    """Seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def replicas(count: int, clock: Callable[[], float] = lambda: 0.0) -> list[Rooms]:
    """Rooms at which nobody looks by themselves."""
    rests = threading.Event().wait
    return [Rooms(clock, lambda _: rests(), place=place, replicas=count) for place in range(1, count + 1)]


@pytest.mark.parametrize("count", COUNTS)
def test_a_room_is_found_at_its_own_replica_and_every_other_knows_that_it_is_elsewhere(count: int) -> None:
    every = replicas(count)
    for place, here in enumerate(every, 1):
        room = here.open(SNACKS, SPEAKER)
        assert place_of(room.code, count) == place
        for typed in (room.code, shown_code(room.code), f" {shown_code(room.code).lower()} "):
            assert here.enter(typed, "a") is room
            for other in every:
                if other is not here:
                    with pytest.raises(Elsewhere):
                        other.enter(typed, "a")


@pytest.mark.parametrize("count", COUNTS)
def test_codes_are_spread_evenly(count: int) -> None:
    """So that no replica has fewer codes than another to be guessed among."""
    found = Counter(place_of(new_code(), count) for _ in range(400 * count))
    assert all(abs(found[place] - 400) < 6 * 20 for place in range(1, count + 1))


def wrong(here: Rooms, code: str) -> bool:
    """Whether a wrong code was looked up, and not put off."""
    with pytest.raises(PollRefused) as refused:
        here.enter(code, "stranger")
    return str(refused.value) == said.WRONG_CODE


def chance(count: int) -> float:
    """Of who tries all that one replica bears in two hours, each a code that can be of a room there."""
    clock = Clock()
    here = replicas(count, clock)[0]
    code = new_code(1, count)
    tries = sum(wrong(here, code) for _ in range(int(TRIES) + 1))
    clock.now += 1.0
    fewer = sum(wrong(here, code) for _ in range(int(TRIES) + 1))
    return float(MOST_ROOMS * (tries + fewer * LIFE) / (len(ALPHABET) ** LENGTH / count))


@pytest.mark.parametrize("count", [1, 2, 4, 10, 20])
def test_a_code_of_a_known_replica_is_not_easier_to_guess(count: int) -> None:
    assert chance(count) <= 1.01 * MOST_ROOMS * (TRIES + TRIES_PER_SECOND * LIFE) / len(ALPHABET) ** LENGTH < 1e-5


def test_tries_that_were_not_shared_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "TRIES", 2 * TRIES)
    monkeypatch.setattr(rooms, "TRIES_PER_SECOND", 2 * TRIES_PER_SECOND)
    assert chance(2) > 1e-5


def test_a_code_of_another_replica_says_nothing_of_its_room_and_is_no_try() -> None:
    here, there = replicas(2)
    room, none = there.open(SNACKS, SPEAKER), new_code(2, 2)
    answers = set()
    for code in [room.code, none] * int(TRIES):
        with pytest.raises(Elsewhere) as refused:
            here.enter(code, "stranger")
        answers.add(str(refused.value))
    assert len(answers) == 1
    assert wrong(here, new_code(1, 2))


@pytest.mark.parametrize("typed", ["", "2", "2345678", "234567892", "<script>", "\u212a" * 8])
def test_what_is_no_code_is_wrong_everywhere(typed: str) -> None:
    assert all(wrong(here, typed) for here in replicas(3))


@pytest.mark.parametrize(
    ("place", "count", "found"), [("", "", (1, 1)), ("2", "3", (2, 3)), ("3", "2", (1, 1)), ("", "2", (1, 2))]
)
def test_a_server_knows_its_place_from_how_it_was_started(
    place: str, count: str, found: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPSILON_LAB_REPLICA", place)
    monkeypatch.setenv("EPSILON_LAB_REPLICAS", count)
    here = rooms._here()
    assert (here._place, here._replicas) == found


# -- the page at another replica ---------------------------------------------------------------------------------------


def links(app: AppTest) -> list[str]:
    return [element.proto.url for element in app.get("link_button")]


@pytest.mark.parametrize("way", ["typed", "by its link"])
def test_a_code_of_another_replica_leads_to_it_on_a_click(
    way: str, phone: Callable[[str], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a whole page load, which HAProxy sends there; and not again where it came back."""
    here, there = replicas(2)
    monkeypatch.setenv(along.KEY, 32 * "5a")
    monkeypatch.setattr("dashboard.poll.phone.ROOMS", here)
    code = there.open(SNACKS, SPEAKER).code
    app = phone("" if way == "typed" else shown_code(code))
    if way == "typed":
        app.text_input(key="poll-code").set_value(shown_code(code).lower()).run()
        press(app, "poll-enter")
    token = app.session_state[PHONE._name]
    assert links(app) == [f"?join={shown_code(code)}&go={along.proof(code, token)}"]
    assert said.AT_ANOTHER in told(app)
    app.query_params["go"] = "1"
    again = app.run()
    assert said.WITH_ITS_SERVER in told(again)
    assert not links(again)
    other = here.open(SNACKS, SPEAKER)  # the speaker's next room, at the replica that is left
    again.text_input(key="poll-code").set_value(other.code).run()
    press(again, "poll-enter")
    assert fine(again).title[0].value == "Which snack?"
