"""However much a machine that died left of what its journal was to say, it is looked through in portions; and who joins
a ledger leaves nothing in the journal's place that is not whole."""

from __future__ import annotations

import os
import random
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, repeat
from pathlib import Path

import pytest

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.ledger import Ledger, journal, store
from dpcore.ledger.journal import Journal
from dpcore.ledger.records import FIRST, Record, next_record
from tests.ledger.conftest import Computers

LARGE = 48 << 20
MOST = LARGE // 4
"""Bytes of memory that looking through it may take at once."""


def records_of(sizes: Iterable[int]) -> Iterator[Record]:
    """A chain of records that say something of these lengths."""
    previous = FIRST
    for seq, size in enumerate(sizes, 1):
        record = next_record(seq, previous, "rename", lineage="people", body={"name": "x" * size})
        previous = record.hash
        yield record


@cache
def large() -> tuple[Record, ...]:
    return tuple(records_of([LARGE // 64] * 64))


def line(record: Record) -> bytes:
    return f"{record.line()}\n".encode("ascii")


def only_its_sign(path: Path) -> None:
    """As whoever joined a large ledger left it."""
    path.write_bytes(b"{")
    os.truncate(path, sum(len(line(one)) for one in large()))


def an_early_page(path: Path) -> None:
    """As a machine that died before one of many pages was on its disk."""
    with path.open("wb") as file:
        for one in large():
            file.write(line(one))
        file.seek(len(line(large()[0])) + 4096)
        file.write(bytes(4096))


LEFT: dict[str, Callable[[Path], None]] = {"only its sign": only_its_sign, "an early page": an_early_page}


def looked_through(path: Path) -> None:
    found = Journal(path)
    found.read_on()
    assert not found.is_finished()
    assert found.ends_before(large()[found.seq :])
    if found.seq == 0:
        assert not found.is_lost(large())
    journal.read_from(path, [])


@pytest.mark.thorough
@pytest.mark.parametrize("left", LEFT)
def test_what_was_left_takes_little_memory(left: str, tmp_path: Path) -> None:
    LEFT[left](path := tmp_path / "journal")
    tracemalloc.start()
    try:
        looked_through(path)
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def letter_by_letter(left: bytes, said: Iterable[bytes]) -> bool:
    """What ``Journal.ends_before`` says, of what is in memory as a whole."""
    return all(found in (0, one) for found, one in zip(left, chain(*said, repeat(0)), strict=False))


def test_portion_by_portion_it_says_what_each_letter_says(tmp_path: Path) -> None:
    """Pages that are not there, letters that are others', and what is cut or goes on, of lines of all lengths."""
    rng, path, seen = random.Random(127), tmp_path / "journal", set()
    for case in range(300):
        chosen = list(records_of(rng.choices([1, 300, 700, 3000], k=4)))
        said = [line(one) for one in chosen]
        begun = rng.choice([0, 1])
        left = bytearray(b"".join(said[begun:]))
        for start in rng.choices(range(0, len(left), 512), k=case % 4):
            left[start : start + 512] = bytes(len(left[start : start + 512]))
        if rng.random() < 0.4:
            left[rng.randrange(len(left))] = rng.choice(b"?x\0")
        left = left[: rng.randrange(300, len(left))] if rng.random() < 0.5 else left
        left += rng.choice([b"", bytes(100_000), bytes(70_000) + b"x"])
        left[rng.randrange(100)] = 0  # so that it is no line that ends
        path.write_bytes(b"".join(said[:begun]) + left)
        found = Journal(path)
        if not begun and not journal.begins_so(left):
            continue
        found.read_on()
        assert found.seq == begun
        has = chosen[begun : rng.choice([begun, len(chosen)])]
        expected = letter_by_letter(bytes(left), [line(one) for one in has] or [b"{" * (begun == 0)])
        assert found.ends_before(iter(has)) is expected, case
        seen.add((begun, bool(has), expected))
    assert len(seen) == 7, "each kind; of a journal that has begun, or not, whose letters are all there or not"


@pytest.mark.thorough
def test_who_dies_while_it_joins_leaves_nothing_in_the_journal_s_place(
    server: PrivateServer, tmp_path: Path, computers: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it asked was only whether there is room for all of it, and it is asked before a record says that it came."""
    url = server.new_schema()
    with Ledger.open(url, journal=computers("first", tmp_path) / "journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("a", "people", Cost.pure(0.1), "?")
        ledger.begin_draw("a")
        ledger.store_answer("a", '"' * 300_000)
        many = len(ledger.records())
    path = computers("joins", tmp_path) / "journal"

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_anew", dies)
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(url, journal=path)
    assert journal.says_nothing(path)
    assert not path.exists() or path.stat().st_size == 0
    with Ledger.open(url, journal=path) as ledger:
        assert len(path.read_bytes().splitlines()) == len(ledger.records()) == many + 2
        ledger.verify()


def all_at_once(self: Journal, lines: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """As it was: all that was left is in memory, and all that it is compared with."""
    left = self.path.read_bytes()[self._read_to :]
    yield left, b"".join(lines).ljust(len(left), b"\0")


def trusting(found: bytes, said: bytes) -> bool:
    return True


@pytest.mark.thorough
def test_these_tests_can_fail(tmp_path: Path) -> None:
    for name, mutant in (("Journal._beside", all_at_once), ("_next_line", lambda file: file.readline())):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"dpcore.ledger.journal.{name}", mutant)
            with pytest.raises(AssertionError):
                test_what_was_left_takes_little_memory("only its sign", tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "_is_left_of", trusting)
        with pytest.raises(AssertionError):
            test_portion_by_portion_it_says_what_each_letter_says(tmp_path)
