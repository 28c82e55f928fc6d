"""The speaker's page and the phones' in process: from the form to a receipt on each, and what no screen tells."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.people import visitors
from dashboard.poll import joining, rooms
from dashboard.poll.asked import Poll, Vote
from dashboard.poll.codes import shown_code
from dashboard.poll.room import Room
from dashboard.poll.rooms import ROOMS
from dashboard.serving import container
from dashboard.words import poll as said
from dpcore.ledger import Ledger, rate
from dpcore.ledger.visitor import VisitorsLedger
from dpcore.release import question_digest
from tests.dashboard.keys import key_of
from tests.poll.conftest import ANNOUNCED, SLEEP, SNACKS, SPEAKER, YES_NO, fine, press, told

Speaker = Callable[[], AppTest]
Phone = Callable[[str], AppTest]
CODE = "ABCD2345"


def words(app: AppTest) -> str:
    return "\n".join(told(app))


def the_room() -> Room:
    found = ROOMS.of_host(SPEAKER)
    assert found is not None
    return found


def at_the_forecast() -> Room:
    """A room that nobody voted in, one click before its answer."""
    room = ROOMS.open(SNACKS, SPEAKER)
    room.close_voting(SPEAKER)
    room.show_forecast(SPEAKER)
    return room


def receipts(file: Path) -> list[str]:
    with Ledger.open(f"sqlite:///{file}") as ledger:
        return [receipt.to_json() for receipt in ledger.receipts()]


def test_from_the_form_to_a_receipt_on_each_phone(speaker: Speaker, phone: Phone, ledger_file: Path) -> None:
    """One answer, one charge; a late phone and a reload of the speaker's page included; the counts as announced."""
    desk = speaker()
    desk.text_area(key="poll-question").set_value("Which *snack*?").run()
    desk.text_area(key="poll-options").set_value("Fruit\nNone\n").run()
    desk.checkbox(key="poll-counts").check().run()
    press(desk, "poll-open")
    room = the_room()
    assert room.poll.options == ("Fruit", "None")
    assert receipts(ledger_file) == []

    phones = [phone(shown_code(room.code).lower()) for _ in range(3)]
    assert all("The speaker will show the true counts afterwards" in words(app) for app in phones)
    for app, place in zip(phones, (0, 1, 1), strict=True):
        press(app, f"poll-vote-{place}")
    press(phones[0], "poll-vote-1")  # a change of mind
    assert "Your vote: **None**" in words(phones[0])
    desk = speaker()  # a reload
    assert "3 phones are in" in words(desk)

    press(desk, "poll-to-guess")
    for app in phones[:2]:
        fine(app.run())
        press(app, "poll-guess-75")
    press(desk, "poll-to-forecast")
    assert "The room gave 2 guesses; most often “75 times in 100” (2)." in words(desk)
    late = phone(room.code)
    assert said.LATE in words(late)
    press(desk, "poll-draw")
    (stored,) = receipts(ledger_file)
    answer = json.loads(stored)
    for app in (desk, *phones, late):
        fine(app.run())
        assert answer["journal_hash"][:12] in words(app)
        assert f"Most common: {answer['answer']['option']}" in words(app)
    assert "True counts" not in words(phones[0])
    press(desk, "poll-counts")
    assert room.seen().counts is not None
    assert room.seen().counts.tolist() == [0, 3]  # type: ignore[union-attr]
    press(desk, "poll-end")
    fine(phones[0].run())
    assert said.ENDED_AFTER in words(phones[0])
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        assert ledger.confirms(stored)
        assert ledger.budget(answer["lineage"]).remaining.epsilon == 0.0
    press(desk, "poll-leave")
    assert ROOMS.of_host(SPEAKER) is None


def test_a_room_whose_page_fails_can_be_ended(speaker: Speaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its browser has no room but this one for two hours."""
    room, page = ROOMS.open(YES_NO, SPEAKER), speaker()
    room.close_voting(SPEAKER)

    def fails(_: Poll) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("dashboard.poll.speaker.guess_question", fails)
    assert page.run().exception
    page.button(key="poll-end").click().run()
    assert room.seen().phase == "ended"


# -- nothing on a screen depends on a vote before the answer -----------------------------------------------------------

NEIGHBOURS: list[tuple[Poll, Vote | None, Vote | None]] = [
    (ANNOUNCED, "Fruit", "Nothing"),
    (SNACKS, "Cake", None),
    (YES_NO, "yes", "no"),
    (SLEEP, 0.0, 12.0),
]


def screens(poll: Poll, vote: Vote | None, speaker: Speaker, phone: Phone) -> tuple[list[list[str]], str]:
    """What the speaker and a phone that has not voted see at every step up to the answer, and the request's digest."""
    room = ROOMS.open(poll, SPEAKER)
    for token in ("a", "b", "c"):
        room.join(token)
    room.vote("a", vote)
    other = phone(room.code)
    desk = speaker()
    seen = [told(desk), told(other)]
    for button in ("poll-to-guess", "poll-to-forecast"):
        press(desk, button)
        fine(other.run())
        seen += [told(desk), told(other)]
    return seen, question_digest(room.poll.request)


@pytest.mark.parametrize(("poll", "one", "another"), NEIGHBOURS, ids=lambda value: getattr(value, "form", str(value)))
def test_neighbouring_votes_give_the_same_screens_and_the_same_request(
    poll: Poll,
    one: Vote | None,
    another: Vote | None,
    speaker: Speaker,
    phone: Phone,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rooms, "new_code", lambda *_: CODE)
    assert screens(poll, one, speaker, phone) == screens(poll, another, speaker, phone)


def test_the_comparison_above_sees_a_screen_that_tells(
    speaker: Speaker, phone: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant: the number of phones that is shown counts only those that have voted."""
    monkeypatch.setattr(rooms, "new_code", lambda *_: CODE)
    honest = Room.seen

    def leaking(room: Room) -> object:
        return replace(honest(room), phones=sum(phone.vote is not None for phone in vars(room)["_phones"].values()))

    monkeypatch.setattr(Room, "seen", leaking)
    assert screens(SNACKS, "Cake", speaker, phone) != screens(SNACKS, None, speaker, phone)


# -- odds and ends -----------------------------------------------------------------------------------------------------


def test_a_number_is_sent_changed_and_taken_back(phone: Phone, speaker: Speaker) -> None:
    room = ROOMS.open(SLEEP, SPEAKER)
    app = phone(room.code)
    press(app, "poll-send")
    assert "between 0 and 12" in words(app)
    app.number_input(key=key_of(app, "poll-number-")).set_value(7.5).run()
    press(app, "poll-send")
    assert "Your vote: **7.5**" in words(app)
    app.toggle(key=key_of(app, "poll-otherwise-")).set_value(True).run()
    fine(app)
    assert "the method allows 62.3 in any room" in words(app)
    press(app, "poll-take-back")
    assert said.NONE_YET in words(app)


def test_the_switch_compares_with_simulated_others_alone(phone: Phone, speaker: Speaker) -> None:
    """What a phone computes about its own vote is the same whatever the others really voted."""
    told_to = []
    for others in ("Fruit", "Cake"):
        room = ROOMS.open(SNACKS, SPEAKER)
        for number in range(20):
            room.join(str(number))
            room.vote(str(number), others)
        app = phone(room.code)
        app.toggle(key=key_of(app, "poll-otherwise-")).set_value(True).run()
        told_to.append([line for line in told(fine(app)) if room.code[:4] not in line])
    assert told_to[0] == told_to[1]
    assert any("becomes right at most" in line for line in told_to[0])


@pytest.mark.parametrize("code", ["", "22222222", "<script>"])
def test_a_phone_without_a_room_is_asked_for_the_code(phone: Phone, speaker: Speaker, code: str) -> None:
    room = ROOMS.open(SNACKS, SPEAKER)
    app = phone(code)
    assert app.title[0].value == said.JOIN_TITLE
    assert (said.WRONG_CODE in words(app)) == (code != "")
    app.text_input(key="poll-code").set_value(shown_code(room.code).lower()).run()
    press(app, "poll-enter")
    assert app.title[0].value == "Which snack?"


def test_a_mistake_in_the_form_is_one_sentence_and_keeps_the_entries(speaker: Speaker) -> None:
    desk = speaker()
    desk.text_area(key="poll-options").set_value("Only one").run()
    press(desk, "poll-open")
    assert "Give 2 to 8 options, one on each line." in words(desk)
    assert desk.text_area(key="poll-options").value == "Only one"
    assert ROOMS.of_host(SPEAKER) is None


def test_a_room_is_answered_where_nothing_real_is_released(
    speaker: Speaker, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phones come from other computers; a room's one answer is drawn for them, and no other ledger is opened wider."""
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    room = at_the_forecast()
    desk = speaker()
    press(desk, "poll-draw")
    assert room.seen().receipt is not None
    assert len(receipts(ledger_file)) == 1
    assert isinstance(compute.ledger(), VisitorsLedger)


def test_a_visitor_who_has_begun_too_much_opens_no_room(
    speaker: Speaker, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said before anybody votes; a room that is open already goes on to its answer."""
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    room = at_the_forecast()
    monkeypatch.setattr(rate, "MOST_OF_ONE", 0)
    press(speaker(), "poll-draw")
    assert room.seen().receipt is not None
    ROOMS.leave(SPEAKER)
    desk = speaker()
    press(desk, "poll-open")
    assert rate.TOO_MANY_OF_ONE in words(desk)
    assert ROOMS.of_host(SPEAKER) is None
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    press(desk, "poll-open")
    assert ROOMS.of_host(SPEAKER) is not None


def test_a_closed_ledger_is_said_before_anybody_votes(speaker: Speaker, ledger_file: Path) -> None:
    ledger_file.unlink()
    desk = speaker()
    assert said.CANNOT_DRAW in words(desk)
    assert desk.button(key="poll-open").disabled


def test_a_release_that_fails_can_be_tried_again(
    speaker: Speaker, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpcore.errors import LedgerError
    from dpcore.ledger import Ledger as Opened

    room = at_the_forecast()
    desk = speaker()
    with monkeypatch.context() as broken:

        def full(*_: object, **__: object) -> None:
            raise LedgerError("the disk is full")

        broken.setattr(Opened, "charge", full)
        press(desk, "poll-draw")
        assert "The disk is full." in words(desk)
        assert said.DRAW_AGAIN in words(desk)
    press(desk, "poll-draw")
    assert len(receipts(ledger_file)) == 1
    assert room.seen().receipt is not None


def test_clearing_streamlit_s_caches_leaves_the_room(speaker: Speaker) -> None:
    import streamlit as st

    room = ROOMS.open(SNACKS, SPEAKER)
    st.cache_resource.clear()
    st.cache_data.clear()
    assert ROOMS.of_host(SPEAKER) is room


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 0.5, 1 / 3, 2.0, 10.0])
def test_the_budget_is_exactly_the_answer_s(ledger_file: Path, epsilon: float) -> None:
    from dashboard.poll.answering import answer
    from dpcore.errors import BudgetExceeded

    poll = replace(SNACKS, epsilon=epsilon)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        lineage = Ledger.new_lineage()
        rows = poll.rows(["Fruit"])
        first = answer("one", lineage, poll.request, rows, ledger=lambda: ledger)
        assert answer("one", lineage, poll.request, poll.rows([]), ledger=lambda: ledger) == first
        with pytest.raises(BudgetExceeded):
            answer("two", lineage, poll.request, rows, ledger=lambda: ledger)


@pytest.mark.parametrize(
    ("listens", "found"),
    [
        ("127.0.0.1", "http://localhost:8501/"),
        ("localhost", "http://localhost:8501/"),
        ("192.0.2.7", "http://lab.example:8501/"),
        ("", "http://lab.example:8501/"),  # everywhere
    ],
)
def test_phones_are_sent_to_another_name_only_where_the_server_listens_for_others(
    listens: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy that has the name, the server's own port is not for phones."""
    options = {"server.address": listens, "server.allowedHosts": ["localhost", "lab.example"]}
    monkeypatch.setattr(joining.st, "get_option", options.get)
    monkeypatch.setattr(joining, "here", lambda page: "http://localhost:8501/")
    assert joining.for_phones("poll") == found


def test_addresses_and_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert joining.base("https://lab.example.org:8443/private/poll", "poll") == "https://lab.example.org:8443/private/"
    assert joining.address("https://lab.example.org/", CODE) == "https://lab.example.org/?join=ABCD-2345"
    assert joining.typed("https://lab.example.org/") == "lab.example.org/?join"
    assert joining.local("http://127.0.0.1:8501/")
    assert not joining.local("http://192.168.0.7:8501/")
    names = ["localhost", "127.0.0.1", "::1"]
    assert joining.outside("http://127.0.0.1:8501/", names) == "http://127.0.0.1:8501/"
    own = socket.gethostname()
    assert joining.outside("http://127.0.0.1:8501/", [*names, own, "192.168.0.7"]) == "http://192.168.0.7:8501/"
    assert joining.outside("http://localhost/lab/", [*names, "*", "lab.example"]) == "http://lab.example/lab/"
    assert joining.outside("http://localhost:1/", [*names, "fd00::7"]) == "http://[fd00::7]:1/"
    assert joining.outside("https://seen.example/", [*names, "lab.example"]) == "https://seen.example/"
    monkeypatch.setattr(container, "MARKS", ())
    assert joining.outside("http://localhost:1/", [*names, own]) == f"http://{own}:1/"
    monkeypatch.setattr(container, "MARKS", (tmp_path,))
    assert joining.outside("http://localhost:1/", [*names, own]) == "http://localhost:1/", "the name of a container"
    picture = joining.qr("https://lab.example.org/?join=ABCD-2345")
    assert picture.startswith("<svg xmlns=")
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
