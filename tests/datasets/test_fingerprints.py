"""Neighbouring files never share a key, the same rows in another order do share a fingerprint, near-duplicates show."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import likeness, read_csv, sketch
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.reader import Choices, _key
from tests.datasets.test_reading import people


@pytest.mark.thorough
def test_keys_tell_a_thousand_one_row_neighbours_apart() -> None:
    """10⁶ rows, one row changed at a thousand places: every cache key is new.

    The key is SHA-256 over the choices and then every byte, so it can be continued from the state before the change;
    that this equals the key of a whole file is checked on one of them.
    """
    size, width = 10**6, 3
    data = b"age\n" + b"".join(b"%02d\n" % (i % 97) for i in range(size))
    keys = {_key(data, Choices())}
    state, done = hashlib.sha256(repr(Choices()).encode()), 0
    for row in range(0, size, size // 1000):
        start = 4 + row * width
        state.update(data[done:start])
        done = start
        neighbour = state.copy()
        neighbour.update(b"98\n")
        neighbour.update(data[start + width :])
        keys.add(neighbour.hexdigest())
        if row == 500 * (size // 1000):
            whole = data[:start] + b"98\n" + data[start + width :]
            assert neighbour.hexdigest() == _key(whole, Choices())
    assert len(keys) == 1001


def test_fingerprints_tell_a_thousand_one_row_neighbours_apart() -> None:
    """The fingerprint depends on rows through two exact sums of 64-bit halves of MD5, so a neighbour's is known
    from the digests of the old and the new row alone; that this equals a reading's is checked on one of them."""
    size = 10**6
    ages = pd.Series(np.arange(size) % 97).astype("str")
    frame = pd.DataFrame({"age": ages, "place": (pd.Series(np.arange(size)) // 97).astype("str")})
    low, high = engine.row_sums(frame)
    places = np.arange(0, size, size // 1000)
    old = frame.iloc[places].reset_index(drop=True)
    new = old.assign(age="98")
    sums = set()
    for before, after in zip(_digests(old), _digests(new), strict=True):
        sums.add((low - before[0] + after[0], high - before[1] + after[1]))
    assert len(sums | {(low, high)}) == 1001
    changed = frame.copy()
    changed.loc[places[500], "age"] = "98"
    assert engine.row_sums(changed) in sums


def _digests(frame: pd.DataFrame) -> list[tuple[int, int]]:
    """Both halves of each row's digest, made here as the engine describes it."""
    joined = frame["age"] + "\x1f1" + frame["place"]
    whole = [hashlib.md5(text.encode(), usedforsecurity=False).digest() for text in joined]
    return [(int.from_bytes(d[:8], "little"), int.from_bytes(d[8:], "little")) for d in whole]


@pytest.mark.thorough
def test_near_duplicates_are_noticed() -> None:
    """A file with a few rows changed, or with a column dropped, is about the same people; another draw is not."""
    text = people(1000)
    one = read_csv(text.encode())
    lines = text.splitlines()
    fewer = read_csv("\n".join([lines[0], *reversed(lines[11:]), "1001,5,W3", "1002,6,W4"]).encode())
    assert one.fingerprint != fewer.fingerprint
    assert likeness(one, fewer).rows == pytest.approx(990 / 992)
    assert likeness(one, fewer).same_people
    narrow = read_csv("\n".join(line.rsplit(",", 1)[0] for line in lines).encode())
    assert likeness(one, narrow).rows == 0.0
    assert likeness(one, narrow).columns == 1.0
    assert likeness(one, narrow).same_people
    other = read_csv(text.replace("W", "V").replace("\n", "\n9").encode())
    assert not likeness(one, other).same_people
    key, another = b"secret" * 6, b"another" * 5
    kept = sketch(one, key)
    assert sketch(one, key) == kept
    assert sketch(fewer, key).is_like(kept)
    assert not sketch(other, key).is_like(kept)
    assert not sketch(one, another).is_like(kept)


WORDS = {
    "days that no calendar has": [f"2024-{20 + place:02}-{place + 10:02}" for place in range(60)],
    "times that no clock has": [f"2024-01-01 {place + 24:02}:00:00" for place in range(60)],
    "other digits": [f"٢٠٢٤-{place // 28 + 1:02}-{place % 28 + 1:02}" for place in range(60)],
    "raised digits": [f"{place}²" for place in range(60)],
    "numbers that no machine holds": [f"{'9' * 4400}{place}" for place in range(60)],
    "numbers beyond": [f"{'9' * 400}{place}" for place in range(60)],
    "words of numbers": [f"{sign}{word}" for sign in ("", "-", "+") for word in ("nan", "inf", "1e999", "1_0", "0x1f")],
    "nothing": ["", "\t", "\u2003"] * 20,
}


@pytest.mark.parametrize("kind", list(WORDS))
def test_a_sketch_is_taken_of_any_words(kind: str) -> None:
    """Else a table of them could not be read where somebody has a budget."""
    words = WORDS[kind]
    for others in ([], ["ann", "bob"]):
        column = [*words, *others]
        text = "\n".join(["who,what", *(f"p{place},{word}" for place, word in enumerate(column))])
        sketch(read_csv(text.encode()), b"k" * 32)
    likeness(*(read_csv(text.encode()) for _ in range(2)))
