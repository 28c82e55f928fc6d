"""The room by itself: many threads at once, one vote a phone, phases that never go back, and an end."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.poll.answering import answer
from dashboard.poll.asked import Poll, Request
from dashboard.poll.codes import ALPHABET, LENGTH, shown_code
from dashboard.poll.hall import MOST_PHONES
from dashboard.poll.refused import PollRefused
from dashboard.poll.room import GUESSES, Room
from dashboard.poll.rooms import LIFE, MOST_EACH, MOST_ROOMS, TRIES, TRIES_PER_SECOND, Rooms
from dashboard.words import poll as said
from dpcore.datasets import PrivateRows
from dpcore.ledger import Ledger
from tests.poll.conftest import ANNOUNCED, POLLS, SLEEP, SNACKS

HOST = "h" * 32


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now, self.before = 100.0, list[Callable[[], object]]()
        self.sleeps, self.may_pass = threading.Event(), threading.Event()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.set()
        self.may_pass.wait()
        for look in self.before:
            look()
        self.now += seconds


def rooms() -> tuple[Rooms, Clock]:
    clock = Clock()
    return Rooms(clock, clock.sleep), clock


def nothing(request_id: str, lineage: str, request: Request, rows: PrivateRows) -> Any:
    return "receipt"


def voted(room: Room) -> list[int]:
    """What the room would release from: read as the release does, at the end."""
    found: list[PrivateRows] = []

    def draw(request_id: str, lineage: str, request: Request, rows: PrivateRows) -> Any:
        found.append(rows)
        return "receipt"

    room.close_voting(HOST)
    room.show_forecast(HOST)
    room.release(HOST, draw)
    counts: list[int] = room.poll.request.read(found[0]).tolist()
    return counts


def test_a_hundred_threads_join_vote_and_change_their_minds() -> None:
    """Each phone ends with one row, its last vote, whatever the order; the first choice is voted for first by all."""
    room = Room("CODE", SNACKS, HOST)
    at_once = threading.Barrier(100)

    def phone(number: int) -> None:
        token = f"phone-{number}"
        at_once.wait()
        assert room.join(token)
        room.vote(token, SNACKS.choices[0])
        assert room.join(token)  # a reload
        room.vote(token, SNACKS.choices[number % 3])
        assert room.own(token).vote == SNACKS.choices[number % 3]

    with ThreadPoolExecutor(100) as pool:
        list(pool.map(phone, range(100)))
    assert room.seen().phones == 100
    assert voted(room) == [34, 33, 33]


def test_a_hundred_clicks_draw_once() -> None:
    room = Room("CODE", SNACKS, HOST)
    room.join("a")
    room.close_voting(HOST)
    room.show_forecast(HOST)
    drawn: list[str] = []

    def draw(request_id: str, lineage: str, request: Request, rows: PrivateRows) -> Any:
        drawn.append(request_id)
        return object()

    with ThreadPoolExecutor(100) as pool:
        receipts = list(pool.map(lambda _: room.release(HOST, draw), range(100)))
    assert len(drawn) == 1
    assert len({id(receipt) for receipt in receipts}) == 1


def test_a_draw_that_failed_can_be_drawn_again_under_its_own_id() -> None:
    room = Room("CODE", SNACKS, HOST)
    room.close_voting(HOST)
    room.show_forecast(HOST)
    asked: list[str] = []

    def fails(request_id: str, lineage: str, request: Request, rows: PrivateRows) -> Any:
        asked.append(request_id + lineage)
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - the kind is what matters
        room.release(HOST, fails)
    assert room.seen().phase == "forecast"

    def works(request_id: str, lineage: str, request: Request, rows: PrivateRows) -> Any:
        asked.append(request_id + lineage)
        return "receipt"

    assert room.release(HOST, works) == "receipt"
    assert asked[0] == asked[1]


def test_phases_follow_one_another_and_each_refuses_what_is_not_its_own() -> None:
    room = Room("CODE", ANNOUNCED, HOST)
    assert room.join("a")
    room.vote("a", "Cake")
    for early in (lambda: room.guess("a", 50), lambda: room.release(HOST, nothing), lambda: room.show_counts(HOST)):
        with pytest.raises(PollRefused):
            early()
    room.show_forecast(HOST)  # out of its turn: nothing moves
    assert room.seen().phase == "voting"
    room.close_voting(HOST)
    room.close_voting(HOST)
    assert room.seen().phase == "guessing"
    with pytest.raises(PollRefused, match="Voting is closed"):
        room.vote("a", "Fruit")
    assert not room.join("late")
    assert room.join("a")
    with pytest.raises(PollRefused, match="look on"):
        room.guess("late", 50)
    room.guess("a", GUESSES[0])
    room.guess("a", GUESSES[2])
    assert room.seen().guesses == (0, 0, 1, 0, 0)
    room.show_forecast(HOST)
    with pytest.raises(PollRefused, match="not taken now"):
        room.guess("a", 50)
    with pytest.raises(PollRefused):
        room.show_counts(HOST)
    room.release(HOST, nothing)
    room.show_counts(HOST)
    counts = room.seen().counts
    assert counts is not None
    assert counts.tolist() == [0, 1, 0]


def test_only_the_speaker_moves_on() -> None:
    room = Room("CODE", ANNOUNCED, HOST)
    for act in (room.close_voting, room.show_forecast, room.show_counts, room.end):
        with pytest.raises(PollRefused, match="opened this poll"):
            act("somebody else")
    with pytest.raises(PollRefused, match="opened this poll"):
        room.release("somebody else", nothing)
    assert room.seen().phase == "voting"


def test_true_counts_that_were_not_announced_stay_hidden() -> None:
    room = Room("CODE", SNACKS, HOST)
    room.close_voting(HOST)
    room.show_forecast(HOST)
    room.release(HOST, nothing)
    with pytest.raises(PollRefused, match="not announced"):
        room.show_counts(HOST)
    assert room.seen().counts is None


def test_the_end_forgets_votes_guesses_and_phones() -> None:
    room = Room("CODE", SNACKS, HOST)
    room.join("a")
    room.vote("a", "Cake")
    room.end(HOST)
    assert not room.own("a").joined
    assert room.seen().phones == 0
    assert "Cake" not in repr(vars(room)["_phones"])
    for act in (lambda: room.vote("a", "Cake"), lambda: room.release(HOST, nothing)):
        with pytest.raises(PollRefused, match="ended"):
            act()
    assert not room.join("a")


def test_no_more_phones_than_a_thousand() -> None:
    room = Room("CODE", SNACKS, HOST)
    for number in range(MOST_PHONES):
        room.join(str(number))
    with pytest.raises(PollRefused, match="1,000"):
        room.join("one more")
    assert room.join("0")


def test_a_vote_can_be_taken_back_and_only_offered_votes_are_taken() -> None:
    room = Room("CODE", SNACKS, HOST)
    room.join("a")
    room.vote("a", "Cake")
    room.vote("a", None)
    for wrong in ("Pie", "", 1.0, "cake"):
        with pytest.raises(PollRefused, match="not one of"):
            room.vote("a", wrong)
    assert voted(room) == [0, 0, 0]
    for wrong in (-0.5, 12.5, float("nan"), float("inf"), "7", True):
        with pytest.raises(PollRefused, match="between 0 and 12"):
            SLEEP.checked(wrong)


def test_nothing_on_disk_but_the_ledger_s_records(tmp_path: Path) -> None:
    """A vote that is not the answer is in no file; the answer and the question are, so the search would find it."""
    poll = Poll(question="Which animal?", form="options", options=("Marmoset", "Zebrafish"), epsilon=10.0)
    room = Room("CODE", poll, HOST)
    for number in range(40):
        room.join(f"token {number}")
        room.vote(f"token {number}", "Zebrafish" if number == 0 else "Marmoset")
    room.close_voting(HOST)
    room.show_forecast(HOST)
    with Ledger.open(tmp_path / "ledger.db", create=True) as ledger:
        room.release(HOST, partial(answer, ledger=lambda: ledger))
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"Which animal?" in written
    assert b"Marmoset" in written
    assert b"Zebrafish" not in written
    assert b"token" not in written


# -- the rooms of a server ---------------------------------------------------------------------------------------------


def test_a_room_is_found_by_its_code_and_by_its_speaker_and_ends_after_two_hours() -> None:
    found, clock = rooms()
    room = found.open(SNACKS, HOST)
    assert found.enter(shown_code(room.code).lower(), "a") is room
    assert found.of_host(HOST) is room
    assert found.of_host("x") is None
    clock.now += LIFE - 1
    assert found.of_host(HOST) is room
    clock.now += 1
    assert found.of_host(HOST) is None
    assert room.seen().phase == "ended"
    with pytest.raises(PollRefused, match="no poll with this code"):
        found.enter(room.code, "a")


def test_a_quiet_server_forgets_by_itself() -> None:
    """Nobody looks after the two hours; one look after another ends every room, and then there is no more."""
    found, clock = rooms()
    room = found.open(SNACKS, HOST)
    room.join("a")
    assert clock.sleeps.wait(60.0), "until the two hours from now"
    clock.now += 600.0
    later = found.open(SNACKS, "another speaker")
    seen: list[tuple[str, str]] = []
    clock.before.append(lambda: seen.append((room.seen().phase, later.seen().phase)))
    clock.now -= 600.0
    clock.may_pass.set()
    found._watch.rest(60.0)
    assert seen == [("voting", "voting"), ("ended", "voting")]
    assert room.seen().phase == "ended"
    assert not room.own("a").joined
    assert later.seen().phase == "ended"
    assert len(found) == 0
    assert not found._watch.works


def test_a_speaker_has_one_room_and_a_server_fifty() -> None:
    found, _ = rooms()
    first = found.open(SNACKS, HOST)
    second = found.open(SLEEP, HOST)
    assert first.seen().phase == "ended"
    assert found.of_host(HOST) is second
    for number in range(MOST_ROOMS - 1):
        found.open(SNACKS, f"host {number}")
    with pytest.raises(PollRefused, match="50 polls"):
        found.open(SNACKS, "one more")
    assert found.open(SNACKS, HOST) is found.of_host(HOST)


@pytest.mark.parametrize(("address", "other"), [("192.0.2.7", "192.0.2.8"), ("2001:db8::{:x}", "2001:db8:0:100::1")])
def test_one_network_has_a_share_of_the_rooms_and_not_all(address: str, other: str) -> None:
    found, _ = rooms()
    for number in range(MOST_EACH):
        found.open(SNACKS, f"host {number}", address.format(number + 1))
    with pytest.raises(PollRefused, match="your network 40 polls"):
        found.open(SNACKS, "one more", address.format(99))
    assert found.open(SNACKS, "host 3", address.format(4))  # theirs anew
    assert found.open(SNACKS, "elsewhere", other)


def test_codes_are_random_and_wrong_ones_run_out() -> None:
    """A stranger's tries are few against the codes there are; a phone that is in is never locked out."""
    found, clock = rooms()
    room = found.open(SNACKS, HOST)
    assert found.enter(room.code, "in").join("in")
    for _ in range(int(TRIES)):
        with pytest.raises(PollRefused, match="no poll with this code"):
            found.enter("22222222", "stranger")
    with pytest.raises(PollRefused, match="Too many"):
        found.enter("22222222", "stranger")
    with pytest.raises(PollRefused, match="Too many"):
        found.enter(room.code, "newcomer")  # a right code tells a stranger nothing either
    assert found.enter(room.code, "in") is room
    clock.now += 1.0
    assert found.enter(room.code, "newcomer") is room
    tries = TRIES + TRIES_PER_SECOND * LIFE
    assert MOST_ROOMS * tries / len(ALPHABET) ** LENGTH < 1e-5
    assert len({found.open(SNACKS, str(number)).code for number in range(40)}) == 40


# -- what can be asked -------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"question": "Q?", "form": "options", "options": ("a", "b"), "people": 10}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"question": "  "}, said.NO_QUESTION),
    ({"question": "a\u200bb"}, said.UNSEEN),
    ({"question": "x" * 141}, "at most 140"),
    ({"options": ("a",)}, "2 to 8"),
    ({"options": tuple("abcdefghi")}, "2 to 8"),
    ({"options": ("a", " A ")}, said.TWICE),
    ({"options": ("a", "")}, said.EMPTY_OPTION),
    ({"options": ("a", "b" * 41)}, "at most 40"),
    ({"people": 1}, "from 2 to 1,000"),
    ({"people": 1001}, "from 2 to 1,000"),
    ({"epsilon": 0.0}, "from 0.01 to 10"),
    ({"epsilon": float("nan")}, "from 0.01 to 10"),
    ({"form": "other"}, said.NO_FORM),
    ({"form": "number", "low": 3.0, "high": 3.0}, said.NO_BOUNDS),
    ({"form": "number", "low": float("nan")}, said.NO_BOUNDS),
    ({"form": "number", "low": 0.0, "high": 10.0, "step": 3.0}, said.NO_STEP),
    ({"form": "number", "low": 0.0, "high": 1e6, "step": 1.0}, "too fine"),
]


@pytest.mark.parametrize(("changed", "sentence"), WRONG, ids=[str(list(changed.items())) for changed, _ in WRONG])
def test_a_poll_that_cannot_be_asked_says_why(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PollRefused) as refused:
        Poll(**(GOOD | changed))
    assert sentence in str(refused.value)


@pytest.mark.parametrize("form", ["options", "yes_no", "number"])
def test_what_another_form_left_in_its_fields_is_not_asked(form: str) -> None:
    """A step of nought, left from a form of numbers, ended a room of yes or no at its guesses."""
    left = {"low": math.nan, "high": -math.inf, "step": 0.0, "options": ("a", "a", "")}
    own = {"number": ("low", "high", "step"), "options": ("options",)}.get(form, ())
    asked = GOOD | {"form": form, "low": 0.0, "high": 10.0, "step": 1.0}
    plain = Poll(**asked)
    assert Poll(**(asked | {name: value for name, value in left.items() if name not in own})) == plain
    assert plain.near > 0
    if own:
        with pytest.raises(PollRefused):
            Poll(**(asked | left))


@pytest.mark.parametrize(
    "options", [("None", "NA", "-"), ("yes", "no"), ("=1+1", "1", "01"), ("−5", "–5 %", "1 000"), ("Ä", "ä b", "$x$")]
)
def test_every_option_is_counted_as_what_it_says(options: tuple[str, ...]) -> None:
    """Words that a file's reader would take for a missing cell, a number or a formula are options like any other."""
    poll = Poll(question="Q?", form="options", options=options)
    votes = [*poll.choices, poll.choices[0], None]
    assert poll.request.read(poll.rows(votes)).tolist() == [2] + [1] * (len(options) - 1)
    assert poll.tally(votes).tolist() == [2] + [1] * (len(options) - 1)


def test_numbers_are_counted_where_they_are() -> None:
    """The released median of a lone number is most likely that number; every point of the grid survives the reading."""
    for poll in (SLEEP, Poll(question="N", form="number", low=-0.3, high=0.4, step=0.1, epsilon=10.0)):
        for place, point in enumerate(poll.grid):
            scores = poll.request.read(poll.rows([float(point)]))
            assert int(np.argmax(scores)) == place
            assert (scores == 0).sum() == 1


def test_every_poll_makes_its_request_from_the_declaration_alone() -> None:
    for poll in POLLS:
        assert poll.request.neighbours == "replace_one"
        assert poll.request.cost.epsilon == poll.epsilon
        assert poll.request.cost.delta == 0.0
        assert poll.question in poll.request.what
