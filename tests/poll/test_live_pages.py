"""The two live games on the speaker's page and the phones', in process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.rooms import ROOMS
from dashboard.poll.watch_room import WatchRoom
from dashboard.words import live as said
from dpcore.ledger import Ledger
from tests.poll.conftest import SPEAKER, fine, press, told
from tests.poll.test_live_rooms import Gone

Speaker = Callable[[], AppTest]
Phone = Callable[[str], AppTest]


def words(app: AppTest) -> str:
    return "\n".join(told(app))


def opened(speaker: Speaker, kind: str) -> AppTest:
    desk = speaker()
    desk.segmented_control(key="room").set_value(kind).run()
    return fine(desk)


def test_a_room_predicts_to_a_receipt_on_each_phone(speaker: Speaker, phone: Phone, ledger_file: Path) -> None:
    desk = opened(speaker, "follow")
    desk.number_input(key="poll-follow-rounds").set_value(2).run()
    desk.number_input(key="poll-follow-teams").set_value(2).run()
    desk.checkbox(key="poll-follow-counts").check().run()
    assert "all that one phone predicts in 2 rounds: right 50 times in 100 before, at most **73.2**" in words(desk)
    press(desk, "poll-follow-open")
    room = ROOMS.of_host(SPEAKER)
    assert isinstance(room, FollowRoom)
    phones = [phone(room.code) for _ in range(3)]
    assert "Your team: **Team A**" in words(phones[0])
    assert "Your team: **Team B**" in words(phones[1])
    press(desk, "poll-start")
    assert "Round 1 of 2: follow Team" in words(desk)
    assert said.FIRST_DRAWN in words(desk)
    late = phone(room.code)
    assert said.LATE in words(late)
    for app, outcome in zip(phones, (0, 1, 1), strict=True):
        fine(app.run())
        press(app, f"poll-predict-{outcome}")
    press(phones[0], "poll-predict-1")  # a change of mind
    assert "You predict: **tails**" in words(phones[0])
    desk = speaker()  # a reload
    press(desk, "poll-was-1")
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.receipts()
    assert f"Round 2 of 2: follow {receipt.answer['team']}" in words(desk)
    for app in (desk, *phones, late):
        fine(app.run())
        assert receipt.journal_hash[:12] in words(app)
    press(desk, "poll-was-0")
    assert said.FOLLOW_OVER in words(desk)
    assert said.TRUE_MARK not in words(desk)
    press(desk, "poll-counts")
    assert "Regret: **" in words(desk)
    fine(phones[1].run())
    assert "Regret: **" in words(phones[1])
    press(desk, "poll-end")
    fine(phones[0].run())
    assert said.ENDED_PHONE in words(phones[0])
    press(desk, "poll-leave")
    assert ROOMS.of_host(SPEAKER) is None


def test_a_play_that_failed_is_drawn_again(
    speaker: Speaker, phone: Phone, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpcore.errors import LedgerError

    desk = opened(speaker, "follow")
    press(desk, "poll-follow-open")
    room = ROOMS.of_host(SPEAKER)
    assert isinstance(room, FollowRoom)
    for token in "abcd":
        room.join(token)
    press(desk, "poll-start")
    with monkeypatch.context() as broken:

        def full(*_: object, **__: object) -> None:
            raise LedgerError("the disk is full")

        broken.setattr(Ledger, "charge", full)
        press(desk, "poll-was-0")
        assert f"The disk is full. {said.DRAW_FAILED}" in words(desk)
    press(desk, "poll-follow")
    assert "Round 2 of 8" in words(desk)


def test_an_alarm_goes_off_to_a_receipt_on_each_phone(
    speaker: Speaker, phone: Phone, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    desk = opened(speaker, "watch")
    desk.number_input(key="poll-watch-bar").set_value(1).run()
    desk.number_input(key="poll-watch-looks").set_value(5).run()
    desk.checkbox(key="poll-watch-counts").check().run()
    press(desk, "poll-watch-open")
    room = ROOMS.of_host(SPEAKER)
    assert isinstance(room, WatchRoom)
    monkeypatch.setattr(room, "_wait", lambda closed, seconds: go.wait(60))
    phones = [phone(room.code) for _ in range(2)]
    assert phones[0].button(key="poll-tap").disabled
    assert "In a simulated room of 30 people, 50 in 100 tap" in words(desk)
    press(desk, "poll-listen")
    assert "Listening: look 1 of 5" in words(desk)
    fine(phones[0].run())
    press(phones[0], "poll-tap")
    assert said.TAPPED in words(phones[0])
    assert "tapped" not in words(desk).replace("whether one phone tapped", "")
    (listening,) = [one for one in threading.enumerate() if one.name == "a room's alarm"]
    go.set()
    listening.join(60)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.receipts()
    late = phone(room.code)
    for app in (desk, *phones, late):
        fine(app.run())
        assert said.alarm_told(receipt.answer["look"], 2.0) in words(app)
        assert receipt.journal_hash[:12] in words(app)
    press(desk, "poll-counts")
    assert "The line was truly reached at look 1. When listening ended, 1 phone had tapped." in words(desk)
    press(desk, "poll-end")
    fine(phones[1].run())
    assert said.ENDED_PHONE in words(phones[1])


def test_an_alarm_s_answer_that_is_stored_later_is_waited_for_on_every_screen(
    speaker: Speaker, phone: Phone, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Gone(monkeypatch)
    desk = opened(speaker, "watch")
    desk.number_input(key="poll-watch-looks").set_value(5).run()
    press(desk, "poll-watch-open")
    room = ROOMS.of_host(SPEAKER)
    assert isinstance(room, WatchRoom)
    monkeypatch.setattr(room, "_wait", lambda closed, seconds: None)
    app = phone(room.code)
    press(desk, "poll-listen")
    (listening,) = [one for one in threading.enumerate() if one.name == "a room's alarm"]
    until = time.monotonic() + 60
    while room.seen().phase == "listening" and time.monotonic() < until:
        time.sleep(0.01)
    for one in (desk, app):
        fine(one.run())
        assert said.KEPT in words(one)
        assert said.STOPPED not in words(one)
    gone.away = False
    listening.join(60)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        (receipt,) = ledger.receipts()
    for one in (desk, app):
        fine(one.run())
        assert said.alarm_told(receipt.answer["look"], 2.0) in words(one)
        assert said.KEPT not in words(one)


def test_a_mistake_in_a_form_is_one_sentence(speaker: Speaker) -> None:
    desk = opened(speaker, "follow")
    desk.text_input(key="poll-follow-second").set_value("heads").run()
    press(desk, "poll-follow-open")
    assert said.TWO_OUTCOMES in words(desk)
    desk.segmented_control(key="room").set_value("watch").run()
    desk.text_area(key="poll-watch-question").set_value(" ").run()
    press(desk, "poll-watch-open")
    assert "Write the question first." in words(desk)
    assert ROOMS.of_host(SPEAKER) is None
