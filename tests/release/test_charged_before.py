"""What programs of earlier days charged, or had granted, and did not draw is drawn by this one, of every kind.

``before/`` holds of each day how its program asked for one answer of every kind: in which words, by which digest, at
which cost. A sentence that is said otherwise now is to stand in ``dpcore.ledger.words``, beside what was said.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.ledger import Ledger, words
from dpcore.ledger.member import MembersLedger, Person
from dpcore.ledger.records import cost_from_json
from dpcore.release import asked_before, release
from tests.contract.test_release_contract import KINDS, questions
from tests.contract.test_release_contract import asked as of_a_page

DAYS = sorted(Path(__file__).with_name("before").glob("*.json"))
CASES = [(day, key) for day in DAYS for key in json.loads(day.read_text(encoding="utf-8"))]
NAMES = [f"{day.stem}-{key}" for day, key in CASES]


def told(day: Path, key: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(day.read_text(encoding="utf-8"))[key]
    return found


def of_now(key: str) -> tuple[Any, Any]:
    """The same answer as this program asks for it, and rows to draw it from."""
    question = questions(next(one for one in KINDS if one.key == key))[0]
    return of_a_page(question), question.file(question.tables[0], from_bytes=False).private


def opened(ledger: Ledger, request: Any, cost: Cost) -> None:
    counting = "sum" if math.isinf(cost.zcdp) else "zcdp"
    ledger.open_budget("people", epsilon=1000.0, delta=1e-3, counting=counting, unit=request.unit)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        yield found


def drawn(ledger: Ledger, day: Path, key: str) -> None:
    """Charges as then, and draws as now. Raises as ``release``."""
    (request, rows), before = of_now(key), told(day, key)
    cost = cost_from_json(before.pop("cost"))
    opened(ledger, request, cost)
    ledger.charge("r", "people", cost, before.pop("what"), **before)
    assert release(ledger, "r", "people", request, rows).answer is not None
    assert ledger.count("people") == 1


@pytest.mark.parametrize(("day", "key"), CASES, ids=NAMES)
def test_what_was_charged_is_drawn(ledger: Ledger, day: Path, key: str) -> None:
    drawn(ledger, day, key)


@pytest.mark.thorough
@pytest.mark.parametrize(("day", "key"), CASES, ids=NAMES)
def test_what_was_granted_is_drawn(ledger: Ledger, day: Path, key: str) -> None:
    (request, rows), before = of_now(key), told(day, key)
    cost = cost_from_json(before.pop("cost"))
    ledger.give_roles("olga", {"owner"})
    ledger.give_roles("anna", {"analyst"})
    olga, anna = (MembersLedger(ledger, Person(subject=name), name * 8) for name in ("olga", "anna"))
    opened(olga, request, cost)
    olga.share("people", "anna", "ask")
    olga.set_limit("people", 0.0)
    anna.ask("r", "people", cost, before.pop("what"), **before)
    olga.grant("r")
    assert [(one.request_id, one.unfit) for one in asked_before(anna, "people", request)] == [("r", "")]
    assert release(anna, "r", "people", request, rows).answer is not None
    assert ledger.count("people") == 1


def test_these_tests_can_fail(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a sentence is said otherwise and what was said before is forgotten."""
    never = [re.compile("(?!)")] * len(words._SAID_LATER)
    monkeypatch.setattr(words, "_SAID_LATER", tuple(never))
    with pytest.raises(InvalidArgument, match="different question"):
        drawn(ledger, DAYS[0], "count")


def test_with_other_noise_than_was_charged_nothing_is_drawn(ledger: Ledger) -> None:
    """Where both programs know by which: another noise of the same price tells more or less of all answers together."""
    (request, rows), before = of_now("model"), told(DAYS[-1], "model")
    cost, what = cost_from_json(before.pop("cost")), before.pop("what")
    assert isinstance(cost.event, GaussianEvent)
    other = Cost.kept(
        epsilon=cost.epsilon, rho=cost.zcdp, delta=cost.delta, event=replace(cost.event, count=cost.event.count - 1)
    )
    opened(ledger, request, cost)
    ledger.charge("r", "people", other, what, **before)
    with pytest.raises(InvalidArgument, match="different question"):
        release(ledger, "r", "people", request, rows)


def test_every_kind_that_there_was_is_looked_at() -> None:
    assert len(DAYS) >= 3
    assert {key for _, key in CASES} == {kind.key for kind in KINDS}
