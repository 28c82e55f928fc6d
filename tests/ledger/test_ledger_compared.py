"""A file beside people whose budget is somebody else's: seldom missed, on the record, and no test of a guess."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import count, product, takewhile
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, insert

from dpcore import tick
from dpcore.datasets import Reading, sketch
from dpcore.datasets.in_place.sources import ConfiguredSource
from dpcore.errors import InvalidArgument, LedgerUnsound, NotAllowed
from dpcore.ledger import Ledger, compared, history, people, schema
from dpcore.ledger.compared import up_to
from dpcore.ledger.outcomes import Outcomes
from dpcore.ledger.people import KnownFile
from dpcore.ledger.records import Kind, next_record
from dpcore.ledger.recovery import restore
from dpcore.ledger.roles import PEOPLE
from dpcore.ledger.store import Store
from dpcore.ledger.verify import replayed
from dpcore.sketches import APART, LEAST_APART, LEAST_SHARED, MARGIN, MOST_MORE, Combination, Index, Sketch
from dpcore.tick import TICK
from tests.audit.work import CALLS, apart, counted
from tests.ledger.conftest import Place
from tests.ledger.patients import GUESSES, ISSUER, furnished, guessed, patients, person, reading
from tests.ledger.test_ledger_work import steps
from tests.ledger.test_ledger_work_of_all import writes_only

RECORDED = ("compare", "alike")


def brought(ledger: Ledger, file: Reading, among: tuple[str, ...] = ("people", "others")) -> list[str]:
    return [one.lineage for one in ledger.similar(file.fingerprint, sketch(file, ledger.sketch_key), among=among)]


COLUMNS = {value: reading(guessed(patients(), value)[["diagnosis"]]) for value in GUESSES}
TRUTH = str(patients()["diagnosis"].iloc[-1])


def answered(ledger: Ledger, lineage: str) -> set[str]:
    """The guesses of one cell that are told to be alike."""
    return {value for value, file in COLUMNS.items() if brought(ledger, file, (lineage,))}


def test_a_guess_of_one_cell_is_not_answered(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One column with a guess in the unknown row, brought by anybody but who linked the file: an owner of others, an
    analyst who may ask of these (a budget may be shared without the file), and an owner of theirs; each on record."""
    whole.give_roles("omar" + ISSUER, ["owner"])
    olga, otto, anna, omar = (person(whole, name) for name in ("olga", "otto", "anna", "omar"))
    olga.share("people", "omar" + ISSUER, "own")
    for somebody in (otto, anna, omar):
        before = len(whole.records())
        assert answered(somebody, "people") == set()
        assert [one.kind for one in whole.records()[before:]] == ["compare"] * len(GUESSES)
    assert answered(olga, "people") == {TRUTH}, "who linked the file has its rows"
    monkeypatch.setattr(people, "_freely", lambda connection, who, among: people.files(connection, among))
    assert answered(anna, "people") == {TRUTH}, "as whoever might ask was told before"


def test_nobody_is_told_freely_of_the_people_of_a_source(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may ask a source holds no row of it, with a login or without, but for files that they linked themselves
    with its people: these rows they brought."""
    lineage = ConfiguredSource(name="clinic", label="Clinic", epsilon=1.0, rows_per_person=1).lineage
    assert lineage.startswith(people.CONFIGURED)
    whole.give_roles("omar" + ISSUER, ["owner"])
    olga, anna, omar = (person(whole, name) for name in ("olga", "anna", "omar"))
    olga.open_budget(lineage, epsilon=1.0)
    olga.share(lineage, "anna" + ISSUER, "ask")
    olga.share(lineage, "omar" + ISSUER, "own")
    file = reading(patients().assign(year=2024))
    olga.link(file.fingerprint, lineage, sketch(file, whole.sketch_key))
    for somebody in (anna, omar, whole, whole.acting("trusted")):
        before = len(whole.records())
        assert answered(somebody, lineage) == set()
        assert [one.kind for one in whole.records()[before:]] == ["compare"] * len(GUESSES)
        assert somebody.similar(file.fingerprint, among=[lineage]) == [], "the very same file is not told of either"
    before = len(whole.records())
    assert answered(olga, lineage) == {TRUTH}
    assert [one.lineage for one in olga.similar(file.fingerprint, among=[lineage])] == [lineage]
    assert len(whole.records()) == before
    whole.verify()
    monkeypatch.setattr(people, "CONFIGURED", "nothing:")
    assert answered(whole, lineage) == {TRUTH}, "as it was before"


@pytest.mark.thorough
def test_a_guess_of_all_rows_is_linked_as_any_other_file(whole: Ledger) -> None:
    """Only who has linked a file is told that it stays with its people; all others link every guess alike."""
    otto, anna = person(whole, "otto"), person(whole, "anna")
    right = reading(patients())
    for ledger, lineage in ((otto, "others"), (anna, "people")):
        told = []
        for value in GUESSES:
            file = reading(guessed(patients(), value))
            before = len(whole.records())
            for _ in range(2):
                ledger.link(file.fingerprint, lineage, sketch(file, whole.sketch_key))
            told.append(len(whole.records()) - before)
            own = [one.lineage for one in ledger.similar(file.fingerprint, among=["people", "others"], own=True)]
            assert own == [lineage], "what one has linked is known from then on"
        assert told == [1] * len(GUESSES)
    with pytest.raises(InvalidArgument, match="belongs to other people"):
        anna.link(right.fingerprint, "others")
    before = len(whole.records())
    whole.link(right.fingerprint, "people")
    assert len(whole.records()) == before, "without a login all files are everybody's"
    whole.open_budget("third", epsilon=1.0)
    with pytest.raises(InvalidArgument, match="belongs to other people"):
        whole.link(right.fingerprint, "third")
    assert brought(whole, right) == ["others", "people"], "a file of several is known by each"
    marks = [record.content["fingerprint"] for record in whole.records() if record.kind == "link"]
    assert len(set(marks)) == len(marks) == 1 + 2 * len(GUESSES), "nor do the records tell that two are of one file"


def test_no_file_is_linked_with_practice_or_a_room(whole: Ledger) -> None:
    """A hand-made choice of people whose budget starts anew, or is a room's, is refused, and nothing is written."""
    practice = whole.open_practice("p" * 32, "clinic", epsilon=9.0).lineage
    room = whole.room_lineage("p" * 32)
    whole.open_budget(room, epsilon=1.0)
    before = whole.records()
    for lineage in (practice, room):
        with pytest.raises(InvalidArgument, match="must be a real budget"):
            whole.acting("trusted").link("file", lineage)
        assert lineage not in {one.lineage for one in whole.chargeable()}, "nor is it offered"
    assert whole.records() == before


def test_what_looks_like_others_people_is_on_their_record(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each file, with who brought it, whatever came of it; and so many files a day."""
    monkeypatch.setattr(compared, "MOST_FILES", 3)
    whole = furnished(ledger, patients(8))
    otto, by = person(whole, "otto"), "otto" + ISSUER
    same, stranger = Sketch(combinations=(marks(64),)), Sketch(combinations=(marks(0, 64),))
    person(whole, "olga").link("secret", "people", same)

    def seen(name: str, file: Sketch, *among: str) -> list[str]:
        return [one.name for one in otto.similar(name, file, among=among or ("people", "others"))]

    assert [seen(name, same) for name in ("one", "secret", "one")] == [["Patients"]] * 3
    assert [seen("stranger", stranger) for _ in range(2)] == [[]] * 2
    told = [(one.kind, one.lineage, one.content["by"]) for one in whole.records() if one.kind in RECORDED]
    once = [("compare", PEOPLE + by, by), ("alike", "people", by)]
    assert told == [*once, *once, once[0]]
    before = whole.records()
    with pytest.raises(NotAllowed, match="20 different files"):
        seen("another", stranger)
    assert seen("another", stranger, "others") == [], "what is one's own goes on"
    assert seen("one", same) == ["Patients"], "the same file is no new question"
    assert whole.records() == before
    assert not any(name in record.body for record in before for name in ("secret", "stranger"))
    monkeypatch.setattr(compared, "DAY", timedelta(seconds=-1))  # tomorrow
    assert seen("another", stranger) == []
    whole.verify()


def beside_another(at: int, monkeypatch: pytest.MonkeyPatch) -> list[str] | None:
    """What is recorded of one file that another tab brings, all of it, before the transaction of this number; None
    where there are not so many."""
    begun = count()
    with furnished(Ledger.open("sqlite://"), patients(8)) as whole, monkeypatch.context() as patch:
        patch.setattr(compared, "_seems_like", lambda *_: True)
        before = len(whole.records())

        def bring() -> None:
            found = person(whole, "otto").similar("f", Sketch(combinations=(marks(64),)), among=["people"])
            assert [one.lineage for one in found] == ["people"]

        for name in ("reading", "writing"):
            transaction = getattr(Store, name)

            def beside(store: Store, *given: Any, transaction: Any = transaction) -> Any:
                if next(begun) == at:
                    bring()
                return transaction(store, *given)

            patch.setattr(Store, name, beside)
        bring()
        whole.verify()
        return [one.kind for one in whole.records()[before:]] if next(begun) > at else None


@pytest.mark.thorough
def test_a_file_in_several_tabs_is_on_the_record_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever another of them comes in between: it is one file of one person."""
    tried = [*takewhile(bool, (beside_another(at, monkeypatch) for at in count()))]
    assert len(tried) >= 3, "two that read, and one that writes"
    assert tried == [[*RECORDED]] * len(tried)


@pytest.mark.thorough
def test_without_a_look_from_the_first_moment_on_there_would_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: what another wrote before the last look was seen by none."""
    is_noted = compared._is_noted

    def late(connection: Connection, lineage: str, file: str, after: int = 0) -> bool:
        return is_noted(connection, lineage, file, after and history.last(connection, None))

    monkeypatch.setattr(compared, "_is_noted", late)
    with pytest.raises(AssertionError):
        test_a_file_in_several_tabs_is_on_the_record_once(monkeypatch)


def test_people_of_whom_nothing_can_be_told_cost_nothing(whole: Ledger) -> None:
    otto, olga = person(whole, "otto"), person(whole, "olga")
    before = whole.records()
    assert brought(olga, reading(patients(seed=2))) == [], "Otto's people have no file"
    assert otto.similar("file", None, among=["people"]) == []
    assert brought(olga, reading(patients())) == ["people"]
    assert whole.records() == before


def test_the_same_file_again_is_not_worked_out_again(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sketch is read for it a second time, but those of files that were linked since."""
    otto, olga, read = person(whole, "otto"), person(whole, "olga"), list[int]()
    own = people.sketches

    def noting(store: Store, known: Sequence[KnownFile]) -> Iterator[tuple[KnownFile, Sketch]]:
        if known:
            read.append(len(known))
        return own(store, known)

    monkeypatch.setattr(
        people, "sketches", lambda store, known: (known and read.append(len(known))) or own(store, known)
    )
    files = {name: Sketch(combinations=(marks(0, 64, place),)) for place, name in enumerate(("one", "two"))}
    for name, file in files.items():
        olga.link(name, "people", file)

    def seen() -> list[str]:
        return [one.name for one in otto.similar("asked", Sketch(combinations=(marks(64),)), among=["people"])]

    assert [seen() for _ in range(3)] == [[]] * 3
    assert read == [3]
    olga.link("three", "people", Sketch(combinations=(marks(64),)))
    assert [seen() for _ in range(2)] == [["Patients"]] * 2
    assert read == [3, 1]


def while_held(others: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What others wait for while a file that looks like these people is brought, after so many of others."""
    numbers = count()
    with furnished(Ledger.open("sqlite://"), patients(8)) as whole, monkeypatch.context() as patch:
        patch.setattr(compared, "_seems_like", lambda *_: True)
        otto = person(whole, "otto")
        with whole._store.writing() as connection:
            for number in range(others):
                body = {"by": "mallory" + ISSUER, "file": f"{number:032}"}
                whole._store.append(connection, "alike", lineage="people", body=body)
        held = writes_only(patch)

        def bring(name: str) -> None:
            found = otto.similar(name, Sketch(combinations=(marks(64),)), among=["people"])
            assert [one.lineage for one in found] == ["people"]

        found = {
            "another": steps(whole, lambda: bring(f"f{next(numbers)}"), held),
            "again": steps(whole, lambda: bring("f0"), held),
        }
        assert [one.kind for one in whole.records()[-4:]] == ["compare", "alike"] * 2, "once for each"
        return found


def test_nobody_waits_for_what_others_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    few = while_held(5, monkeypatch)
    assert while_held(200, monkeypatch) == pytest.approx(few, rel=0.05)

    def every(connection: Connection, lineage: str, file: str, after: int = 0) -> bool:
        noted = history.records(connection, "alike", lineage)
        return any(one.content["file"] == file for one in noted)

    monkeypatch.setattr(compared, "_is_noted", every)
    few, many = while_held(5, monkeypatch), while_held(200, monkeypatch)
    assert many["another"] > 2 * few["another"], "as it was: the test can fail"


def test_outcomes_that_are_kept_are_bounded() -> None:
    here = Outcomes(most=5)
    for file in "abc":
        here.note(file, {"x": True, "y": False})
    assert len(here) == 4
    assert [dict(here.of(file)) for file in "abc"] == [{}, *[{"x": True, "y": False}] * 2]
    here.note("c", {"x": True})
    assert len(here) == 4, "what is known already is not counted again"
    here.of("b")
    here.note("d", {"x": False, "y": False})
    assert not here.of("c"), "the one that was asked about longest ago goes"
    assert here.of("b")


def test_too_many_files_are_refused_before_they_are_worked_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    otto, olga = person(whole, "otto"), person(whole, "olga")
    olga.link("secret", "people", Sketch(combinations=(marks(64),)))
    monkeypatch.setattr(compared, "MOST_FILES", 0)
    monkeypatch.setattr(people, "sketches", lambda store, known: pytest.fail("it was read") if known else [])
    with pytest.raises(NotAllowed, match="within a day"):
        otto.similar("one", Sketch(combinations=(marks(64),)), among=["people"])


@pytest.mark.parametrize("shared", [0, 64])
def test_how_long_a_link_takes_does_not_tell_what_was_compared(
    shared: int, whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of people of whom an analyst may know nothing: a tick, whether they are alike or not, or it is refused."""
    whole.give_roles("anna" + ISSUER, ["analyst"])
    anna, olga = person(whole, "anna"), person(whole, "olga")
    olga.open_budget("hidden", epsilon=1.0, name="Hidden")
    olga.link("secret", "hidden", Sketch(combinations=(marks(64),)))
    olga.open_budget("asked", epsilon=1.0, name="Asked")
    olga.share("asked", "anna" + ISSUER, "ask")
    clock = Clock()
    monkeypatch.setattr(tick, "time", clock)
    file = people.Brought(fingerprint=f"new {shared}", sketch=Sketch(combinations=(marks(shared, 64 - shared),)))
    anna.join(file, "asked")
    assert clock.slept == [pytest.approx(TICK)]
    assert [one.lineage for one in whole.records() if one.kind == "alike"] == ["hidden"] * bool(shared)
    monkeypatch.setattr(compared, "MOST_FILES", 0)
    with pytest.raises(NotAllowed, match="within a day"):
        anna.join(people.Brought(fingerprint="another", sketch=Sketch(combinations=(marks(9),))), "asked")
    assert len(clock.slept) == 2


class Clock:
    """It stands still, and says what was slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return 1000.0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


# -- the same as each beside each --------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator) -> Sketch:
    """A sketch of few different marks at different depths, so that combinations share any number of them."""
    depths = np.minimum(rng.geometric(0.5, 400) - 1, 5)
    found = []
    for _ in range(6):
        depth = int(rng.integers(0, 3))
        own = [mark for mark in range(400) if depths[mark] >= depth]
        taken = rng.choice(own[: int(rng.integers(20, 60))], size=int(rng.integers(8, 20)), replace=False)
        pairs = tuple((int(mark), int(depths[mark])) for mark in taken)
        found.append(Combination(depth=depth, apart=int(rng.integers(60, 101)), marks=pairs))
    return Sketch(combinations=tuple(found))


def shares(one: Combination, other: Combination, apart: int, more: int = 0) -> bool:
    """As it is defined, of two combinations by themselves."""
    depth = max(one.depth, other.depth)
    mine, theirs = ({mark for mark, own in each.marks if own >= depth} for each in (one, other))
    chance = 1.0 - apart / 100
    least = max(LEAST_SHARED, min(len(mine), len(theirs)) * max(0.5, chance + MARGIN))
    return len(mine & theirs) - more >= least


def test_an_index_says_what_each_combination_beside_each_says() -> None:
    rng, said = np.random.default_rng(5), Counter[tuple[str, bool]]()
    for _ in range(600):
        one, other = drawn(rng), drawn(rng)
        more, apart = int(rng.integers(0, 4)), int(rng.integers(70, 96))
        pairs = [pair for pair in product(one.combinations, other.combinations) if pair[0].apart >= 100 * LEAST_APART]
        alike = any(
            shares(mine, theirs, min(mine.apart, theirs.apart))
            for mine, theirs in pairs
            if theirs.apart >= 100 * LEAST_APART
        )
        seems = any(shares(mine, theirs, mine.apart, more) for mine, theirs in pairs if theirs.apart >= apart)
        index = Index(one)
        assert index.is_like(other) == one.is_like(other) == alike
        assert index.seems_like(other, more=more, apart=apart) == seems
        said.update([("is", alike), ("seems", seems)])
    assert min(said.values()) > 30 < len(said) * 30, said


def test_people_who_are_alike_are_as_much_work_as_strangers() -> None:
    """An index that looked at those alone that had marks in common told of its people by its time."""
    each = [tuple((mark + 100 * place, 3) for mark in range(64)) for place in range(48)]
    file = Sketch(combinations=tuple(Combination(depth=1, apart=100, marks=marks) for marks in each))
    other = tuple(tuple((mark + 10_000, own) for mark, own in marks) for marks in each)
    unlike = Sketch(combinations=tuple(Combination(depth=1, apart=100, marks=marks) for marks in other))
    index, done = Index(file), []
    for known, said in ((file, True), (unlike, False)):
        with counted() as work:
            assert index.seems_like(known, more=0, apart=APART[0]) == said
        done.append(work)
    hits = 48 * 64  # what is found is gone through once more
    assert apart(*done, 8 * hits) == {}
    assert abs(done[0][CALLS] - done[1][CALLS]) < 10


# -- how much one question can tell ------------------------------------------------------------------------------------


def marks(shared: int, more: int = 0, rows: int = 0) -> Combination:
    """``shared`` marks that all have in common, ``more`` of its own; of ``rows``, if so many are there."""
    own = range(1000 + rows, 1000 + rows + more)
    return Combination(depth=0, apart=100, marks=tuple((mark, 0) for mark in [*range(shared), *own]))


def said(file: Combination, known: Combination) -> float:
    """The chance of "alike", exactly: over every number of marks more, as often as the key chooses it."""
    sides = MOST_MORE + 1
    coins = [
        Index(Sketch(combinations=(file,))).seems_like(Sketch(combinations=(known,)), more=more, apart=APART[0])
        for more in range(sides)
    ]
    return sum((up_to(more, sides) - up_to(more - 1, sides)) * alike for more, alike in enumerate(coins))


def edges(alike: Callable[[Combination, Combination], float]) -> set[tuple[float, float]]:
    """How often a file of known rows, of invented ones and a guess is alike, where the guess is wrong and where it is
    right: for 64 people, all of whom have marks of their own, and all of whom but one are known."""
    right, wrong = marks(64), Combination(depth=0, apart=100, marks=(*marks(63).marks, (999, 0)))
    found = set()
    for known, nonsense in product(range(48), (0, 20, 60)):
        file = Combination(depth=0, apart=100, marks=(*marks(known, nonsense).marks, (63, 0)))
        found.add((alike(file, wrong), alike(file, right)))
    return found


def told_by(wrong: float, right: float, times: int) -> float:
    """By how much the numbers of "alike" among so many answers are apart (total variation), exactly."""
    ways = [math.comb(times, count) for count in range(times + 1)]
    laws = [[way * p**count * (1 - p) ** (times - count) for count, way in enumerate(ways)] for p in (wrong, right)]
    return sum(abs(one - other) for one, other in zip(*laws, strict=True)) / 2


def test_no_edge_tells_much_of_a_guess() -> None:
    """Exact, whatever files of known and invented rows; and two mutants: a fixed edge, and coins of equal sides."""
    found = edges(said)
    assert 0.07 < max(right - wrong for wrong, right in found) < 0.0750
    assert 0.25 < max(told_by(*edge, compared.MOST_FILES) for edge in found) < 0.28
    fixed = edges(lambda file, known: Sketch(combinations=(file,)).is_like(Sketch(combinations=(known,))))
    assert max(right - wrong for wrong, right in fixed) == 1.0
    assert told_by(0.0, 1 / (MOST_MORE + 1), compared.MOST_FILES) > 0.6
    assert said(marks(LEAST_SHARED - 1), marks(64)) == 0.0
    assert said(marks(2 * (LEAST_SHARED + MOST_MORE)), marks(64)) == pytest.approx(1.0)


def test_the_key_chooses_as_often_as_that(whole: Ledger) -> None:
    """What is drawn is what was computed: 1,000 files, compared with a band that holds in all but 1 of 10⁶ runs."""
    key, sides = whole._store.key, MOST_MORE + 1
    drawn = [compared._coin(key, sides, "more", "people", str(file)) for file in range(1000)]
    assert drawn == [compared._coin(key, sides, "more", "people", str(file)) for file in range(1000)]
    shares = [sum(one <= number for one in drawn) / 1000 for number in range(sides)]
    band = math.sqrt(math.log(2e6) / 2000)  # Dvoretzky, Kiefer & Wolfowitz; Massart 1990
    assert max(abs(share - up_to(number, sides)) for number, share in enumerate(shares)) < band


@pytest.mark.thorough
def test_an_edge_is_elsewhere_for_every_file(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files with the same marks in common get both answers, each its own for good: nobody finds out where the edge is
    with known rows, or by asking again."""
    monkeypatch.setattr(compared, "MOST_FILES", 100)
    person(whole, "olga").link("more", "people", Sketch(combinations=(marks(64),)))
    otto = person(whole, "otto")

    def answers() -> list[bool]:
        return [bool(otto.similar(str(n), Sketch(combinations=(marks(16),)), among=["people"])) for n in range(40)]

    first = answers()
    assert set(first) == {True, False}
    assert answers() == first


# -- the form of the ledger --------------------------------------------------------------------------------------------


def test_a_ledger_from_before_knows_its_files(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were linked under a mark of their own are known, stay with their people, and go to others silently."""
    from dpcore.ledger import engine, migrations, verify

    file = reading(patients())
    with monkeypatch.context() as then:
        for module in (engine, migrations):
            then.setattr(module, "NEWEST", "0004")
        then.setattr(verify, "_guard", lambda connection: True)
        with sqlite_place.open() as older:
            older.open_budget("people", epsilon=1.0)
            older.open_budget("third", epsilon=1.0)
            mark = older._store.key.mark("file", file.fingerprint)
            row = {"fingerprint": mark, "sketch": sketch(file, older.sketch_key).to_text()}
            with older._store.writing() as connection:
                older._store.append(connection, "link", lineage="people", body=row)
                connection.execute(insert(schema.fingerprints).values({**row, "lineage": "people"}))
            before = older.records()
    with sqlite_place.open() as now:
        assert now.records() == before
        assert brought(now, file, ("people",)) == ["people"]
        now.link(file.fingerprint, "people")
        with pytest.raises(InvalidArgument, match="belongs to other people"):
            now.link(file.fingerprint, "third")
        now.give_roles("otto" + ISSUER, ["owner"])
        otto = person(now, "otto")
        otto.open_budget("others", epsilon=1.0)
        otto.link(file.fingerprint, "others", sketch(file, now.sketch_key))
        assert brought(otto, reading(patients().assign(year=2024)), ("people",)) == ["people"]
        now.verify()
    assert sqlite_place.database is not None
    for ending in ("", "-wal", "-shm"):
        sqlite_place.database.with_name(sqlite_place.database.name + ending).unlink(missing_ok=True)
    restore(sqlite_place.url, journal=sqlite_place.journal)
    with sqlite_place.open() as again:
        assert brought(again, file, ("people", "others")) == ["others", "people"]
        assert [one.kind for one in again.records()][-3:] == ["compare", "alike", "restore"]


def test_a_comparison_that_is_not_one_makes_a_chain_unsound(whole: Ledger) -> None:
    whole.open_practice("vera" * 8, "clinic", epsilon=1.0)
    records, by = whole.records(), "otto" + ISSUER

    def followed(kind: Kind, lineage: str, body: dict[str, Any]) -> None:
        last = records[-1]
        replayed([*records, next_record(last.seq + 1, last.hash, kind, lineage=lineage, body=body)])

    followed("compare", PEOPLE + by, {"by": by, "file": "f"})
    followed("alike", "people", {"by": by, "file": "f"})
    practice = Ledger.practice_lineage("vera" * 8, "clinic")
    bad: tuple[tuple[Kind, str, dict[str, Any]], ...] = (
        ("compare", "people", {"by": by, "file": "f"}),
        ("compare", PEOPLE + by, {"by": by, "file": ""}),
        ("alike", "people", {"by": "", "file": "f"}),
        ("alike", "nobody", {"by": by, "file": "f"}),
        ("alike", practice, {"by": by, "file": "f"}),
    )
    for kind, lineage, body in bad:
        with pytest.raises(LedgerUnsound):
            followed(kind, lineage, body)
