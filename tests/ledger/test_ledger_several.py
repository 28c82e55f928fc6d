"""Several without a name, whom a login before the server lets in: what is one's own goes by one's browser, never by
what is everybody's, and how much may be compared by where one comes from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import pandas as pd
import pytest
from sqlalchemy import Connection

from dpcore.datasets import Reading
from dpcore.errors import InvalidArgument, KnownPeople, NotAllowed
from dpcore.ledger import Ledger, compared, people
from dpcore.ledger.key import Key
from dpcore.ledger.people import Bringer, Brought
from dpcore.ledger.roles import PEOPLE
from dpcore.ledger.several import SeveralLedger
from dpcore.sketches import Sketch
from tests.ledger.patients import GUESSES, ISSUER, guessed, patients, person, reading
from tests.ledger.test_ledger_compared import TRUTH, marks
from tests.ledger.test_ledger_joining import WHY, brought

SOURCE = f"{people.CONFIGURED}clinic"
RIGHT = reading(patients())
GUESSED = {value: reading(guessed(patients(), value)) for value in GUESSES}
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def whole(ledger: Ledger) -> Ledger:
    """With a source's people, and one file of somebody's that is linked with them."""
    ledger.open_budget(SOURCE, epsilon=2.0, name="Clinic")
    browser(ledger, "somebody").join(brought(ledger, reading(patients(seed=7))), SOURCE)
    return ledger


def browser(whole: Ledger, name: str, network: str = HERE) -> Ledger:
    return SeveralLedger(whole, f"the secret of {name}" if name else "", network=network)


def arrives(ledger: Ledger, file: Reading) -> bool:
    """Whether it is compared, as with every file that a page is brought."""
    one = brought(ledger, file)
    try:
        ledger.similar(one.fingerprint, one.sketch, among=ledger.comparable())
    except NotAllowed:
        return False
    return True


def joins(ledger: Ledger, file: Reading) -> bool:
    try:
        ledger.join(brought(ledger, file), SOURCE)
    except NotAllowed:
        return False
    return True


def known_to_anybody(
    key: Key, connection: Connection, fingerprint: str, who: Bringer, among: Collection[str] | None = None
) -> list[people.KnownFile]:
    """As if whoever linked it told everybody."""
    whose = people._linked_with(connection, key, fingerprint, who) | {SOURCE} if among is None else among
    return people._known(connection, key, fingerprint, who, whose)


@pytest.mark.parametrize("asks", ["another", ""])
@pytest.mark.parametrize("knows", ["one's own", "everybody's"])
@pytest.mark.parametrize("linked_by", ["victim", ""])
def test_whether_somebody_linked_this_very_file_is_told_to_nobody_else(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch, asks: str, knows: str, linked_by: str
) -> None:
    """Beyond the day's files, where who linked it goes on, no guess of it is joined, and none is on the record."""
    theirs = people._theirs
    if knows != "one's own":
        monkeypatch.setattr(people, "_theirs", known_to_anybody)
    # without a secret as earlier versions wrote it
    (browser(whole, linked_by) if linked_by else whole).join(brought(whole, RIGHT), SOURCE)
    guesses = browser(whole, asks)
    monkeypatch.setattr(compared, "MOST_FILES", 0)
    before = whole.records()
    told = {value for value, file in GUESSED.items() if joins(guesses, file)}
    assert whole.records() == before
    if knows != "one's own":
        assert told == ({TRUTH} if not linked_by else set()), "as it was; nor is another's own mark ever found"
        monkeypatch.setattr(people, "_theirs", theirs)
        return
    assert told == set()
    if linked_by:
        assert joins(browser(whole, linked_by, THERE), RIGHT), "who linked it goes on, wherever they are"
        assert whole.records() == before


def test_a_source_s_file_stays_with_its_people_in_the_browser_that_linked_it(whole: Ledger) -> None:
    """However few rows it has; nothing is compared as with others' files."""
    victim, file = browser(whole, "victim"), brought(whole, reading(patients(12)))
    victim.join(file, SOURCE)
    before = whole.records()
    with pytest.raises(KnownPeople) as refused:
        victim.open_budget("second", epsilon=1.0, file=replace(file, because=WHY))
    assert refused.value.same
    assert whole.records() == before
    for somebody in ("another", ""):
        assert not browser(whole, somebody).similar(file.fingerprint, among=[SOURCE]), "told to no other"


@pytest.mark.parametrize("asks", ["another", ""])
def test_a_guess_of_a_source_s_file_is_linked_as_any_other(whole: Ledger, asks: str) -> None:
    browser(whole, "victim").link(RIGHT.fingerprint, SOURCE)
    guesses = browser(whole, asks)
    for file in GUESSED.values():
        before = len(whole.records())
        for _ in range(2):
            guesses.link(file.fingerprint, SOURCE)
        new = [(one.kind, sorted(one.content)) for one in whole.records()[before:]]
        assert new == [("link", ["brought", "fingerprint", "sketch"])] * (1 if asks else 2)
    whole.open_budget("second", epsilon=1.0)
    if asks:
        with pytest.raises(InvalidArgument, match="belongs to other people"):
            guesses.link(RIGHT.fingerprint, "second")
    browser(whole, "a third").link(RIGHT.fingerprint, "second")
    whole.verify()


@pytest.mark.parametrize("linked_by", ["victim", "", "whoever is here alone"])
def test_no_mark_of_a_link_tells_a_guess_of_a_source_s_file(
    whole: Ledger, linked_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the very file, linked by others with people of their own, a reader of the records sees no mark again."""

    def marks() -> list[str]:
        links = [one.content for one in whole.records() if one.kind == "link"]
        return [str(one[name]) for one in links for name in ("brought", "fingerprint")]

    alone = linked_by == "whoever is here alone"
    (whole if alone else browser(whole, linked_by)).link(RIGHT.fingerprint, SOURCE)
    whole.open_budget("of another", epsilon=1.0)
    browser(whole, "another").link(RIGHT.fingerprint, "of another")
    assert len(set(marks())) == len(marks())
    if alone:
        monkeypatch.setattr(people, "_as_brought", lambda key, fingerprint, private: key.mark("brought", fingerprint))
        whole.open_budget("more", epsilon=1.0)
        for who, lineage in ((whole, SOURCE), (browser(whole, "a third"), "more")):
            who.link(GUESSED["none"].fingerprint, lineage)
        assert len(set(marks())) < len(marks()), "or this test cannot fail"


def test_what_a_person_linked_with_a_source_is_not_told_to_whoever_is_here_alone(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole.give_roles("olga" + ISSUER, ["owner"])
    whole.share(SOURCE, "olga" + ISSUER, "own")
    person(whole, "olga").join(brought(whole, RIGHT), SOURCE)
    monkeypatch.setattr(compared, "MOST_FILES", 0)
    assert not any(joins(whole, file) for file in GUESSED.values())
    for file in (RIGHT, GUESSED["none"], RIGHT):
        whole.link(file.fingerprint, SOURCE)
    assert joins(whole, RIGHT), "what they linked themselves is theirs"
    whole.verify()


@pytest.mark.parametrize("own", ["of one browser", "everybody's"])
def test_what_another_said_of_a_file_answers_no_guess_of_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, own: str
) -> None:
    """Each guess is asked, as a file of which nobody said anything; who said it is not asked again."""
    if own != "of one browser":
        monkeypatch.setattr(Bringer, "own", "")
    ledger.open_budget(SOURCE, epsilon=2.0, name="Clinic")
    ledger.open_budget("people", epsilon=1.0, name="Patients")
    victim, another = browser(ledger, "victim"), browser(ledger, "another")
    victim.join(brought(ledger, reading(patients().iloc[:60])), "people")
    with pytest.raises(KnownPeople):
        victim.join(brought(ledger, RIGHT), SOURCE)
    victim.say_others(brought(ledger, RIGHT, WHY), SOURCE, than="people")
    asked = set()
    for value, file in GUESSED.items():
        try:
            another.join(brought(ledger, file), SOURCE)
        except KnownPeople:
            asked.add(value)
    if own != "of one browser":
        assert asked == set(GUESSES) - {TRUTH}, "as it was"
        return
    assert asked == set(GUESSES)
    victim.join(brought(ledger, RIGHT), SOURCE)
    with pytest.raises(KnownPeople):
        browser(ledger, "").join(brought(ledger, RIGHT), SOURCE)
    assert not any("by" in one.content for one in ledger.records() if one.kind in ("others", "link"))


@pytest.mark.parametrize("own", ["of one browser", "everybody's"])
@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("asks", ["another", ""])
def test_whether_somebody_brought_this_very_file_is_not_told(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch, own: str, left: int, asks: str
) -> None:
    """One file that was only explored, in the same network: neither beyond the day's files nor by how many it takes."""
    if own != "of one browser":
        monkeypatch.setattr(Bringer, "own", "everybody's")
    victim = browser(whole, "victim")
    assert arrives(victim, RIGHT)
    told = set()
    for place, (value, file) in enumerate(GUESSED.items()):
        taken = sum(one.kind == "compare" for one in whole.records())
        monkeypatch.setattr(compared, "MOST_FILES", taken + left)
        known = arrives(browser(whole, asks), file)
        if known if not left else arrives(browser(whole, asks), reading(patients(seed=50 + place))):
            told.add(value)
    if own != "of one browser":
        assert told == {TRUTH}, "as it was"
        return
    assert told == set()
    before = whole.records()
    assert arrives(victim, RIGHT), "one's own is no new question"
    assert whole.records() == before


def test_nobody_uses_up_what_who_comes_from_elsewhere_may_compare(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor has anybody more by another browser; whose network it is stands in no record."""
    monkeypatch.setattr(compared, "MOST_FILES", 2)
    files = [reading(patients(seed=seed)) for seed in range(20, 24)]
    came = [arrives(browser(whole, f"browser {place}"), file) for place, file in enumerate(files)]
    assert came == [True, True, False, False]
    one = brought(whole, files[3])
    with pytest.raises(NotAllowed, match="files from your network, as this server sees it, were compared"):
        browser(whole, "honest").open_budget("honest", epsilon=1.0, file=one)
    honest = browser(whole, "honest", THERE)
    assert arrives(honest, files[3])
    assert arrives(browser(whole, "unknown", ""), files[3])
    honest.open_budget("honest", epsilon=1.0, file=one)
    compares = [one for one in whole.records() if one.kind == "compare"]
    assert len({one.lineage for one in compares}) == 3
    assert {one.lineage for one in compares} >= {f"{PEOPLE}trusted"}
    assert not any(place in one.body or place in one.lineage for place in (HERE, THERE) for one in whole.records())
    monkeypatch.setattr(compared, "DAY", timedelta(seconds=-1))  # tomorrow
    assert arrives(browser(whole, "browser 3"), files[3])
    whole.verify()


def test_another_browser_is_answered_by_the_same_coins(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an edge could be found by asking about one file in many browsers."""
    browser(whole, "victim").link("known", SOURCE, Sketch(combinations=(marks(64),)))
    drawn: set[str] = set()
    own = compared._seems_like
    monkeypatch.setattr(compared, "_seems_like", lambda key, coins, *rest: drawn.add(coins) or own(key, coins, *rest))
    edge = Brought(fingerprint="edge", sketch=Sketch(combinations=(marks(40, 24),)))
    for name in ("one", "two", "three", ""):
        browser(whole, name).similar(edge.fingerprint, edge.sketch, among=[SOURCE])
    assert len(drawn) == 1


def test_no_secret_passes_for_a_person_or_for_who_is_here_alone(whole: Ledger) -> None:
    subject = "olga" + ISSUER
    own = {Bringer(several=True, token=subject).own, Bringer(subject=subject).own, Bringer().own}
    assert len(own) == 3
    assert Bringer(several=True).own != Bringer(several=True).own, "without one nothing is anybody's"
    with pytest.raises(InvalidArgument):
        SeveralLedger(whole, "x" * 8)


def test_a_statement_of_a_new_budget_goes_on_in_the_same_browser(ledger: Ledger) -> None:
    """As a page does it: said of the file as it arrives, and opened for it later."""
    first, mine = browser(ledger, "victim"), browser(ledger, "mine")
    first.open_budget("first", epsilon=1.0, file=brought(ledger, RIGHT))
    both = reading(pd.concat([patients(), patients(seed=2)]))
    mine.say_others(replace(brought(ledger, both), because=WHY), "second", than="first")
    mine.open_budget("second", epsilon=1.0, file=brought(ledger, both))
    ledger.verify()
