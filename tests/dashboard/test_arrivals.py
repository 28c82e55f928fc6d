"""What is done to a file before the first look at it, and what beside that."""

from __future__ import annotations

import pytest

from dashboard.data import arrivals
from dpcore.datasets import Reading, read_table

TABLE = b"age,ill\n" + b"".join(b"%d,%s\n" % (20 + place, b"yes" if place % 3 else b"no") for place in range(40))


def told(reading: Reading, key: bytes | None) -> object:
    """Its marks, as the page takes them over."""
    return arrivals._told(reading, (), lambda *_: None, key, lambda size: None)[1]


@pytest.mark.parametrize("key", [None, b"k" * 32])
def test_a_file_is_marked_before_the_first_look_only_where_it_could_be_somebodys(key: bytes | None) -> None:
    """To take its fingerprint and its sketch takes longer than to read it."""
    reading = read_table(TABLE)
    marks = told(reading, key)
    assert (marks is not None) == (key is not None)
    assert ("fingerprint" in vars(reading)) == (key is not None)


def test_a_fingerprint_that_nobody_waits_for_is_taken_all_the_same() -> None:
    reading = read_table(TABLE)
    arrivals._take_fingerprint(reading).result(60)
    assert "fingerprint" in vars(reading)
    assert reading.fingerprint == read_table(TABLE).fingerprint


def test_a_file_that_is_forgotten_is_not_held_for_its_fingerprint() -> None:
    class Forgotten:
        def __init__(self, *_: object) -> None:
            pass

        def __call__(self) -> None:
            return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrivals.weakref, "ref", Forgotten)
        reading = read_table(TABLE)
        arrivals._take_fingerprint(reading).result(60)
    assert "fingerprint" not in vars(reading)
