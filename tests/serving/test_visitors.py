"""Who may do what where nobody logs in: decided by how a visitor came, kept by the ledger whatever a page sends."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.context import StreamlitHeaders
from streamlit.testing.v1 import AppTest

from dashboard.background import cluster, compute
from dashboard.background.once import forget_all
from dashboard.data import understood
from dashboard.people import visitors
from dashboard.serving.settings import REPLICAS
from dashboard.words.data import TO_CLUSTER
from dashboard.words.server import OPEN
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, LedgerError, UnknownLineage
from dpcore.ledger import Ledger, rate, rooms, visitor
from dpcore.ledger.asked import ACTORS
from dpcore.ledger.begun import Begun
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Bringer, Brought
from dpcore.ledger.roles import Person
from dpcore.ledger.visitor import NOT_HERE, SHARED, VisitorsLedger
from tests.dashboard import conftest as dashboard
from tests.dashboard.conftest import CLINIC, TOKEN, text

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers
OTHER = "f" * 32
THEIRS = Ledger.practice_lineage(OTHER, "clinic")


@pytest.mark.parametrize(
    ("address", "names", "found"),
    [
        ("127.0.0.1", ["localhost", "127.0.0.1"], False),
        ("::1", ["localhost", "::1"], False),
        ("localhost", None, False),
        ("127.0.0.1", ["localhost", "lab.example"], True),
        ("127.0.0.1", ["*"], True),
        ("192.168.1.5", ["localhost"], True),
        ("0.0.0.0", ["localhost"], True),  # noqa: S104 - not bound
        (None, ["localhost"], True),
        ("127.0.0.1.evil.example", ["localhost"], True),
    ],
)
def test_a_server_is_open_to_others_unless_it_cannot_be(address: str | None, names: list[str], found: bool) -> None:
    assert visitors.opened(address, names) is found


class Context:
    """How one visitor came, with headers as Streamlit has them."""

    def __init__(self, *headers: tuple[str, str]) -> None:
        self.headers = StreamlitHeaders(headers)


FORWARDED = ("X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-Ip", "Via")
HERE = ("Host", "localhost:8501")


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ([HERE], False),
        ([("Host", "127.0.0.1:8501")], False),
        ([("Host", "[::1]:8501")], False),
        ([("Host", "lab.example")], True),
        *(([HERE, (name, said)], True) for name in FORWARDED for said in ("127.0.0.1", "", " ")),
        *(([HERE, (name, ""), (name, "10.0.0.7")], True) for name in FORWARDED),
    ],
)
def test_who_comes_from_elsewhere_is_not_known(
    headers: list[tuple[str, str]], found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty line before the balancer's own made anybody the person at this computer, whose budgets were spent."""
    monkeypatch.setattr(visitors.st, "context", Context(*headers))
    monkeypatch.setattr(visitors, "opened", lambda *_: False)
    monkeypatch.delenv("EPSILON_LAB_VISITORS", raising=False)
    assert visitors.restricted() is found
    monkeypatch.setenv(REPLICAS, "1")
    assert visitors.restricted(), "nobody comes to a replica but through the balancer"
    monkeypatch.setenv("EPSILON_LAB_VISITORS", "trusted")
    assert not visitors.restricted()


KNOWN = SimpleNamespace(configured=object, person=lambda: Person(subject="ada"))
CAME: tuple[tuple[dict[str, Any], bool], ...] = (
    ({}, True),
    ({"opened": lambda *_: True}, False),
    ({"login": SimpleNamespace(configured=object, person=lambda: None)}, False),
    ({"login": KNOWN}, False),
    ({"TRUSTED": None}, False),
)
"""How somebody may come, and whether that is from this computer."""


@pytest.mark.parametrize("careless", [False, True])
def test_a_file_is_said_to_stay_here_only_where_nobody_comes_from_elsewhere(
    careless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever had logged in at another computer was told that it does not leave theirs."""
    monkeypatch.delenv("EPSILON_LAB_VISITORS", raising=False)
    monkeypatch.setattr(visitors.st, "context", Context(HERE))
    monkeypatch.setattr(visitors, "opened", lambda *_: False)
    if careless:
        monkeypatch.setattr(visitors, "alone", lambda: not visitors.restricted())
    for said in (understood.where_kept, understood.where_it_is):
        found = []
        for came, _ in CAME:
            with monkeypatch.context() as patched:
                for name, value in came.items():
                    patched.setattr(visitors, name, value)
                found.append("this computer" in said())
        assert (found == [here for _, here in CAME]) is not careless, found


@pytest.mark.parametrize(("came", "_"), CAME)
def test_where_there_is_a_cluster_a_file_is_said_to_go_there(
    came: dict[str, Any], _: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to be sent nowhere else, and all of its rows were read on a worker."""
    monkeypatch.delenv("EPSILON_LAB_VISITORS", raising=False)
    monkeypatch.setattr(visitors.st, "context", Context(HERE))
    monkeypatch.setattr(visitors, "opened", lambda *_: False)
    for name, value in came.items():
        monkeypatch.setattr(visitors, name, value)
    for address in ("", "tls://cluster.example:8786"):
        monkeypatch.setenv(cluster.VARIABLE, address)
        for told in (understood.where_kept(), understood.where_it_is()):
            assert (TO_CLUSTER in told) == bool(address)
            assert not (address and ("nowhere else" in told or "does not leave" in told))


@pytest.fixture
def whole() -> Ledger:
    """A ledger with somebody's real budget, another visitor's practice, and ours."""
    found = Ledger.open("sqlite://")
    found.open_budget("people", epsilon=1.0, name="Patients")
    found.charge("real", "people", Cost.pure(0.1), "How many?", question="q")
    for token, name in ((TOKEN, "mine"), (OTHER, "theirs")):
        budget = found.open_practice(token, "clinic", epsilon=3.0)
        found.charge(name, budget.lineage, Cost.pure(0.5), "Which?", question="q")
    return found


FORBIDDEN: dict[str, Callable[[Ledger], object]] = {
    "open_budget": lambda ledger: ledger.open_budget("new", epsilon=1.0),
    "open_budget practice": lambda ledger: ledger.open_budget("new", epsilon=1.0, practice=True),
    "open_practice": lambda ledger: ledger.open_practice(OTHER, "clinic", epsilon=9.0),
    "charge": lambda ledger: ledger.charge("new", "people", Cost.pure(0.1), "?"),
    "charge again": lambda ledger: ledger.charge("real", "people", Cost.pure(0.1), "How many?", question="q"),
    "charge theirs": lambda ledger: ledger.charge("new", THEIRS, Cost.pure(0.1), "?"),
    "begin_draw": lambda ledger: ledger.begin_draw("real"),
    "draw_failed": lambda ledger: ledger.draw_failed("real"),
    "store_answer": lambda ledger: ledger.store_answer("real", 7),
    "link": lambda ledger: ledger.link("file", "people"),
    "join": lambda ledger: ledger.join(Brought(fingerprint="file"), "people"),
    "say_others": lambda ledger: ledger.say_others(Brought(fingerprint="file"), "new", than="people"),
    "sketch_key": lambda ledger: ledger.sketch_key,
    "backup": lambda ledger: ledger.backup("/nowhere"),
    "verify": lambda ledger: ledger.verify(),
    "acting": lambda ledger: ledger.acting("local"),
    "give_roles": lambda ledger: ledger.give_roles("me", ["owner"]),
    "share": lambda ledger: ledger.share("people", "me", "own"),
    "set_limit": lambda ledger: ledger.set_limit("people", None),
    "end_budget": lambda ledger: ledger.end_budget("people"),
    "ask": lambda ledger: ledger.ask("new", "people", Cost.pure(0.1), "?"),
    "grant": lambda ledger: ledger.grant("real"),
    "refuse": lambda ledger: ledger.refuse("real", "because"),
    "withdraw": lambda ledger: ledger.withdraw("real"),
    "records": lambda ledger: ledger.records(),
    "sealed": lambda ledger: ledger.sealed(b"%PDF-1.7", ["0" * 12]),
}
UNSEEN: dict[str, Callable[[Ledger, str], object]] = {
    "sealed": lambda ledger, lineage: ledger.sealed(b"%PDF-1.7", budgets=[lineage]),
    "budget": lambda ledger, lineage: ledger.budget(lineage),
    "remaining": lambda ledger, lineage: ledger.remaining(lineage),
    "protects": lambda ledger, lineage: ledger.protects(lineage),
    "rename": lambda ledger, lineage: ledger.rename(lineage, "x"),
    "reset_practice": lambda ledger, lineage: ledger.reset_practice(lineage),
    "resize_practice": lambda ledger, lineage: ledger.resize_practice(lineage, epsilon=9.0),
    "undo_reset": lambda ledger, lineage: ledger.undo_reset(lineage),
    "history": lambda ledger, lineage: ledger.history(lineage),
    "count": lambda ledger, lineage: ledger.count(lineage),
    "answered": lambda ledger, lineage: ledger.answered(lineage, "q"),
    "answered_ids": lambda ledger, lineage: ledger.answered_ids(lineage, "q"),
    "unanswered": lambda ledger, lineage: ledger.unanswered(lineage, "q"),
    "terms": lambda ledger, lineage: ledger.terms(lineage),
    "needs_approval": lambda ledger, lineage: ledger.needs_approval(lineage, Cost.pure(0.1)),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_nothing_real_can_be_done(whole: Ledger, name: str) -> None:
    before = whole.verify().seq
    with pytest.raises(LedgerError, match="open to others without a login"):
        FORBIDDEN[name](VisitorsLedger(whole, TOKEN))
    assert whole.verify().seq == before, "nothing was written"


@pytest.mark.parametrize("name", UNSEEN)
def test_nothing_of_anybody_else_is_seen(whole: Ledger, name: str) -> None:
    before = whole.verify().seq
    for lineage in ("people", THEIRS, "practice:clinic:", "practice:"):
        with pytest.raises(UnknownLineage):
            UNSEEN[name](VisitorsLedger(whole, TOKEN), lineage)
    assert whole.verify().seq == before


def test_lists_hold_what_is_the_visitor_s_alone(whole: Ledger) -> None:
    mine = VisitorsLedger(whole, TOKEN)
    assert [budget.lineage for budget in mine.budgets()] == [CLINIC]
    assert [receipt.request_id for receipt in mine.receipts()] == ["mine"]
    assert not mine.receipts(newest=0)
    real = whole.receipt("real")
    assert real is not None
    assert mine.receipt("real") is None
    assert not mine.find(real.journal_hash[:12])
    assert not mine.statements()
    assert not mine.petitions()
    assert not mine.to_decide()
    assert not mine.roles()
    assert not mine.chargeable()
    assert not mine.comparable()
    assert not mine.similar("file", among=["people"])


def test_a_visitor_practises_as_ever(whole: Ledger) -> None:
    mine = VisitorsLedger(whole, TOKEN)
    mine.charge("again", CLINIC, Cost.pure(0.5), "?")
    mine.begin_draw("again")
    assert mine.store_answer("again", 7).answer == 7
    assert mine.budget(CLINIC).remaining.epsilon == 2.0
    assert mine.reset_practice(CLINIC).remaining.epsilon == 3.0
    with pytest.raises(InvalidArgument):
        VisitorsLedger(whole, "short")


@pytest.mark.parametrize("bound", ["MOST_OF_ONE", "MOST_OF_ALL"])
def test_practice_grows_the_ledger_only_so_far(whole: Ledger, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """Whatever a visitor sends, new tokens included; what was begun is drawn and answered, and time opens it again."""
    mine = VisitorsLedger(whole, TOKEN)
    monkeypatch.setattr(rate, bound, 12)
    said = rate.TOO_MANY_OF_ONE if bound == "MOST_OF_ONE" else rate.TOO_MANY_OF_ALL
    before = whole.verify().seq
    sent = ""
    with pytest.raises(LedgerError, match="nothing was charged"):  # noqa: PT012 - which of them is refused is not said
        for number in range(50):
            mine.charge(f"r{number}", CLINIC, Cost.pure(1e-6), "?")
            sent = f"r{number}"
    last = sent
    mine.begin_draw(last)
    assert mine.store_answer(last, 7).answer == 7
    assert mine.charge(last, CLINIC, Cost.pure(1e-6), "?").answer == 7, "the same again is no new record"
    begin = (
        lambda: mine.open_practice(TOKEN, "town", epsilon=1.0),
        lambda: mine.rename(CLINIC, "x"),
        lambda: mine.reset_practice(CLINIC),
        lambda: mine.resize_practice(CLINIC, epsilon=9.0),
        lambda: mine.undo_reset(CLINIC),
    )
    for one in begin:
        with pytest.raises(LedgerError) as refused:
            one()
        assert str(refused.value) == said
    assert whole.verify().seq - before <= 12
    fresh = VisitorsLedger(whole, "9" * 32)
    if bound == "MOST_OF_ALL":
        with pytest.raises(LedgerError, match="no more for now"):
            fresh.open_practice("9" * 32, "town", epsilon=1.0)
    else:
        assert fresh.open_practice("9" * 32, "town", epsilon=1.0).practice
    whole.charge("its owner's", "people", Cost.pure(0.1), "?")  # who is known is not bounded
    monkeypatch.setattr(rate, "DAY", timedelta(0))
    monkeypatch.setattr(rate, "HOUR", timedelta(0))
    time.sleep(0.002)
    assert mine.reset_practice(CLINIC).practice


def play(whole: Ledger, token: str, rounds: int) -> str:
    """A room's records, as its answers write them; the name of its budget."""
    lineage = Ledger.room_lineage(token)
    VisitorsLedger(whole, token).note_room(lineage)
    people = whole.acting("room")
    people.open_budget(lineage, epsilon=1.0, neighbours="replace_one")
    for number in range(rounds):
        people.charge(f"{lineage}-{number}", lineage, Cost.pure(0.01), "Who?", neighbours="replace_one")
    return lineage


def test_rooms_are_counted_with_the_visitor_who_opened_them(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One room does not stop another visitor; and what was let in is played to its end (``play`` is not refused)."""
    monkeypatch.setattr(rate, "MOST_OF_ONE", 12)
    mine, other = VisitorsLedger(whole, TOKEN), VisitorsLedger(whole, OTHER)
    mine.may_begin()
    play(whole, TOKEN, 20)
    for begin in (mine.may_begin, lambda: mine.charge("new", CLINIC, Cost.pure(0.1), "?")):
        with pytest.raises(LedgerError) as refused:
            begin()
        assert str(refused.value) == rate.TOO_MANY_OF_ONE
    other.may_begin()
    whole.may_begin()  # who is known is not bounded
    assert mine.charge("mine", CLINIC, Cost.pure(0.5), "Which?", question="q").request_id == "mine"
    monkeypatch.setattr(rate, "DAY", timedelta(0))
    time.sleep(0.002)
    mine.may_begin()


def test_rooms_that_nobody_counts_are_found_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: with names that say nothing to anybody, a visitor is never refused."""
    monkeypatch.setattr(rate, "MOST_OF_ONE", 12)
    monkeypatch.setattr(Ledger, "room_lineage", staticmethod(lambda token: Ledger.new_lineage()))
    play(whole, TOKEN, 20)
    VisitorsLedger(whole, TOKEN).may_begin()


def test_a_room_counts_with_nobody_but_who_opened_it(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that was never played as one record: else so many could be opened that the played ones are forgotten."""
    monkeypatch.setattr(rate, "MOST_OF_ONE", 12)
    mine, other = VisitorsLedger(whole, TOKEN), VisitorsLedger(whole, OTHER)
    other.note_room(play(whole, TOKEN, 20))
    other.may_begin()
    for _ in range(12):
        other.note_room(Ledger.room_lineage(OTHER))
    for one in (mine, other):
        with pytest.raises(LedgerError, match="as much as one person can"):
            one.may_begin()


def test_rooms_are_kept_in_mind_for_a_day_and_only_so_many() -> None:
    now = [0.0]
    opened = rooms.Opened(most=6, clock=lambda: now[0])
    names = [Ledger.room_lineage(token) for token in (TOKEN, OTHER) * 2]
    for hour, name in enumerate(names):
        now[0] = 3600.0 * hour
        for token in (TOKEN, OTHER):
            opened.note(name, token)
    assert opened.opened_by(TOKEN) == names[::2]
    assert opened.opened_by(OTHER) == names[1::2]
    now[0] = 86_400.0
    assert opened.opened_by(TOKEN) == names[2::2], "a day after it was opened"
    for _ in range(5):
        opened.note(Ledger.room_lineage(OTHER), OTHER)
    assert (len(opened.opened_by(TOKEN)), len(opened.opened_by(OTHER))) == (0, 6), "the oldest give way"
    now[0] += 86_400.0
    assert opened.opened_by(OTHER) == []
    assert not opened._rooms
    assert not opened._noted


Who = Callable[..., Ledger]


def visiting(whole: Ledger, token: str, **how: Any) -> Ledger:
    return VisitorsLedger(whole, token, **how)


def logged_in(whole: Ledger, token: str, **how: Any) -> Ledger:
    return MembersLedger(whole, Person(subject=f"{token} at https://login.example"), token, **how)


def practising(whole: Ledger, network: str, replicas: int = 1, who: Who = visiting) -> int:
    """How many answers a computer gets that is somebody else before each, until it is refused for its network."""
    for number in range(40):
        token = f"{number}".rjust(32, "c")
        other = who(whole, token, network=network, replicas=replicas)
        try:
            lineage = other.open_practice(token, "clinic", epsilon=3.0).lineage
            other.charge(f"answer {number}", lineage, Cost.pure(0.1), "?")
        except LedgerError:
            return number
    return 40


def test_many_logins_of_one_network_leave_room_for_others(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may make themselves 36 logins took what a server's ledger takes from everybody."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", 100)
    assert practising(whole, "192.0.2.1", who=logged_in) == 20
    other = logged_in(whole, TOKEN, network="192.0.2.2")
    lineage = other.open_practice(TOKEN, "clinic", epsilon=3.0).lineage
    other.charge("elsewhere", lineage, Cost.pure(0.1), "?")
    with pytest.raises(LedgerError, match="from your network"):
        logged_in(whole, OTHER, network="192.0.2.1").may_begin(rate.room(1))  # type: ignore[attr-defined]


def test_what_one_person_begins_in_vain_is_no_more_than_they_can_write(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clicks that write nothing used up what their whole network had."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", 200)
    monkeypatch.setattr(rate, "MOST_OF_ONE", 30)
    for who in (visiting, logged_in):
        network = f"192.0.2.{who.__name__}"
        one = who(whole, TOKEN, network=network)
        for _ in range(200):
            one.may_begin(1)  # type: ignore[attr-defined]
        assert whole._store.begun.records(network) == 30
        who(whole, OTHER, network=network).may_begin(rate.ANSWER)  # type: ignore[attr-defined]


def test_one_network_leaves_room_for_others(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever cookies are sent from it, and rooms count; by cookies alone (no network is known) there was no end."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", 100)
    assert practising(whole, "192.0.2.1") == 20, "four records each, up to 80"
    assert practising(Ledger.open("sqlite://"), "") == 40
    elsewhere = VisitorsLedger(whole, TOKEN, network="192.0.2.2")
    elsewhere.may_begin(rate.room(1))
    elsewhere.charge("elsewhere", CLINIC, Cost.pure(0.1), "?")
    assert elsewhere.charge("elsewhere", CLINIC, Cost.pure(0.1), "?") == whole.receipt("elsewhere")
    assert whole._store.begun.records("192.0.2.2") == rate.room(1) + rate.ANSWER, "the same again is nothing new"
    desk = VisitorsLedger(whole, OTHER, network="192.0.2.1")
    for begin in (lambda: desk.may_begin(rate.room(1)), lambda: desk.rename(THEIRS, "x")):
        with pytest.raises(LedgerError) as refused:
            begin()
        assert str(refused.value) == rate.TOO_MANY_OF_NETWORK
    assert not [one for one in whole.records() if "192.0.2" in one.line()], "no address is ever written"


def test_a_room_that_would_be_more_than_a_network_has_is_not_opened(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is opened: once it is, it is played to its end, so that two of them were 36 records too many."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", 300)
    for number in range(4):
        VisitorsLedger(whole, f"{number}" * 32, network="192.0.2.1").may_begin(rate.room(19))
    with pytest.raises(LedgerError, match="from your network"):
        VisitorsLedger(whole, OTHER, network="192.0.2.1").may_begin(rate.room(19))
    assert whole._store.begun.records("192.0.2.1") == 4 * 58
    monkeypatch.setattr(rate, "MOST_OF_ONE", 50)
    with pytest.raises(LedgerError, match="as much as one person can"):
        VisitorsLedger(whole, OTHER, network="192.0.2.2").may_begin(rate.room(19))
    monkeypatch.setattr(rate, "MOST_OF_ONE", 600)
    monkeypatch.setattr(rate, "EACH", 4.0)
    monkeypatch.setattr(rate, "MOST_OF_ALL", 60)
    with pytest.raises(LedgerError, match="no more for now"):
        VisitorsLedger(whole, OTHER).may_begin(rate.room(19))
    VisitorsLedger(whole, OTHER).may_begin(rate.ANSWER)


def test_a_server_that_is_one_of_two_takes_half(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "MOST_OF_ALL", 100)
    assert practising(whole, "192.0.2.1", replicas=2) == 10


def test_what_a_network_has_begun_is_forgotten_after_an_hour() -> None:
    now = [0.0]
    begun = Begun(clock=lambda: now[0])
    for minute in range(0, 120, 10):
        now[0] = 60.0 * minute
        begun.note("a", 3)
        begun.note("", 3)
        assert begun.records("a") == min(3 * (minute // 10 + 1), 18)
    assert begun.records("b") == begun.records("") == 0
    now[0] += 3600.0
    assert begun.records("a") == 0
    assert not begun._records, "nothing is kept of it"
    assert not begun._noted


def test_a_page_tells_the_ledger_where_its_visitor_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the gate counts places: a network of IPv6 is one."""
    for said, found in (("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::/56"), (None, "")):
        monkeypatch.setattr(visitors.st, "context", SimpleNamespace(ip_address=said, cookies={}, headers={}))
        assert visitors.address() == found
    monkeypatch.setenv("EPSILON_LAB_REPLICAS", "3")
    assert visitors.replicas() == 3
    monkeypatch.setenv("EPSILON_LAB_REPLICAS", "none")
    assert visitors.replicas() == 1
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    monkeypatch.setattr(visitors, "address", lambda: "192.0.2.9")
    monkeypatch.setattr(compute.visitor, "token", lambda: TOKEN)
    monkeypatch.setattr(compute, "_ledger", lambda named: Ledger.open("sqlite://"))
    mine = compute.ledger()
    mine.open_practice(TOKEN, "clinic", epsilon=3.0)
    assert mine._store.begun.records("192.0.2.9") == rate.CHANGE
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    assert compute.ledger()._bringer == Bringer(), "who is here alone is told from nobody"
    monkeypatch.setenv("EPSILON_LAB_VISITORS", "trusted")
    several = compute.ledger()
    assert several._bringer == Bringer(several=True, token=TOKEN, network="192.0.2.9")
    monkeypatch.setenv("EPSILON_LAB_REPLICAS", "3")
    several = compute.ledger()
    several.open_practice(TOKEN, "clinic", epsilon=3.0)
    several.open_budget("people", epsilon=1.0)
    assert several._store.begun.records("192.0.2.9") == 3 * rate.CHANGE
    assert several._store.written.records("network 192.0.2.9") == 3


def test_the_names_of_two_rooms_have_nothing_in_common_without_the_token() -> None:
    one, two = (Ledger.room_lineage(TOKEN) for _ in range(2))
    assert rooms.opened_by(one, TOKEN)
    assert rooms.opened_by(two, TOKEN)
    assert not rooms.opened_by(one, OTHER)
    assert not any(rooms.opened_by(name, TOKEN) for name in ("people", "room:", "room:a:b", CLINIC))
    assert not set(one.split(":")[1:]) & set(two.split(":")[1:])
    assert not {*one.split(":")} & {CLINIC.rsplit(":", 1)[-1]}


def test_receipts_name_the_kind_of_actor_and_nobody(whole: Ledger) -> None:
    mine = VisitorsLedger(whole, TOKEN)
    by = {
        "visitor": mine.charge("v", CLINIC, Cost.pure(0.1), "?"),
        "local": whole.acting("local").charge("l", "people", Cost.pure(0.1), "?"),
        "trusted": whole.acting("trusted").charge("t", "people", Cost.pure(0.1), "?"),
        "": whole.charge("p", "people", Cost.pure(0.1), "?"),
    }
    for actor, receipt in by.items():
        assert receipt.actor == actor
        assert ("actor" in receipt.to_dict()) == bool(actor), "a receipt from before has no such entry"
        assert whole.confirms(receipt.to_json())
        assert TOKEN not in receipt.to_json()
    assert not whole.confirms(by["visitor"].to_json().replace('"visitor"', '"local"'))
    assert by["trusted"] == whole.charge("t", "people", Cost.pure(0.1), "?"), "whoever sends it again"
    with pytest.raises(InvalidArgument):
        whole.acting("Ann")  # type: ignore[arg-type]
    with pytest.raises(LedgerError):
        mine.acting("local")
    assert set(ACTORS) == {*by, "room", "person"}


def test_every_way_into_the_ledger_is_decided() -> None:
    """One that is added to the ledger and not to the visitor's view of it fails here."""
    ways = {name for name in vars(Ledger) if not name.startswith("_")}
    assert ways - set(vars(VisitorsLedger)) - SHARED == {"close"} - set(vars(VisitorsLedger))
    named = {name.split()[0] for name in (*FORBIDDEN, *UNSEEN)}
    lists = {"budgets", "receipt", "receipts", "find", "similar", "statements", "close", "may_begin", "roles"}
    lists |= {"petitions", "to_decide", "latest_petition", "note_room", "chargeable", "comparable"}
    assert named | lists == {name for name in vars(VisitorsLedger) if not name.startswith("_")}
    assert inspect.getdoc(visitor)


# -- on the pages ------------------------------------------------------------------------------------------------------


def shown(lineage: str) -> None:
    from tests.dashboard.asking import page

    page(lineage, 0.5, 0.0, "")


def test_a_page_that_was_allowed_to_release_is_refused_when_it_sends(
    ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The states and the click of an honest page, sent by somebody who is not known: the callback is refused."""
    forget_all()
    with Ledger.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
    app = AppTest.from_function(shown, args=("people",), default_timeout=600).run()
    app.button(key="test-begin").click().run()
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    app.button(key="test-confirm").click().run()
    assert not app.exception
    assert NOT_HERE in [*(note.value for note in app.warning), *(note.value for note in app.info)]
    with Ledger.open() as ledger:
        assert ledger.budget("people").remaining.epsilon == 1.0
        assert not ledger.receipts()


def test_the_same_page_releases_for_its_owner(ledger_file: Path) -> None:
    """What shows that the test above can fail."""
    forget_all()
    with Ledger.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
    app = AppTest.from_function(shown, args=("people",), default_timeout=600).run()
    app.button(key="test-begin").click().run()
    app.button(key="test-confirm").click().run()
    with Ledger.open() as ledger:
        assert ledger.budget("people").remaining.epsilon == 0.5


def test_one_sentence_says_so_and_others_answers_are_not_shown(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open() as ledger:
        ledger.open_budget("people", epsilon=1.0, name="Patients of the north")
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    app = open_app("budget", whose="all")
    assert any(OPEN in caption.value for caption in app.sidebar.caption)
    assert "Patients of the north" not in text(app)
    assert "Nothing is spent that you may see." in text(app)
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    app.run()
    assert "1 group of people" in text(app)
