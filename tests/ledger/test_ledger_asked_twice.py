"""Two tabs of one person that ask for one answer come to one request, in whatever order they and an owner act."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpcore.accounting import Cost
from dpcore.errors import ApprovalNeeded, InvalidArgument
from dpcore.ledger import Ledger, approvals, charging, words
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from tests.ledger.conftest import Place

ISSUER = " at https://login.example"
COST = Cost.pure(0.5)
TOLD = {"mechanism": "m", "neighbours": "add_remove", "question": "q"}


class Tabs:
    """Anna's two tabs, which ask the same, each under an id of its own, and Olga, who owns the budget."""

    def __init__(self, whole: Ledger, lineage: str) -> None:
        olga, self.anna = (MembersLedger(whole, Person(subject=name + ISSUER), token=name * 8) for name in NAMES)
        olga.open_budget(lineage, epsilon=50.0)
        olga.share(lineage, "anna" + ISSUER, "ask")
        olga.set_limit(lineage, 0.2)
        self.whole, self.lineage, self.olga = whole, lineage, olga
        self.held = dict[int, str]()

    def ask(self, tab: int) -> None:
        asked = self.anna.ask(f"{self.lineage} {tab}", self.lineage, COST, "How many?", **TOLD)
        self.held[tab] = asked.request_id

    def charge(self, tab: int) -> None:
        self.anna.charge(self.held[tab], self.lineage, COST, "How many?", **TOLD)

    def draw(self, tab: int) -> None:
        self.charge(tab)
        self.anna.begin_draw(self.held[tab])
        self.anna.store_answer(self.held[tab], 7)

    def decide(self, act: Callable[[str], object]) -> None:
        for one in self.requests("waiting"):
            act(one)

    def requests(self, *states: str) -> list[str]:
        """The open ones by default, or those that stand so."""
        found = [one for one in self.olga.petitions() if one.lineage == self.lineage]
        return [one.request_id for one in found if one.state in (states or OPEN) and not one.charged]

    def charges(self) -> int:
        return self.whole.count(self.lineage)


NAMES, OPEN = ("olga", "anna"), ("waiting", "granted")
ACTS: dict[str, Callable[[Tabs], None]] = {
    "asks": lambda tabs: tabs.ask(0),
    "asks beside": lambda tabs: tabs.ask(1),
    "draws": lambda tabs: tabs.draw(0),
    "granted": lambda tabs: tabs.decide(tabs.olga.grant),
    "refused": lambda tabs: tabs.decide(lambda one: tabs.olga.refuse(one, "Not this.")),
    "withdrawn": lambda tabs: tabs.decide(tabs.anna.withdraw),
}
BETWEEN = [()] + [(one,) for one in ACTS] + [*itertools.permutations(("draws", "granted", "refused", "withdrawn"), 2)]
ORDERS = [("asks", *between, "asks beside") for between in BETWEEN]


@pytest.fixture
def whole(place: Place) -> Iterator[Ledger]:
    with place.open() as found:
        found.give_roles("olga" + ISSUER, ["owner"])
        found.give_roles("anna" + ISSUER, ["analyst"])
        yield found


def charged_twice(whole: Ledger) -> set[tuple[str, ...]]:
    """The orders in which two requests stand open for one question, or more than one answer is charged after the last
    was asked for, where an owner grants all and both tabs draw."""
    found = set()
    for number, order in enumerate(ORDERS):
        tabs = Tabs(whole, f"people {number}")
        for act in order:
            with contextlib.suppress(ApprovalNeeded):  # to draw what nobody granted
                ACTS[act](tabs)
        before, open_ = tabs.charges(), len(tabs.requests())
        tabs.decide(tabs.olga.grant)
        for tab in (0, 1):
            with contextlib.suppress(ApprovalNeeded):
                tabs.draw(tab)
        if open_ > 1 or tabs.charges() - before > 1:
            found.add(order)
    return found


@pytest.mark.thorough
def test_two_tabs_make_one_request(whole: Ledger) -> None:
    assert charged_twice(whole) == set()
    assert whole.verify()


@pytest.mark.thorough
def test_without_a_look_at_what_is_open_they_make_two(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail, and it fails where the first request is open still."""
    monkeypatch.setattr(approvals, "_standing", lambda *_: None)
    found = charged_twice(whole)
    assert {("asks", "asks beside"), ("asks", "granted", "asks beside")} <= found
    assert not {("asks", act, "asks beside") for act in ("refused", "withdrawn")} & found


def test_what_comes_back_is_the_request_that_is_open(whole: Ledger) -> None:
    """Its id draws the answer, the one that was not taken stands nowhere, and the record has one line more."""
    tabs = Tabs(whole, "people")
    for act in ("asks", "asks beside"):
        ACTS[act](tabs)
    assert tabs.held == {0: "people 0", 1: "people 0"}
    assert [record.request_id for record in whole.records() if record.kind == "ask"] == ["people 0"]
    ACTS["granted"](tabs)
    ACTS["asks beside"](tabs)
    assert tabs.held[1] == "people 0"
    ACTS["draws"](tabs)
    ACTS["asks beside"](tabs)
    assert tabs.held[1] == "people 1", "one answer more is another request"


def begun(tabs: Tabs) -> None:
    tabs.anna.begin_draw(tabs.held[0])


def failed(tabs: Tabs) -> None:
    begun(tabs)
    tabs.anna.draw_failed(tabs.held[0])


def spent(tabs: Tabs) -> None:
    tabs.whole.charge("all that is left", tabs.lineage, Cost.pure(tabs.whole.remaining(tabs.lineage).epsilon), "?")


CHARGED: dict[str, tuple[Callable[[Tabs], object], bool]] = {
    "before it began": (lambda tabs: None, True),
    "it failed": (failed, True),
    "it failed, and the budget is spent": (lambda tabs: (failed(tabs), spent(tabs)), True),
    "before it began, in another process": (lambda tabs: tabs.whole._store.failed.forget(tabs.held[0]), True),
    "after it began": (begun, False),
    "it is stored": (lambda tabs: tabs.draw(0), False),
}
"""What became of the draw of a request that was charged; and whether it can be drawn at no charge."""


def asked_once_more(whole: Ledger, became: str) -> tuple[bool, int]:
    """Whether a request whose draw came to this is given back to who asks again, and shown on the page; and how many
    answers are charged where all that waits is granted and drawn."""
    tabs = Tabs(whole, f"people {became}")
    tabs.ask(0)
    ACTS["granted"](tabs)
    tabs.charge(0)
    CHARGED[became][0](tabs)
    shown = tabs.anna.latest_petition(tabs.lineage, COST, "How many?", **TOLD)
    tabs.ask(1)
    back = tabs.held[1] == tabs.held[0]
    assert back is (shown is not None and shown.request_id == tabs.held[0])
    if not became.endswith("spent"):
        tabs.decide(tabs.olga.grant)
        tabs.draw(1)
    return back, len([one for one in whole.receipts() if one.lineage == tabs.lineage and one.question == "q"])


@pytest.mark.parametrize("became", CHARGED)
def test_what_was_charged_and_not_drawn_is_given_back(whole: Ledger, became: str) -> None:
    """Nobody waits for a second one, and pays for it, while one is paid that can be drawn."""
    back = CHARGED[became][1]
    assert asked_once_more(whole, became) == (back, 1 if back else 2)
    assert whole.verify()


def test_what_was_charged_would_be_paid_twice(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test above can fail."""
    monkeypatch.setattr(approvals, "_paid", lambda *_: None)
    assert asked_once_more(whole, "before it began") == (False, 2)


def test_what_comes_back_counts_towards_no_bound(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has asked as much as they can still gets to what they asked."""
    tabs = Tabs(whole, "people")
    tabs.ask(0)
    for name in ("MOST_WAITING", "MOST_A_DAY"):
        monkeypatch.setattr(approvals, name, 1)
    tabs.ask(1)
    assert tabs.held[1] == "people 0"


def test_what_outgrew_its_budget_is_asked_for_anew(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    tabs = Tabs(whole, "people")
    tabs.ask(0)
    monkeypatch.setattr(approvals.Petition, "covers", lambda self, budget: self.request_id != "people 0")
    tabs.ask(1)
    assert tabs.held[1] == "people 1"


OTHERS: dict[str, Callable[[Tabs, Ledger], Any]] = {
    "question": lambda tabs, _: tabs.anna.ask("other", "people", COST, "How many?", **TOLD | {"question": "r"}),
    "no question": lambda tabs, _: tabs.anna.ask("other", "people", COST, "How many?", **TOLD | {"question": ""}),
    "words": lambda tabs, _: tabs.anna.ask("other", "people", COST, "Which?", **TOLD),
    "cost": lambda tabs, _: tabs.anna.ask("other", "people", Cost.pure(0.6), "How many?", **TOLD),
    "unit": lambda tabs, _: tabs.anna.ask("other", "people", COST, "How many?", **TOLD, unit="visit"),
    "mechanism": lambda tabs, _: tabs.anna.ask("other", "people", COST, "How many?", **TOLD | {"mechanism": "n"}),
    "person": lambda tabs, _: tabs.olga.ask("other", "people", COST, "How many?", **TOLD),
    "budget": lambda tabs, whole: other_budget(tabs, whole),
}
"""All that makes a request another one."""


def other_budget(tabs: Tabs, whole: Ledger) -> Any:
    Tabs(whole, "others")
    return tabs.anna.ask("other", "others", COST, "How many?", **TOLD)


@pytest.mark.parametrize("other", OTHERS)
def test_another_request_is_made(whole: Ledger, other: str) -> None:
    tabs = Tabs(whole, "people")
    tabs.ask(0)
    made = OTHERS[other](tabs, whole)
    assert (made.request_id, made.state) == ("other", "waiting")
    assert whole.verify()


SEEN = "stated or called right by a person who had seen the file or an earlier one: not covered by ε."


def read(*said: str) -> str:
    """A question of two columns, and of which of them was said after looking what its cells can hold."""
    more = {name: " and what they can hold" if name in said else "" for name in "ab"}
    return " ".join(["How many?", *(f"How the cells of “{name}” are read{more[name]} were {SEEN}" for name in more)])


OLDER = TOLD | {"question": "older"}
HAD = TOLD | {"before": ["oldest", "older"]}
THEN_AND_NOW: dict[str, tuple[tuple[str, float, dict[str, Any]], tuple[str, float, dict[str, Any]]]] = {
    "the same": (("How many?", 0.5, TOLD), ("How many?", 0.5, TOLD)),
    "numbers": (("How many of 3?", 0.5, TOLD), ("How many of 3.0?", 0.5, TOLD)),
    "more words": ((read(), 0.5, TOLD), (read("a"), 0.5, TOLD)),
    "fewer words": ((read("a", "b"), 0.5, TOLD), (read("b"), 0.5, TOLD)),
    "older": (("Which, of b and a?", 0.5, OLDER), ("Which, of a and b?", 0.5, HAD)),
    "more words and fewer": ((read("a"), 0.5, TOLD), (read("b"), 0.5, TOLD)),
    "question": (("How many?", 0.5, TOLD), ("Which?", 0.5, TOLD)),
    "cost": (("How many?", 0.5, TOLD), ("How many?", 0.6, TOLD)),
    "unit": (("How many?", 0.5, TOLD), ("How many?", 0.5, TOLD | {"unit": "visit"})),
    "mechanism": (("How many?", 0.5, TOLD), ("How many?", 0.5, TOLD | {"mechanism": "n"})),
    "neighbours": (("How many?", 0.5, TOLD), ("How many?", 0.5, TOLD | {"neighbours": "replace_one"})),
    "older, cost": (("Which, of b and a?", 0.5, OLDER), ("Which, of a and b?", 0.6, HAD)),
    "counts more": (("How many?", 0.5, TOLD), ("How many?", 0.5, TOLD)),
}
"""How the first request was asked, and how its question is asked now: in words, at which ε, as what."""
GIVEN_BACK = {"the same", "numbers", "more words", "fewer words", "older"}


def asked_again(whole: Ledger, way: str, *, granted: bool) -> tuple[bool, str]:
    """Whether a page leads to the request for an answer that was asked for before, as it is asked now; and what becomes
    of the answer where it is asked for so, and all is granted."""
    tabs = Tabs(whole, f"{way} {granted}")
    anna, lineage = tabs.anna, tabs.lineage
    (was, cost, asked), (what, now, told) = THEN_AND_NOW[way]
    first = anna.ask(f"{lineage} 0", lineage, Cost.pure(cost), was, **asked)
    if granted:
        tabs.decide(tabs.olga.grant)
    if way == "counts more":
        whole.charge(lineage, lineage, Cost.pure(0.1), "?", neighbours="replace_one")
    shown = anna.latest_petition(lineage, Cost.pure(now), what, **told)
    assert shown.request_id == first.request_id
    made = anna.ask(f"{lineage} 1", lineage, Cost.pure(now), what, **told)
    if made.state == "waiting":
        tabs.olga.grant(made.request_id)
    assert anna.latest_petition(lineage, Cost.pure(now), what, **told).request_id == made.request_id
    drawn = []
    for request_id in (made.request_id, first.request_id):
        with contextlib.suppress(ApprovalNeeded, InvalidArgument):
            drawn.append(anna.charge(request_id, lineage, Cost.pure(now), what, **told).request_id)
    if len(set(drawn)) != 1:
        return not shown.unfit, "charged twice" if drawn else "never drawn"
    return not shown.unfit, "given back" if drawn[0] == first.request_id else "asked anew"


@pytest.mark.parametrize("granted", [False, True])
@pytest.mark.parametrize("way", THEN_AND_NOW)
def test_whoever_asks_anew_comes_to_one_answer(whole: Ledger, way: str, *, granted: bool) -> None:
    """What can be drawn as it is asked now is given back, what cannot stands in nobody's way, and pages tell which."""
    leads = way in GIVEN_BACK
    assert asked_again(whole, way, granted=granted) == (leads, "given back" if leads else "asked anew")
    assert whole.verify()


def test_a_request_in_the_way_is_found_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: what was refused for its words was given back whenever it was asked for anew."""
    monkeypatch.setattr(approvals, "fuller", lambda granted, asked: asked)
    monkeypatch.setattr(charging, "fuller", lambda granted, asked: words.fuller(granted, asked) or needed())
    assert asked_again(whole, "more words and fewer", granted=True) == (True, "never drawn")
    assert asked_again(whole, "more words", granted=True) == (True, "given back")


def needed() -> str:
    raise ApprovalNeeded("Ask anew.")


def test_a_request_by_the_newest_digest_alone_is_found_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: one that was open by an older digest was asked for, granted and charged twice."""
    standing = approvals._standing
    monkeypatch.setattr(approvals, "_standing", lambda at, budget, body, before: standing(at, budget, body, ()))
    assert asked_again(whole, "older", granted=True) == (True, "charged twice")
    assert asked_again(whole, "the same", granted=True) == (True, "given back")


def test_each_session_is_led_to_what_was_granted_in_its_words(whole: Ledger) -> None:
    """Also where one of another session was granted later, or waits."""
    tabs = Tabs(whole, "people")
    asked = {name: {"lineage": "people", "cost": COST, "what": read(name), **TOLD} for name in "ab"}
    for name, told in asked.items():
        assert tabs.anna.ask(name, **told).request_id == name
        tabs.olga.grant(name)
    for name, told in asked.items():
        assert tabs.anna.latest_petition(**told).request_id == name
        assert tabs.anna.ask("again", **told).request_id == name
        assert tabs.anna.charge(name, **told).what == read(name)
        tabs.anna.store_answer(name, 7)
