"""A right that is taken away while somebody's change waits its turn does not count when the change is written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection

from dpcore.costs import Cost
from dpcore.errors import DpcoreError, NotAllowed, UnknownLineage
from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Brought
from dpcore.ledger.records import Kind
from dpcore.ledger.roles import PEOPLE, Person
from dpcore.ledger.store import Right, Store
from dpcore.sketches import Sketch
from tests.ledger.patients import ISSUER, person
from tests.ledger.test_ledger_compared import marks
from tests.ledger.test_ledger_daily import AGAIN, ONCE, owner

CHANGES = AGAIN | ONCE
"""Every method that writes (``test_of_every_method_that_writes_it_is_known_how_often``)."""
ANYBODYS = {"open_practice", "reset_practice", "resize_practice", "undo_reset"}
BEGUN = {"withdraw", "begin_draw", "store_answer"}
"""What somebody began while they might: an answer that was charged is drawn, a request can be taken back."""
OF_THE_ROLE = {"open_budget", "say_others", "similar"}
"""What takes a role and nothing that others share."""
TAKEN: dict[str, tuple[Kind, Callable[[str], str], Callable[[str], dict[str, Any]], set[str]]] = {
    "role": ("role", lambda who: PEOPLE + who, lambda who: {"roles": []}, ANYBODYS | BEGUN),
    "share": (
        "share",
        lambda who: "people",
        lambda who: {"subject": who, "level": "none"},
        ANYBODYS | BEGUN | OF_THE_ROLE,
    ),
}
"""What may be taken away: the kind of record, about whom, what it says; and what goes on without it."""
Writing = Callable[..., AbstractContextManager[Connection]]
WRITING: Writing = Store.writing


@pytest.fixture
def whole(ledger: Ledger) -> Iterator[Ledger]:
    """As of ``test_ledger_daily``: a budget of which Anna has a file, and asks."""
    ledger.give_roles("anna" + ISSUER, ["analyst"])
    ledger.open_budget("people", epsilon=2.0)
    ledger.share("people", "anna" + ISSUER, "ask")
    ledger.set_limit("people", 0.5)
    anna = person(ledger, "anna")
    anna.link("hers", "people", Sketch(combinations=(marks(64),)))
    for name in ("asked", "asked more"):
        anna.ask(name, "people", Cost.pure(0.9), "?")
    yield ledger
    ledger.verify()


def got_through(whole: Ledger, monkeypatch: pytest.MonkeyPatch, taken: str) -> set[str]:
    """The changes that are written although the right was taken away after it was asked and before they were."""
    kind, about, says, _ = TAKEN[taken]
    found: set[str] = set()
    for number, (name, act) in enumerate(CHANGES.items()):
        mine = owner(whole, f"{name}-er")
        if name == "undo_reset":
            whole.reset_practice(Ledger.practice_lineage(mine._token, "clinic"))
        waiting = [mine._subject]

        def writing(store: Store, *given: Any, waiting: list[str] = waiting, **more: Any) -> Any:
            while waiting:
                who = waiting.pop()
                with WRITING(store) as connection:
                    store.append(connection, kind, lineage=about(who), body=says(who))
            return WRITING(store, *given, **more)

        with monkeypatch.context() as then:
            then.setattr(Store, "writing", writing)
            try:
                act(mine, number)
            except (NotAllowed, UnknownLineage):
                pass
            except DpcoreError as error:
                pytest.fail(f"{name}: {error}")
        assert not waiting, f"{name} was tried in earnest"
        if whole.records()[-1].kind != kind:
            found.add(name)
    return found


@pytest.mark.parametrize("taken", TAKEN)
def test_what_was_taken_away_in_between_does_not_count(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    assert got_through(whole, monkeypatch, taken) == TAKEN[taken][3]


@pytest.mark.thorough
def test_a_right_that_is_asked_once_is_found_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was when a role was read before the transaction that writes."""

    @contextmanager
    def once(store: Store, right: Right) -> Iterator[None]:
        with store.reading() as connection:
            right(connection)
        yield

    monkeypatch.setattr(Store, "only_by", once)
    assert got_through(whole, monkeypatch, "role") == set(CHANGES)


def test_who_waits_in_the_queue_is_asked_again(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread holds the ledger, takes the role away, and lets go."""
    owner(whole, "otto")
    waits, told = threading.Event(), list[str]()

    def writing(store: Store, *given: Any, **more: Any) -> Any:
        if threading.current_thread() is thread:
            waits.set()
        return WRITING(store, *given, **more)

    def grant() -> None:
        try:
            told.append(person(whole, "otto").grant("asked").state)
        except NotAllowed as error:
            told.append(str(error))

    thread = threading.Thread(target=grant)
    monkeypatch.setattr(Store, "writing", writing)
    with whole._store.writing() as connection:
        thread.start()
        assert waits.wait(30)
        whole._store.append(connection, "role", lineage=PEOPLE + "otto" + ISSUER, body={"roles": []})
    thread.join(30)
    assert told == ["Only an owner of this budget may do that; nothing was changed."]
    assert [one.kind for one in whole.records()][-1] == "role"


def test_roles_that_the_login_says_count_as_long_as_the_login(whole: Ledger) -> None:
    whole.share("people", "cora" + ISSUER, "own")
    cora = MembersLedger(whole, Person(subject="cora" + ISSUER, claimed=frozenset({"owner"})), token="c" * 20)
    whole.give_roles("cora" + ISSUER, [])
    assert cora.grant("asked").state == "granted"


def test_no_budget_of_people_has_a_name_that_would_be_somebody_s_own(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By such a name they kept on seeing it, whoever shared it no longer."""
    whole.give_roles("olga" + ISSUER, ["owner"])
    mine = person(whole, "olga")
    for name in (Ledger.practice_lineage(mine._token, "clinic"), Ledger.room_lineage(mine._token)):
        with pytest.raises(NotAllowed):
            mine.open_budget(name, epsilon=1.0)
    real = Ledger.practice_lineage(mine._token, "elsewhere")
    with monkeypatch.context() as then:
        then.setattr(Ledger, "_must_be_free", lambda *_, **__: None)
        whole.open_budget(real, epsilon=1.0)  # by whoever looked after the ledger, in a version from before
    assert real not in [one.lineage for one in mine.budgets()]


@pytest.mark.parametrize(("about", "than", "allowed"), [("people", "new", False), ("new", "people", True)])
def test_who_says_that_people_are_others_may_ask_about_both(
    whole: Ledger, about: str, than: str, allowed: bool
) -> None:
    """It stands in the records of the first for good."""
    whole.open_budget("others", epsilon=1.0)
    anna = person(whole, "anna")
    file = Brought(fingerprint="file", because="They were asked in another town.")
    if allowed:
        anna.say_others(file, about, than=than)
        with pytest.raises(UnknownLineage):
            anna.say_others(file, "others", than="people")
    else:
        with pytest.raises(UnknownLineage):
            anna.say_others(file, about, than=than)
    assert [one.lineage for one in whole.statements()] == ([about] if allowed else [])


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "", 5, None], ids=ascii)
def test_what_is_no_name_is_nobody_s_budget(whole: Ledger, name: Any) -> None:
    for ledger in (whole, person(whole, "anna")):
        with pytest.raises(UnknownLineage):
            ledger.budget(name)
    whole.open_budget("Anna\u00a0B\u00ad", epsilon=1.0)
    assert whole.budget("Anna\u00a0B\u00ad").cap.epsilon == 1.0, "what a name may hold it may"
