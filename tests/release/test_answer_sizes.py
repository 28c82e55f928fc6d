"""How large an answer can be is known before it is charged: what cannot be kept is refused, and costs nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dpcore import release as path
from dpcore.accounting import Cost
from dpcore.datasets import Column, Declaration
from dpcore.errors import InvalidArgument, LedgerError, ReleaseRefused
from dpcore.ledger import Ledger, charging
from dpcore.ledger.records import canonical
from dpcore.release import TOO_LARGE, ask, release
from dpcore.releases import alarm, plays, sizes
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.plays import WAYS, PrivatePlays

SCORE = Column(name="score", type="number", low=0, high=1)


def asked(rounds: int, experts: int, hold: int | None = 1, way: str = "batched") -> PrivatePlays:
    names = tuple(f"é{number}" for number in range(experts))
    columns = tuple(Column(name=name, type="number", low=0, high=1) for name in names)
    declared = Declaration(columns=columns, each_row="step", hidden="replace_one")
    delta = 1e-6 if way == "batched" else 0.0
    return PrivatePlays.of(declared, names, rounds=rounds, epsilon=0.1, delta=delta, hold=hold, way=way)  # type: ignore[arg-type]


def largest(request: PrivatePlays) -> int:
    """Bytes of the answer with the longest place in every play."""
    starts = request.starts.tolist()
    played = [len(request.experts) - 1] * len(starts)
    return len(
        canonical({"experts": list(request.experts), "starts": starts, "plays": played, "rounds": request.rounds})
    )


@pytest.mark.parametrize("way", WAYS)
def test_no_answer_of_plays_is_larger_than_was_known(way: str) -> None:
    for rounds, experts in itertools.product((2, 9, 10, 11, 1023, 1024, 20_000), (2, 10, 11, 101)):
        for hold in (1, 7) if way == "batched" and rounds >= 7 else (None,):
            request = asked(rounds, experts, hold, way)
            assert largest(request) <= request.most_bytes


def test_what_a_page_asks_for_is_kept_and_more_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A play in each of 100,000 rounds is; in each of a million none of a budget would be left to open by."""
    assert largest(asked(100_000, 100)) <= sizes.MOST_BYTES
    assert asked(1_000_000, 100, hold=20).most_bytes <= sizes.MOST_BYTES
    for rounds in (200_000, plays.MOST_ROUNDS):
        with pytest.raises(InvalidArgument, match="rounds cannot be that many"):
            asked(rounds, 2)
    monkeypatch.setattr(plays, "MOST_BYTES", 1 << 40)
    assert largest(asked(plays.MOST_ROUNDS, 2)) > sizes.MOST_BYTES, "or nothing was refused"


def run(limit: int, entries: int, labels: tuple[str, ...] = ()) -> AlarmRun:
    declared = Declaration(columns=(SCORE,), each_row="step", hidden="replace_one")
    return AlarmRun.of(declared, "score", threshold=0.5, epsilon=1.0, entries=entries, limit=limit, labels=labels)


def test_alarms_are_as_many_as_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, labels in ((1, ()), (300, ()), (300, tuple("ß" * (n % 60) for n in range(300)))):
        request = run(limit, 300, labels)
        told = {
            "alarms": list(range(300 - limit, 300)),
            "names": sorted((request.name_of(place) for place in range(300)), key=len)[-limit:],
            "compared": 300,
            "stopped": False,
        }
        assert len(canonical(told)) <= request.most_bytes
    with pytest.raises(InvalidArgument, match="limit cannot be that many"):
        run(alarm.MOST_ENTRIES, alarm.MOST_ENTRIES)
    assert run(1, alarm.MOST_ENTRIES).limit == 1
    monkeypatch.setattr(alarm, "MOST_BYTES", 1 << 40)
    assert run(alarm.MOST_ENTRIES, alarm.MOST_ENTRIES).limit == alarm.MOST_ENTRIES, "or nothing was refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Long:
    """An answer of as many bytes as were asked for."""

    most_bytes: int
    mechanism: ClassVar[str] = "Discrete Laplace"
    neighbours: ClassVar[str] = "add_remove"
    what: ClassVar[str] = "How many people?"

    @property
    def cost(self) -> Cost:
        return Cost.pure(0.1)

    def answer(self, rows: list[Any]) -> str:
        return "x" * (self.most_bytes - 2)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db", create=True) as found:
        found.open_budget("people", epsilon=1.0)
        yield found


def test_nothing_is_charged_for_an_answer_that_cannot_be_kept(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = release(ledger, "fits", "people", Long(most_bytes=charging.MOST_BYTES), [])
    assert len(kept.answer) == charging.MOST_BYTES - 2
    before, large = ledger.version(), Long(most_bytes=charging.MOST_BYTES + 1)
    with pytest.raises(ReleaseRefused, match=TOO_LARGE):
        release(ledger, "large", "people", large, [])
    with pytest.raises(ReleaseRefused, match=TOO_LARGE):
        ask(ledger, "large", "people", large)
    assert ledger.version() == before, "nothing was written"
    monkeypatch.setattr(path, "MOST_BYTES", 1 << 40)
    with pytest.raises(InvalidArgument, match="at most 4 MB"):
        release(ledger, "large", "people", large, [])
    assert [one.request_id for one in ledger.unanswered("people")] == ["large"], "or it was charged for nothing"


def test_the_ledger_itself_keeps_no_larger_answer(ledger: Ledger) -> None:
    ledger.charge("r", "people", Cost.pure(0.1), "?")
    with pytest.raises(InvalidArgument, match="at most 4 MB as JSON; nothing was stored"):
        ledger.store_answer("r", "x" * charging.MOST_BYTES)
    assert ledger.store_answer("r", 7).answer == 7
    with pytest.raises(LedgerError):
        ledger.charge("none", "nobody", Cost.pure(0.1), "?")
