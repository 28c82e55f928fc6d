"""Whatever value a program hands to the engine: a sentence of its own, or what is kept is plain and can be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore import costs, events
from dpcore.costs import Cost
from dpcore.errors import DpcoreError, InvalidArgument, InvalidCost
from dpcore.ledger import Ledger, asked
from dpcore.ledger.export import to_csv, to_json
from dpcore.ledger.records import FIRST, Record, next_record, sealed
from dpcore.ledger.words import LONGEST_QUESTION

HUGE, ANNA = 10**400, "anna at https://login.example"
VALUES: dict[str, Any] = {
    "huge": HUGE,
    "less than any": -HUGE,
    "a whole number of NumPy's": np.int64(3),
    "a small one": np.int8(3),
    "a float of NumPy's": np.float32(0.1),
    "another": np.float64(0.1),
    "an array": np.array([0.1]),
    "yes": True,
    "yes by NumPy": np.bool_(True),
    "3.0": 3.0,
    "large": 1e200,
    "tiny": 1e-200,
    "the least": 5e-324,
    "NaN": float("nan"),
    "without end": float("inf"),
    "below zero": -1.0,
    "complex": 1j,
    "none": None,
    "a text": "0.1",
    "half a letter": "\ud800",
    "nothing in it": "",
    "a long text": "x" * (LONGEST_QUESTION + 1),
    "bytes": b"x",
    "counts by number": {9: 3, 10: 4},
    "a list": [0.1],
    "any": object(),
}
COSTS: dict[str, Callable[[Any], Cost]] = {
    "epsilon": lambda x: Cost(epsilon=x),
    "rho": lambda x: Cost(epsilon=1.0, rho=x),
    "delta": lambda x: Cost(epsilon=1.0, delta=x),
    "event": lambda x: Cost(epsilon=1.0, event=x),
    "pure": lambda x: Cost.pure(x),
    "pure, count": lambda x: Cost.pure(0.01, x),
    "bounded range": lambda x: Cost.bounded_range(x),
    "bounded range, count": lambda x: Cost.bounded_range(0.01, x),
    "bounded range, adaptive": lambda x: Cost.bounded_range(0.01, adaptive=x),
    "laplace": lambda x: Cost.laplace(x),
    "laplace, count": lambda x: Cost.laplace(100.0, x),
    "gaussian": lambda x: Cost.gaussian(x, 1e-7),
    "gaussian, delta": lambda x: Cost.gaussian(10.0, x),
    "gaussian, count": lambda x: Cost.gaussian(100.0, 1e-7, x),
    "sampled": lambda x: Cost(
        epsilon=1.0, delta=1e-3, rho=1.0, event=events.SampledGaussianEvent(noise_multiplier=x, sampling_rate=0.1)
    ),
    "sampled, rate": lambda x: Cost(
        epsilon=1.0, delta=1e-3, rho=1.0, event=events.SampledGaussianEvent(noise_multiplier=2.0, sampling_rate=x)
    ),
    "sampled, neighbours": lambda x: Cost(
        epsilon=1.0,
        delta=1e-3,
        rho=1.0,
        event=events.SampledGaussianEvent(noise_multiplier=9.0, sampling_rate=0.01, neighbours=x),
    ),
}
CALLS: dict[str, Callable[[Ledger, Any], object]] = {
    "open, epsilon": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=x),
    "open, delta": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, delta=x),
    "open, counting": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, counting=x),
    "open, neighbours": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, neighbours=x),
    "open, practice": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, practice=x),
    "open, name": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, name=x),
    "open, unit": lambda ledger, x: ledger.open_budget(ledger.new_lineage(), epsilon=1.0, unit=x),
    "open, lineage": lambda ledger, x: ledger.open_budget(x, epsilon=1.0),
    "rename": lambda ledger, x: ledger.rename("people", x),
    "charge, what": lambda ledger, x: ledger.charge("what", "people", Cost.pure(0.1), x),
    "charge, request": lambda ledger, x: ledger.charge(x, "people", Cost.pure(0.1), "?"),
    "charge, mechanism": lambda ledger, x: ledger.charge("mechanism", "people", Cost.pure(0.1), "?", mechanism=x),
    "charge, question": lambda ledger, x: ledger.charge("question", "people", Cost.pure(0.1), "?", question=x),
    "charge, neighbours": lambda ledger, x: ledger.charge("hides", "people", Cost.pure(0.1), "?", neighbours=x),
    "charge, unit": lambda ledger, x: ledger.charge("unit", "people", Cost.pure(0.1), "?", unit=x),
    "charge, cost": lambda ledger, x: ledger.charge("cost", "people", x, "?"),
    "answer": lambda ledger, x: ledger.store_answer("first", x),
    "answer, request": lambda ledger, x: ledger.store_answer(x, 1),
    "charge, lineage": lambda ledger, x: ledger.charge(f"in {x!r:.20}", x, Cost.pure(0.1), "?"),
    "ask": lambda ledger, x: ledger.ask(x, "people", Cost.pure(0.1), "?"),
    "grant": lambda ledger, x: ledger.grant(x),
    "share, lineage": lambda ledger, x: ledger.share(x, ANNA, "ask"),
    "share, subject": lambda ledger, x: ledger.share("people", x, "ask"),
    "limit, lineage": lambda ledger, x: ledger.set_limit(x, 0.5),
    "roles": lambda ledger, x: ledger.give_roles(ANNA, x),
    "roles, subject": lambda ledger, x: ledger.give_roles(x, ["analyst"]),
    "rename, lineage": lambda ledger, x: ledger.rename(x, "others"),
    "reset": lambda ledger, x: ledger.reset_practice(x),
    "link": lambda ledger, x: ledger.link(x, "people"),
    "link, lineage": lambda ledger, x: ledger.link("f" * 32, x),
    "practice, token": lambda ledger, x: ledger.open_practice(x, "clinic", epsilon=1.0),
    "practice, sample": lambda ledger, x: ledger.open_practice("t" * 20, x, epsilon=1.0),
    "history": lambda ledger, x: ledger.history(x),
    "answered": lambda ledger, x: ledger.answered("people", x),
    "answered_ids": lambda ledger, x: ledger.answered_ids("people", x),
    "end": lambda ledger, x: ledger.end_budget(x),
    "begin": lambda ledger, x: ledger.begin_draw(x),
    "find": lambda ledger, x: ledger.find(x),
    "confirms": lambda ledger, x: ledger.confirms(x),
    "receipt": lambda ledger, x: ledger.receipt(x),
    "limit": lambda ledger, x: ledger.set_limit("people", x),
    "share, level": lambda ledger, x: ledger.share("people", ANNA, x),
}


def plain(value: Any) -> bool:
    """Whether all of it is of Python's own types."""
    if is_dataclass(value) and not isinstance(value, type):
        return all(plain(getattr(value, one.name)) for one in fields(value))
    return value is None or type(value) in (bool, int, float, str)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """One for all of these: whatever one leaves in it closes it to the next."""
    folder: Path = tmp_path_factory.mktemp("any")
    with Ledger.open(folder / "l.db", create=True) as ledger:
        yield ledger


def tried(work: Callable[[], Any]) -> Any:
    """What came out of it; None where it was refused in a sentence. Anything else fails."""
    try:
        return work()
    except DpcoreError:
        return None


@pytest.mark.parametrize("which", COSTS)
def test_a_cost_is_refused_in_a_sentence_or_plain(which: str) -> None:
    """By NumPy's whole numbers a cost was made that no ledger could write down; by huge ones, one that it failed at."""
    ledger = Ledger.open("sqlite://")
    for delta, counting in ((0.0, "sum"), (1e-5, "sum"), (1e-5, "zcdp")):
        ledger.open_budget(f"{counting}{delta}", epsilon=1e6, delta=delta, counting=counting)
    made = 0
    for place, (name, value) in enumerate(VALUES.items()):
        cost = tried(lambda value=value: COSTS[which](value))
        if cost is None:
            continue
        made += 1
        assert plain(cost) or which == "event", name
        tried(cost.for_replaced_row)
        for budget in ledger.budgets():
            for ask in (budget.fits, budget.share_of, budget.answers_left):
                tried(lambda ask=ask, cost=cost: ask(cost))
            tried(
                lambda budget=budget, cost=cost, place=place: ledger.charge(
                    f"{place}{budget.lineage}", budget.lineage, cost, "?"
                )
            )
    assert made or which == "sampled, neighbours"
    assert ledger.verify()
    assert json.loads(to_json(ledger.receipts())) is not None


@pytest.mark.parametrize("which", CALLS)
def test_a_call_is_refused_in_a_sentence_or_kept_so_that_all_can_be_read(
    which: str, kept: Ledger, tmp_path: Path
) -> None:
    tried(lambda: kept.open_budget("people", epsilon=100.0))
    tried(lambda: kept.charge("first", "people", Cost.pure(0.1), "?"))
    for name in ("0.1", "3", "3.0", "1", "-1.0"):  # which a database may find by the number, too
        tried(lambda name=name: kept.open_budget(name, epsilon=1.0))
        tried(lambda name=name: kept.charge(name, "people", Cost.pure(0.1), "?"))
    for value in VALUES.values():
        tried(lambda value=value: CALLS[which](kept, value))
        assert kept.verify()
    receipts = kept.receipts()
    assert to_csv(receipts).encode()
    assert to_json(receipts).encode()
    assert all(kept.confirms(one.to_json()) for one in receipts)
    assert kept.backup(tmp_path / "backup") == kept.verify().seq


def test_what_a_check_gives_is_what_an_event_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them, whoever adds one; and of a check whose value is dropped this is found out."""
    for kind in (events.PureEvent, events.BoundedRangeEvent, events.LaplaceEvent, events.GaussianEvent):
        first = fields(kind)[0].name
        found = kind(**{first: np.float32(0.5), "count": np.int64(3)})
        assert plain(found)
        assert found == kind(**{first: 0.5, "count": 3})
    monkeypatch.setattr(events, "_take", lambda event, **checked: None)
    assert not plain(events.PureEvent(epsilon=0.5, count=np.int64(3)))


def test_a_cost_that_got_around_its_check_is_refused_too() -> None:
    made = Cost.pure(0.1)
    for name in ("epsilon", "rho", "delta"):
        forged = Cost.pure(0.1)
        object.__setattr__(forged, name, HUGE)
        with pytest.raises(InvalidCost):
            costs.check_cost(forged)
    assert Cost(epsilon=1) == Cost(epsilon=1.0)
    assert plain(made)


def test_half_a_letter_from_before_keeps_nobody_from_an_export(
    kept: Ledger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a mechanism that an earlier version kept so, no receipt could be written, nor any other."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        with monkeypatch.context() as before:
            before.setattr(asked, "can_be_written", lambda text: True)
            before.setattr("dpcore.ledger.records.can_be_written", lambda text: True)
            ledger.charge("r", "people", Cost.pure(0.1), "?", mechanism="\ud800")
        (receipt,) = ledger.receipts()
        text = to_json([receipt])
        assert json.loads(text.encode())[0]["mechanism"] == "\ud800"
        assert "\\ud800" in to_csv([receipt]).encode().decode()
        assert ledger.confirms(receipt.to_json().encode().decode())


@pytest.mark.parametrize("name", ["lineage", "request_id"])
def test_no_record_is_named_by_anything_but_text(name: str) -> None:
    """A journal's line of one that is cannot be read again, and closed the ledger for good."""
    found = next_record(1, FIRST, "draw", body={}, **{name: "0.1"})
    assert Record.from_line(found.line()) == found
    with pytest.raises(ValueError, match="not a record"):
        Record.from_line(sealed(replace(found, **{name: np.float64(0.1)})).line())
    with pytest.raises(InvalidArgument, match="must be text"):
        next_record(1, FIRST, "draw", body={}, **{name: np.float64(0.1)})
