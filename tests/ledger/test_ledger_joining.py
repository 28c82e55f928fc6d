"""A file becomes some people's only after it was compared with everybody known at that moment, two writers included."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpcore.datasets import Reading, sketch
from dpcore.errors import InvalidArgument, KnownPeople, NotAllowed, UnknownLineage
from dpcore.ledger import Ledger, compared, history, people
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.outcomes import Outcomes
from dpcore.ledger.people import Brought
from dpcore.ledger.roles import PEOPLE
from dpcore.ledger.several import SeveralLedger
from dpcore.sketches import Index, Sketch
from tests.ledger.conftest import Place
from tests.ledger.patients import GUESSES, ISSUER, guessed, patients, person, reading
from tests.ledger.test_ledger_compared import COLUMNS, marks

WHY = "They came a year later."
TABLE, OTHERS = reading(patients()), reading(patients(seed=2))
CHANGED, THIRD = (reading(guessed(patients(), value)) for value in ("cold", "gout"))


def brought(ledger: Ledger, file: Reading, because: str = "") -> Brought:
    return Brought(fingerprint=file.fingerprint, sketch=sketch(file, ledger.sketch_key), because=because)


def opened(ledger: Ledger, lineage: str, file: Brought) -> list[str]:
    """Those whom the file may be instead; an empty list where the budget was opened."""
    try:
        ledger.open_budget(lineage, epsilon=1.0, file=file)
    except KnownPeople as refused:
        return [one.lineage for one in refused.found]
    return []


def joined(ledger: Ledger, lineage: str, file: Brought) -> list[str]:
    try:
        ledger.join(file, lineage)
    except KnownPeople as refused:
        return [one.lineage for one in refused.found]
    return []


# -- two at once -------------------------------------------------------------------------------------------------------

Act = Callable[[Ledger, str, Brought], list[str]]


def at_once(place: Place, files: list[Reading], acts: list[Act], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What each of two programs was told that had both compared their files before either wrote anything."""
    meet, compare, waited = threading.Barrier(2), Ledger.similar, threading.local()

    def slow(self: Ledger, *args: Any, **more: Any) -> Any:
        found = compare(self, *args, **more)
        if not getattr(waited, "done", False):
            waited.done = True
            meet.wait(60)
        return found

    monkeypatch.setattr(Ledger, "similar", slow)
    with place.open() as one, place.open() as other, ThreadPoolExecutor(2) as pool:
        for lineage in ("list 0", "list 1"):
            one.open_budget(lineage, epsilon=1.0)
        at = [
            pool.submit(act, ledger, f"{'list' if act is joined else 'new'} {number}", brought(ledger, file))
            for number, (act, ledger, file) in enumerate(zip(acts, (one, other), files, strict=True))
        ]
        told = [one.result(120) for one in at]
        one.verify()
    return told


@pytest.mark.parametrize("acts", [[opened, opened], [opened, joined], [joined, joined]], ids=["open", "mixed", "join"])
def test_of_two_at_once_the_second_is_compared_with_the_first(
    place: Place, acts: list[Act], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = at_once(place, [TABLE, CHANGED], acts, monkeypatch)
    assert sorted(map(len, told)) == [0, 1], told
    with place.open() as ledger:
        assert sum(one.kind == "link" for one in ledger.records()) == 1
        new = [one for one in ledger.budgets() if one.lineage.startswith("new")]
        assert len(new) <= 1, "nothing is opened for who is asked first"


def test_two_of_other_people_both_pass(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert at_once(place, [TABLE, OTHERS], [opened, opened], monkeypatch) == [[], []]


def test_without_looking_again_both_would_pass(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "number_of_last_link", lambda connection: 0)
    assert at_once(sqlite_place, [TABLE, CHANGED], [opened, opened], monkeypatch) == [[], []]


@pytest.mark.parametrize("looks_again", [True, False])
def test_of_two_who_see_nothing_of_each_other_the_second_is_compared_with_the_first(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, looks_again: bool
) -> None:
    """Budgets of two owners, opened without a file, into which two analysts bring the same people at one moment: the
    first has the second on its record, which without another look it has not."""
    meet, compare, waited = threading.Barrier(2), MembersLedger._compare_unseen, threading.local()

    def slow(self: MembersLedger, file: Brought, lineage: str) -> None:
        compare(self, file, lineage)
        if not getattr(waited, "done", False):
            waited.done = True
            meet.wait(60)

    monkeypatch.setattr(MembersLedger, "_compare_unseen", slow)
    if not looks_again:
        monkeypatch.setattr(history, "number_of_last_link", lambda connection: 0)
    both = (("olga", "anna", "first"), ("otto", "arno", "second"))
    with place.open() as one, place.open() as other, ThreadPoolExecutor(2) as pool:
        for owner, analyst, lineage in both:
            one.give_roles(owner + ISSUER, ["owner"])
            one.give_roles(analyst + ISSUER, ["analyst"])
            person(one, owner).open_budget(lineage, epsilon=1.0)
            person(one, owner).share(lineage, analyst + ISSUER, "ask")
        at = [
            pool.submit(joined, person(ledger, analyst), lineage, brought(ledger, TABLE))
            for ledger, (_, analyst, lineage) in zip((one, other), both, strict=True)
        ]
        assert [told.result(120) for told in at] == [[], []], "nothing is told"
        found = [(record.kind, record.lineage) for record in one.records()]
        linked = [lineage for kind, lineage in found if kind == "link"]
        assert sorted(linked) == ["first", "second"]
        alike = [lineage for kind, lineage in found if kind == "alike"]
        assert alike == (linked[:1] if looks_again else [])
        one.verify()


# -- one after the other -----------------------------------------------------------------------------------------------


def test_nobody_opens_a_second_budget_unseen(ledger: Ledger) -> None:
    """The very same file is nobody else's, whatever is said; one with a changed row takes a sentence."""
    first, same, changed = (brought(ledger, table) for table in (TABLE, TABLE, CHANGED))
    assert opened(ledger, "first", first) == []
    before = ledger.records()
    for file, very in ((same, True), (changed, False)):
        with pytest.raises(KnownPeople) as refused:
            ledger.open_budget("second", epsilon=1.0, file=file)
        assert [one.lineage for one in refused.value.found] == ["first"]
        assert refused.value.same == very
    assert ledger.records() == before
    ledger.say_others(replace(same, because=WHY), "second", than="first")
    ledger.say_others(replace(changed, because=WHY), "second", than="first")
    assert opened(ledger, "second", same) == ["first"], "a file stays with its people, whatever is said"
    assert opened(ledger, "second", changed) == []
    assert opened(ledger, "second", changed) == [], "the same once more changes nothing"
    assert [one.kind for one in ledger.records()][-4:] == ["others", "others", "open", "link"]
    assert [one.lineage for one in ledger.similar("x", changed.sketch, among=["first", "second"])] == [
        "first",
        "second",
    ]
    ledger.verify()


def test_who_says_whose_a_file_is_was_asked_of_all_who_are_known_by_then(ledger: Ledger) -> None:
    ledger.open_budget("list", epsilon=1.0)
    assert opened(ledger, "first", brought(ledger, TABLE)) == []
    before = ledger.records()
    assert joined(ledger, "list", brought(ledger, CHANGED)) == ["first"]
    assert ledger.records() == before
    assert joined(ledger, "list", brought(ledger, CHANGED, WHY)) == [], "asked of both, they chose one and said why"
    assert joined(ledger, "first", brought(ledger, THIRD)) == ["first", "list"], "both are offered again"
    assert joined(ledger, "first", brought(ledger, THIRD, WHY)) == []
    assert [(one.lineage, one.than, one.because) for one in ledger.statements()] == [
        ("list", "first", WHY),
        ("first", "list", WHY),
    ]
    ledger.verify()


def test_people_of_two_budgets_are_not_charged_to_one_without_a_sentence(ledger: Ledger) -> None:
    """To choose one of two whom a table looks like says nothing of the other, whose budget may be spent."""
    north, south = patients(), patients(seed=2)
    assert opened(ledger, "north", brought(ledger, reading(north))) == []
    assert opened(ledger, "south", brought(ledger, reading(south))) == []
    both = reading(pd.concat([north, south]))
    before = ledger.records()
    for lineage in ("north", "south"):
        assert joined(ledger, lineage, brought(ledger, both)) == ["north", "south"]
        with pytest.raises(InvalidArgument, match="must be a sentence"):
            joined(ledger, lineage, brought(ledger, both, "because"))
    assert ledger.records() == before, "nothing is linked or said"
    assert joined(ledger, "south", brought(ledger, both, WHY)) == []
    assert [one.kind for one in ledger.records()][len(before) :] == ["others", "link"]
    ledger.verify()


def north_and_south(ledger: Ledger, said: Reading) -> None:
    """Two budgets; of one file of South's, which looks like North, it was said that nobody of North is in it."""
    assert opened(ledger, "north", brought(ledger, reading(patients()))) == []
    assert opened(ledger, "south", brought(ledger, said)) == ["north"]
    ledger.say_others(brought(ledger, said, WHY), "south", than="north")
    assert opened(ledger, "south", brought(ledger, said)) == [], "it counts for this file"


MIXED = reading(pd.concat([patients(seed=2), patients().iloc[:60]]))


@pytest.mark.parametrize("keeps", ["the file", "its people alone", "nothing of the file, as before"])
def test_what_was_said_of_one_file_says_nothing_of_another(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, keeps: str
) -> None:
    """All of North comes in other files, alone or beside South: each takes a sentence, however it looks."""
    if keeps == "its people alone":
        monkeypatch.setattr(people, "_said_of", lambda key, file, lineage, by: lineage)
    elif keeps != "the file":
        monkeypatch.setattr(
            people,
            "said_others",
            lambda store, connection, file, lineage, by: {one.than for one in people.statements(connection, lineage)},
        )
    north_and_south(ledger, MIXED)
    before = ledger.records()
    alone, both = CHANGED, reading(pd.concat([patients(seed=2), patients()]))
    told = [joined(ledger, "south", brought(ledger, file)) for file in (alone, both)]
    if keeps != "the file":
        assert told == [[], []], "charged to South without a word"
        return
    assert all("north" in one for one in told)
    assert ledger.records() == before, "nothing is linked or said"
    assert joined(ledger, "south", brought(ledger, MIXED)) == [], "the file of which it was said goes on"
    assert joined(ledger, "south", brought(ledger, both, "They are both in it by mistake.")) == []
    assert [one.kind for one in ledger.records()][len(before) :] == ["others", "link"]
    assert joined(ledger, "south", brought(ledger, both)) == [], "said once of this file, by a choice or beforehand"
    assert joined(ledger, "south", brought(ledger, alone)) != []
    marks = [one.content["file"] for one in ledger.records() if one.kind == "others"]
    assert len(set(marks)) == 2
    assert not any(mark in (MIXED.fingerprint, both.fingerprint) for mark in marks)
    ledger.verify()


@pytest.mark.parametrize("knows_who", [True, False])
def test_what_somebody_else_said_of_a_file_is_not_said_by_who_brings_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, knows_who: bool
) -> None:
    monkeypatch.setattr(compared, "_coin", lambda *_: 0)  # the coins of a random key have an edge where this file lies
    if not knows_who:
        monkeypatch.setattr(people, "_said_of", lambda key, file, lineage, by: key.mark("said", file.fingerprint))
    for name, role in (("olga", "owner"), ("anna", "analyst")):
        ledger.give_roles(name + ISSUER, [role])
    olga, anna = person(ledger, "olga"), person(ledger, "anna")
    north_and_south(olga, MIXED)
    for lineage in ("north", "south"):
        olga.share(lineage, "anna" + ISSUER, "ask")
    told = joined(anna, "south", brought(ledger, MIXED))
    assert ("north" in told) == knows_who
    if knows_who:
        assert joined(anna, "south", brought(ledger, MIXED, WHY)) == []
        assert [one.content["by"] for one in ledger.records() if one.kind == "others"] == [
            "olga" + ISSUER,
            "anna" + ISSUER,
        ]


def test_a_statement_of_before_that_names_no_file_is_asked_anew(ledger: Ledger) -> None:
    assert opened(ledger, "north", brought(ledger, TABLE)) == []
    with ledger._store.writing() as connection:
        ledger._store.append(connection, "others", lineage="south", body={"than": "north", "because": WHY})
    assert [one.because for one in ledger.statements("south")] == [WHY]
    assert opened(ledger, "south", brought(ledger, CHANGED)) == ["north"]
    ledger.say_others(brought(ledger, CHANGED, WHY), "south", than="north")
    assert opened(ledger, "south", brought(ledger, CHANGED)) == []
    ledger.verify()


SOURCE = f"{people.CONFIGURED}clinic"


@pytest.mark.parametrize("by", ["", "olga"])
@pytest.mark.parametrize("rows", [64, 25, 12])
def test_a_file_that_one_linked_with_a_source_stays_with_its_people(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, rows: int, by: str
) -> None:
    """As with anybody's: whatever is said, however few rows it has, and freely compared."""
    ledger.give_roles("olga" + ISSUER, ["owner"])
    mine = person(ledger, by) if by else ledger
    file = brought(ledger, reading(patients(rows)))
    mine.open_budget(SOURCE, epsilon=1.0)
    mine.join(file, SOURCE)
    before = ledger.records()
    for _ in range(2):
        with pytest.raises(KnownPeople) as refused:
            mine.open_budget("second", epsilon=1.0, file=replace(file, because=WHY))
        assert refused.value.same
        assert [one.lineage for one in refused.value.found] == [SOURCE]
        assert ledger.records() == before, "nothing was compared as with others' files"
        mine.say_others(replace(file, because=WHY), "second", than=SOURCE)
        before = ledger.records()
    changed = brought(ledger, reading(guessed(patients(rows), "none")))
    assert opened(mine, "second", changed) == [SOURCE], "nor is one with a changed row opened unasked"
    monkeypatch.setattr(people, "free", lambda connection, who, known: [])
    monkeypatch.setattr(compared, "free", people.free)
    assert opened(mine, "second", file) == [], "as it was: after a sentence, or unasked"


@pytest.mark.parametrize("somebody", ["olga", "trusted", "local"])
def test_a_file_that_another_linked_with_a_source_tells_nobody_freely(ledger: Ledger, somebody: str) -> None:
    """Whoever may ask the source holds no row of it: an owner; whoever is let in without a name; and without a login
    what a person linked who had logged in."""
    for name in ("olga", "otto"):
        ledger.give_roles(name + ISSUER, ["owner"])
    file = brought(ledger, TABLE)
    person(ledger, "otto").open_budget(SOURCE, epsilon=1.0)
    person(ledger, "otto").share(SOURCE, "olga" + ISSUER, "own")
    (ledger.acting("trusted") if somebody == "trusted" else person(ledger, "otto")).join(file, SOURCE)
    asks = person(ledger, "olga") if somebody == "olga" else ledger.acting(somebody)  # type: ignore[arg-type]
    before = len(ledger.records())
    with pytest.raises(KnownPeople) as refused:
        asks.open_budget("second", epsilon=1.0, file=file)
    assert not refused.value.same
    assert [one.kind for one in ledger.records()[before:]] == ["compare", "alike"]
    ledger.verify()


def test_where_a_link_is_refused_nothing_is_opened(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comparing says, as for a file of people of whom nothing may be told any more."""
    assert opened(ledger, "first", brought(ledger, TABLE)) == []
    before = ledger.records()
    monkeypatch.setattr(Ledger, "comparable", lambda self: [])
    with pytest.raises(InvalidArgument, match="belongs to other people"):
        ledger.open_budget("second", epsilon=1.0, file=brought(ledger, TABLE))
    assert ledger.records() == before
    assert [one.lineage for one in ledger.budgets()] == ["first"]


# -- what may be told of it: as docs/decisions/0028 says, and no more --------------------------------------------------


def test_opening_tells_no_more_of_others_people_than_bringing_the_file(whole: Ledger) -> None:
    """Another owner is told by the same coins as on arrival, and never that a file is the very same; on the record."""
    otto = person(whole, "otto")
    for number, value in enumerate(GUESSES):
        file = brought(whole, reading(guessed(patients(), value)))
        seen = [one.lineage for one in otto.similar(file.fingerprint, file.sketch, among=otto.comparable())]
        assert seen in ([], ["people"])
        before = whole.records()
        if not seen:
            assert opened(otto, f"by otto {number}", file) == []
            continue
        with pytest.raises(KnownPeople) as refused:
            otto.open_budget(f"by otto {number}", epsilon=1.0, file=file)
        assert [one.lineage for one in refused.value.found] == seen
        assert not refused.value.same
        assert whole.records() == before, "the same file is no new question"
    for number, value in enumerate(GUESSES):
        column = brought(whole, COLUMNS[value])
        assert opened(otto, f"a column {number}", column) == [], "no guess of one cell is answered"


def test_what_is_told_at_the_opening_is_on_the_record_and_a_day_takes_a_few(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is opened for a file that looks alike, or one too many; the comparison stays on the record."""
    monkeypatch.setattr(compared, "MOST_FILES", 1)
    otto, olga = person(whole, "otto"), person(whole, "olga")
    known = Brought(fingerprint="known", sketch=Sketch(combinations=(marks(64),)))
    olga.join(known, "people")
    before = len(whole.records())
    assert opened(otto, "new", Brought(fingerprint="one", sketch=known.sketch)) == ["people"]
    assert [one.kind for one in whole.records()[before:]] == ["compare", "alike"]
    stranger = Brought(fingerprint="two", sketch=Sketch(combinations=(marks(0, 64),)))
    for act in (lambda: otto.open_budget("new", epsilon=1.0, file=stranger), lambda: otto.join(stranger, "others")):
        with pytest.raises(NotAllowed, match="different files"):
            act()
    assert len(whole.records()) == before + 2
    otto.link("mine", "others", stranger.sketch)
    with pytest.raises(NotAllowed, match="different files"):
        otto.join(stranger, "others")  # to look like one's own people says nothing of others' in the same table
    otto.link(stranger.fingerprint, "others", stranger.sketch)
    assert joined(otto, "others", stranger) == [], "what is linked with these people already goes on"


def test_only_who_may_ask_of_people_joins_them(whole: Ledger) -> None:
    otto: MembersLedger = person(whole, "otto")
    assert "anna" + ISSUER in whole.terms("people").shares
    with pytest.raises((NotAllowed, UnknownLineage)):
        otto.join(Brought(fingerprint="file"), "people")
    assert joined(person(whole, "anna"), "people", Brought(fingerprint="file")) == []


def test_a_budget_that_was_opened_without_a_file_is_no_second_one_unseen(whole: Ledger) -> None:
    """An analyst is told nothing of people of whom they may not know; the budget of these people has it on record."""
    otto, arno = person(whole, "otto"), person(whole, "arno")
    whole.give_roles("arno" + ISSUER, ["analyst"])
    otto.open_budget("second", epsilon=1.0)
    otto.share("second", "arno" + ISSUER, "ask")
    file, before = brought(whole, TABLE), len(whole.records())
    assert joined(arno, "second", file) == [], "nothing is told"
    new = whole.records()[before:]
    assert [(one.kind, one.lineage) for one in new] == [
        ("compare", f"{PEOPLE}arno{ISSUER}"),
        ("alike", "people"),
        ("link", "second"),
    ]
    assert {one.content["by"] for one in new[:2]} == {"arno" + ISSUER}
    assert joined(arno, "second", file) == []
    assert len(whole.records()) == before + 3, "the same once more is on the record already"
    assert joined(arno, "second", brought(whole, OTHERS)) == []
    assert [one.kind for one in whole.records()[before + 3 :]] == ["compare", "link"], "they look like nobody"
    whole.verify()


def test_what_is_compared_untold_takes_of_the_day_s_files(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "MOST_FILES", 1)
    otto, arno = person(whole, "otto"), person(whole, "arno")
    whole.give_roles("arno" + ISSUER, ["analyst"])
    otto.open_budget("second", epsilon=1.0)
    otto.share("second", "arno" + ISSUER, "ask")
    assert joined(arno, "second", brought(whole, TABLE)) == []
    with pytest.raises(NotAllowed, match="different files"):
        arno.join(brought(whole, CHANGED), "second")
    assert joined(arno, "second", brought(whole, TABLE)) == [], "what is linked goes on"


# -- while others link all the time ------------------------------------------------------------------------------------

KNOWN, MEANWHILE = 3, 4


def compared_while_others_link(whole: Ledger, theirs: Ledger, patched: pytest.MonkeyPatch) -> int:
    """How often a file is compared with another one until it is joined, while others link some: all that were known
    before, and then what is new, if nothing is compared twice."""
    compare, is_like, linked, count = people.similar, Index.is_like, itertools.count(), itertools.count()

    def link() -> None:
        file = reading(patients(rows=16, seed=100 + next(linked)))
        whole.link(file.fingerprint, "people", sketch(file, whole.sketch_key))

    def slowly(*args: Any) -> Any:
        found = compare(*args)
        if next(times) < MEANWHILE:
            link()
        return found

    times = itertools.count()
    for _ in range(KNOWN - 1):  # and the one of the patients
        link()
    patched.setattr(people, "similar", slowly)
    patched.setattr(Index, "is_like", lambda *args: (next(count), is_like(*args))[1])
    theirs.open_budget("theirs", epsilon=1.0, file=brought(whole, OTHERS))
    return next(count)


ANYBODY: dict[str, Callable[[Ledger], Ledger]] = {
    "alone": lambda whole: whole,
    "of several": lambda whole: SeveralLedger(whole, "b" * 32, network="192.0.2.1"),
}


@pytest.mark.parametrize("who", ANYBODY)
def test_what_was_compared_is_not_compared_again(whole: Ledger, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """Whoever links one file after the other keeps nobody from joining theirs: only what is new takes time."""
    assert compared_while_others_link(whole, ANYBODY[who](whole), monkeypatch) == KNOWN + MEANWHILE


@pytest.mark.parametrize("who", ANYBODY)
def test_with_nothing_kept_all_would_be(whole: Ledger, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    monkeypatch.setattr(whole._store, "outcomes", Outcomes(most=0))
    assert compared_while_others_link(whole, ANYBODY[who](whole), monkeypatch) > 2 * (KNOWN + MEANWHILE)
