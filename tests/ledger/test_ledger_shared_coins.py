"""The coin by which a known file's combinations count hangs on what the file holds, whoever linked it and however
often: one row is asked about once, not once for each link, each save or each guess that somebody links."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

import pandas as pd
import pytest

from dpcore.datasets import Reading, sketch
from dpcore.ledger import Ledger, compared
from dpcore.ledger.compared import up_to
from dpcore.ledger.key import Key
from dpcore.ledger.people import CONFIGURED, KnownFile
from dpcore.ledger.several import SeveralLedger
from dpcore.sketches import APART, Combination, Index, Sketch
from tests.ledger.patients import ISSUER, guessed, patients, person, reading

SOURCE = f"{CONFIGURED}clinic"
ROWS, SAVES, KEY = 64, 50, b"A" * 32
Name = Callable[[KnownFile, Sketch], str]


def by_who_linked(known: KnownFile, _file: Sketch) -> str:
    """As it was drawn: those who link the same file have marks of their own."""
    return known.mark


def by_all_that_it_holds(_known: KnownFile, file: Sketch) -> str:
    return hashlib.sha256(repr(file).encode()).hexdigest()


def by_the_foremost(_known: KnownFile, file: Sketch) -> str:
    return str(file.foremost)


def drawn_otherwise(name: Name) -> Callable[..., bool]:
    def seems_like(key: Key, coins: str, index: Index, known: KnownFile, file: Sketch) -> bool:
        more = compared._coin(key, 21, "more", known.lineage, coins)
        apart = APART[compared._coin(key, len(APART), "apart", known.lineage, name(known, file))]
        return index.seems_like(file, more=more, apart=apart)

    return seems_like


def drawn_for(ledger: Ledger, asks: Ledger, lineage: str, patch: pytest.MonkeyPatch) -> set[tuple[str, ...]]:
    """The names of the coins of known files, as somebody's file of strangers is compared with these people's."""
    drawn, own = set[tuple[str, ...]](), compared._coin

    def coin(key: Key, sides: int, purpose: str, *parts: str) -> int:
        if purpose == "apart":
            drawn.add(parts)
        return own(key, sides, purpose, *parts)

    file = reading(patients(seed=9))
    with patch.context() as meanwhile:
        meanwhile.setattr(compared, "_coin", coin)
        asks.similar(file.fingerprint, sketch(file, ledger.sketch_key), among=[lineage])
    return drawn


def browsers(ledger: Ledger, count: int) -> list[Ledger]:
    named = [f"the secret of browser {number}" for number in range(count)]
    return [SeveralLedger(ledger, each, network=f"192.0.2.{at}") for at, each in enumerate(named)]


def persons(ledger: Ledger, count: int) -> list[Ledger]:
    names = [f"owner{number}" for number in range(count)]
    for name in names:
        ledger.give_roles(name + ISSUER, ["owner"])
        ledger.share(SOURCE, name + ISSUER, "own")
    return [person(ledger, name) for name in names]


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("who", [browsers, persons])
def test_whoever_links_a_file_it_draws_the_same_coin(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, who: Callable[[Ledger, int], list[Ledger]], mutant: bool
) -> None:
    """In other orders of rows and columns, and under other names of these, too."""
    if mutant:
        monkeypatch.setattr(compared, "_seems_like", drawn_otherwise(by_who_linked))
    ledger.open_budget(SOURCE, epsilon=2.0, name="Clinic")
    *link, asks = who(ledger, 6)
    frame = patients(ROWS)
    other = frame.sample(frac=1.0, random_state=1)[frame.columns[::-1]]
    _link(ledger, link[0], reading(frame))
    coins = drawn_for(ledger, asks, SOURCE, monkeypatch)
    for each in link[1:4]:
        _link(ledger, each, reading(frame))
    _link(ledger, link[4], reading(other.rename(columns=str.upper)))
    again = drawn_for(ledger, who(ledger, 7)[-1], SOURCE, monkeypatch)
    assert len(coins) == 1
    assert again == coins if not mutant else len(again) == 5


def _link(ledger: Ledger, who: Ledger, file: Reading) -> None:
    who.link(file.fingerprint, SOURCE, sketch(file, ledger.sketch_key))


@pytest.mark.parametrize("mutant", [False, True])
def test_a_file_that_many_link_tells_no_more_than_one(mutant: bool) -> None:
    """Where the guess moves a combination by four hundredths, at the best edge: for each key the same answers; drawn by
    who linked it one question of 20 files told of three fifths."""
    like = drawn_otherwise(by_who_linked) if mutant else compared._seems_like
    marks, keys = tuple((mark, 0) for mark in range(64)), [Key(secret=bytes([n]) * 32) for n in range(200)]
    told = {}
    for apart in (71, 75):
        known = Sketch(combinations=(Combination(depth=0, apart=apart, marks=marks),))
        index = Index(Sketch(combinations=(Combination(depth=0, apart=100, marks=marks),)))
        files = [KnownFile(mark=f"of {who}", lineage=SOURCE, name="") for who in range(20)]
        said = [[like(key, "new", index, file, known) for file in files] for key in keys]
        assert mutant or all(len(set(each)) == 1 for each in said)
        told[apart] = sum(any(each) for each in said) / len(keys)
    at = {apart: up_to(APART.index(apart), len(APART)) for apart in told}
    assert told[75] - told[71] == pytest.approx(0.6 if mutant else at[75] - at[71], abs=0.12)


NAMES = (by_the_foremost, by_all_that_it_holds, by_who_linked)


def coins_of(frame: pd.DataFrame) -> list[set[str]]:
    """The coins of a file, each of its combinations in place of the widest, so that there are many to count: as they
    are drawn and as each of two others would be."""
    file = reading(frame)
    known = KnownFile(mark=file.fingerprint, lineage=SOURCE, name="")
    each = [Sketch(combinations=(one,)) for one in sketch(file, KEY).combinations]
    return [{name(known, one) for one in each} for name in NAMES]


def test_a_file_with_a_row_more_each_day_draws_few_coins() -> None:
    """64 people and one more on each of 50 days: another tuple becomes the foremost once in as many as there are, so
    that 1 + log(114 / 64), 1.6, are drawn where all but one day drew another."""
    whole = patients(ROWS + SAVES)
    saves = [coins_of(whole.iloc[:rows]) for rows in range(ROWS, ROWS + SAVES + 1)]
    drawn = [set[str]().union(*each) for each in zip(*saves, strict=True)]
    own, *others = (len(each) / len(first) for each, first in zip(drawn, saves[0], strict=True))
    assert 1.0 < own < 2.5
    assert min(others) > 20


def test_a_guess_that_is_linked_draws_the_coin_of_the_file() -> None:
    """Else each wrong guess of all rows that somebody links beside it would be one draw more, and the right one none:
    whoever asks before and after would see which it is."""
    frame = patients(ROWS)
    right, new = coins_of(frame), Counter[Name]()
    for row in range(0, ROWS, 4):
        ends = pd.concat([frame.drop(index=row), frame.loc[[row]]])
        wrong = coins_of(guessed(ends, "none" if ends["diagnosis"].iloc[-1] == "flu" else "flu"))
        for name, mine, theirs in zip(NAMES, right, wrong, strict=True):
            new[name] += len(theirs - mine)
    share = {name: new[name] / (len(mine) * ROWS / 4) for name, mine in zip(NAMES, right, strict=True)}
    assert share[by_the_foremost] < 0.1
    assert min(share[by_all_that_it_holds], share[by_who_linked]) > 0.5
