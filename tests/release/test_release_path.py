"""The release path: charged before drawn, stored before shown, one answer per request, nothing private in errors."""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import math
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from dpcore.accounting import Cost
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import BudgetExceeded, DpcoreError, InvalidArgument, LedgerError, ReleaseRefused, UnknownLineage
from dpcore.ledger import Known, Ledger
from dpcore.release import FAILED, REFUSED, question_digest, release, sentence
from dpcore.releases import draws
from dpcore.releases.selection import MostCommonOption
from dpcore.tick import TICK

CANARY = "canary-7391"
ROOT = Path(__file__).parents[2]
OPTION = Column(name="o", type="category", categories=("a", "b"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many; what the tests release."""

    epsilon: float = 0.1
    mechanism: ClassVar[str] = "Discrete Laplace"
    neighbours: ClassVar[str] = "add_remove"
    what: ClassVar[str] = "How many people?"

    @property
    def cost(self) -> Cost:
        return Cost.pure(self.epsilon)

    def answer(self, data: list[Any]) -> Any:
        return {"count": int(draws.laplace([len(data)], sensitivity=1, epsilon=self.epsilon)[0])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing(Count):
    """Raises while it draws, with the data in the message."""

    result: str = "raise"

    def answer(self, data: list[Any]) -> Any:
        if self.result == "raise":
            raise RuntimeError(f"cannot draw for {data}")
        return {"nan": math.nan, "object": [*data, object()], "numpy": np.int64(3)}[self.result] if data else None


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.open("sqlite://") as opened:
        opened.open_budget("people", epsilon=1.0)
        yield opened


def test_an_answer_is_paid_stored_and_returned(ledger: Ledger) -> None:
    receipt = release(ledger, "r", "people", Count(epsilon=0.5), [1, 2, 3])
    assert isinstance(receipt.answer["count"], int)
    assert receipt == ledger.receipt("r")
    assert receipt.mechanism == "Discrete Laplace"
    assert receipt.question == question_digest(Count(epsilon=0.5))
    assert ledger.remaining("people").epsilon == 0.5
    assert ledger.confirms(receipt)


def test_a_repeat_gives_the_same_answer_whatever_the_data(ledger: Ledger) -> None:
    """50 repeats, with other data, with none, and with data that would be refused."""
    first = release(ledger, "r", "people", Count(), list(range(1000)))
    for data in ([], None, [CANARY]):
        assert release(ledger, "r", "people", Count(), data) == first
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)
    with pytest.raises(InvalidArgument, match="different question"):
        release(ledger, "r", "people", Count(epsilon=0.2), [1])
    with pytest.raises(InvalidArgument, match="different question"):
        release(ledger, "r", "people", Failing(), [1])


def test_racing_repeats_share_one_answer(ledger: Ledger) -> None:
    """A double click: 12 threads, one request; whoever stores first decides for all."""
    answers: list[Any] = []

    def click() -> None:
        answers.append(release(ledger, "r", "people", Count(), list(range(50))).answer)

    threads = [threading.Thread(target=click) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 12
    assert all(answer == answers[0] for answer in answers)
    assert len(ledger.history("people")) == 1


def test_nothing_is_drawn_before_it_is_charged(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    original = draws.laplace

    def watched(*values: Any, **named: Any) -> Any:
        seen.append(ledger.receipt("r") is not None)
        return original(*values, **named)

    monkeypatch.setattr(draws, "laplace", watched)
    release(ledger, "r", "people", Count(), [1])
    assert seen == [True]
    with pytest.raises(BudgetExceeded):
        release(ledger, "too much", "people", Count(epsilon=5.0), [1])
    with pytest.raises(UnknownLineage):
        release(ledger, "who", "nobody", Count(), [1])
    assert seen == [True]


def test_nothing_is_shown_that_is_not_stored(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills between charge and answer: an error, the charge stands, and asking again gives one answer."""

    def full(*_: Any) -> Any:
        raise LedgerError("The ledger's disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "store_answer", full)
        with pytest.raises(LedgerError, match="disk is full"):
            release(ledger, "r", "people", Count(), [1])
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)
    assert ledger.receipt("r").answer_hash is None
    answer = release(ledger, "r", "people", Count(), [1]).answer
    assert release(ledger, "r", "people", Count(), [1]).answer == answer
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)


@pytest.mark.parametrize("result", ["raise", "nan", "object", "numpy"])
def test_a_failing_answer_costs_and_says_nothing(ledger: Ledger, result: str) -> None:
    with pytest.raises(ReleaseRefused) as refused:
        release(ledger, "r", "people", Failing(result=result), [CANARY, object()])
    assert str(refused.value) == FAILED
    assert_holds_nothing(refused.value)
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)


def test_data_without_a_column_are_refused_by_their_header_alone(ledger: Ledger) -> None:
    """Before any charge, and whatever the cells hold; a repeat of what was answered is not refused."""
    asked = MostCommonOption.of(Declaration(columns=(OPTION,)), "o", epsilon=0.1)
    with pytest.raises(ReleaseRefused) as refused:
        release(ledger, "r", "people", asked, PrivateRows(pd.DataFrame({"p": [CANARY]})))
    assert str(refused.value) == REFUSED
    assert_holds_nothing(refused.value)
    assert ledger.remaining("people").epsilon == 1.0
    assert ledger.receipt("r") is None
    answered = release(ledger, "r", "people", asked, PrivateRows(pd.DataFrame({"o": [CANARY]})))
    assert release(ledger, "r", "people", asked, PrivateRows(pd.DataFrame({"p": [CANARY]}))) == answered


def test_no_value_is_looked_at_before_the_charge(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    opened = PrivateRows.opened

    def watched(self: PrivateRows, reads: Any) -> Any:
        seen.append(ledger.receipt("r") is not None)
        return opened(self, reads)

    monkeypatch.setattr(PrivateRows, "opened", watched)
    asked = MostCommonOption.of(Declaration(columns=(OPTION,)), "o", epsilon=0.1)
    release(ledger, "r", "people", asked, PrivateRows(pd.DataFrame({"o": ["a"]})))
    assert seen == [True]


def test_the_receipt_says_what_was_promised_and_what_was_chosen_after_looking(ledger: Ledger) -> None:
    declaration = Declaration(columns=(OPTION,), rows_per_person=3)
    asked = MostCommonOption.of(declaration, "o", epsilon=0.1, chosen_after_looking=True)
    receipt = release(ledger, "r", "people", asked, PrivateRows(pd.DataFrame({"o": ["a"]})))
    assert receipt.what == sentence(asked)
    assert "at most 3 rows was stated and not checked" in receipt.what
    assert (
        "ε and what is asked were chosen after looking at the data or an earlier file: not covered by ε."
        in receipt.what
    )
    assert set(receipt.answer) == {"option"}


def assert_holds_nothing(error: DpcoreError) -> None:
    """No cause or context hangs on the error, and its text has no private value."""
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CANARY not in str(error) + repr(error.args)


def test_200_forced_errors_leak_no_canary(ledger: Ledger) -> None:
    """Every way to fail, many times, with canaries in the data; no error that leaves the engine holds one."""
    rng = np.random.default_rng(4)
    ledger.open_budget("rich", epsilon=1000.0)
    kinds: list[Any] = [Count(), Failing(), Failing(result="nan"), Failing(result="object"), Count(epsilon=1e9)]
    caught: list[BaseException] = []
    for number in range(200):
        request = kinds[rng.integers(len(kinds))]
        data = [CANARY] * int(rng.integers(1, 5))
        try:
            release_without_tick(ledger, f"r{number}", "nobody" if rng.integers(4) == 0 else "rich", request, data)
        except DpcoreError as error:
            caught.append(error)
    assert len(caught) > 150
    for error in caught:
        assert CANARY not in "".join(map(str, [error, error.args, error.__cause__, error.__context__]))
    assert CANARY not in json.dumps([receipt.to_dict() for receipt in ledger.receipts()])
    gc.collect()


def release_without_tick(*asked: Any) -> Any:
    from dpcore import release as module

    return module._release(*asked, None)


def test_answers_come_on_the_tick(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether answered, repeated, refused or failed, and however long the work took, a call ends on a whole tick."""
    clock = Clock()
    for module in ("release", "tick"):
        monkeypatch.setattr(f"dpcore.{module}.time", clock)
    asked: list[Any] = [("a", "people", Count()), ("a", "people", Count()), ("b", "nobody", Count())]
    asked += [("c", "people", Failing()), ("d", "people", Count(epsilon=9.0))]
    for work in (0.0, 0.003, 0.2499, 0.25, 0.6):
        for request_id, lineage, request in asked:
            started, clock.work = clock.now, work
            with contextlib.suppress(DpcoreError):
                release(ledger, f"{request_id}{work}", lineage, request, [1])
            ticks = (clock.now - started) / TICK
            assert ticks == pytest.approx(round(ticks), abs=1e-9)
            assert round(ticks) == math.floor(work / TICK) + 1


@pytest.mark.parametrize("waits", [True, False])
def test_answers_are_stored_on_the_tick(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, waits: bool) -> None:
    """However long reading and drawing took: the record of an answer holds the time, for all who may read records."""
    clock = Clock()
    for module in ("release", "tick"):
        monkeypatch.setattr(f"dpcore.{module}.time", clock)
    stored: list[float] = []
    answer, store = Count.answer, Ledger.store_answer

    def slow(self: Count, rows: Any) -> Any:
        clock.sleep(next(works))
        return answer(self, rows)

    def noted(self: Ledger, request_id: str, drawn: Any, written: Any) -> Any:
        stored.append((clock.now - 1000.0) / TICK)
        return store(self, request_id, drawn, written)

    monkeypatch.setattr(Count, "answer", slow)
    monkeypatch.setattr(Ledger, "store_answer", noted)
    took = (0.0, 0.003, 0.2499, 0.6)
    works = iter(took)
    for number in range(len(took)):
        if waits:
            release(ledger, f"r{number}", "people", Count(), [1])
        else:
            release_without_tick(ledger, f"r{number}", "people", Count(), [1])
    late = [number for number in stored if number != pytest.approx(round(number), abs=1e-9)]
    assert bool(late) is not waits, "as it was before, without the wait"
    assert len(stored) == len(took)
    assert not waits or stored[-1] == pytest.approx(1 + 1 + 1 + 3), "and nobody waits twice"


class Clock:
    """A clock that moves only when slept on, and by ``work`` between the first two looks at it."""

    def __init__(self) -> None:
        self.now, self.work = 1000.0, 0.0

    def monotonic(self) -> float:
        seen = self.now
        self.now, self.work = self.now + self.work, 0.0
        return seen

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_no_simulation_randomness_is_drawn(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy's and Python's generators out of order, releases work and differ."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a release drew simulation randomness")

    for name in ("default_rng", "random", "normal", "laplace", "exponential", "uniform", "seed", "randint"):
        monkeypatch.setattr(np.random, name, refuse)
    for name in ("random", "randint", "gauss", "expovariate", "choice", "shuffle", "seed"):
        monkeypatch.setattr(random, name, refuse)
    answers = {
        release_without_tick(ledger, f"r{number}", "people", Count(epsilon=0.01), [1]).answer["count"]
        for number in range(12)
    }
    assert len(answers) > 6  # twelve draws with a scale of 100 agree this often with chance below 1e-9


def test_draws_is_the_only_source_of_noise() -> None:
    """OpenDP is imported by draws.py alone, and no file of the release path calls a generator's method."""
    for path in sorted((ROOT / "dpcore" / "releases").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        for name in names:
            assert name.split(".")[0] not in ("random", "secrets", "numpy.random"), path.name
            assert not name.startswith("opendp") or path.name == "draws.py", path.name
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert "random." not in ast.unparse(node), path.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(Count):
    """Has a parameter that is not a plain value."""

    values: Any = field(default=None)


def test_questions_are_told_apart_by_all_their_parameters(ledger: Ledger) -> None:
    same = question_digest(Odd(values=(1, "a", None, 2.5)))
    assert same == question_digest(Odd(values=(1, "a", None, 2.5)))
    others = [Odd(values=(1, "a", None, 2.50001)), Odd(values=(1, "a")), Odd(epsilon=0.2), Count(), Failing()]
    assert same not in {question_digest(other) for other in others}
    for wrong in (Odd(values=np.zeros(3)), Odd(values={1}), Odd, "x"):
        with pytest.raises(InvalidArgument, match="request"):
            question_digest(wrong)


def test_of_windows_that_ask_at_once_one_pays_and_all_show_its_answer(ledger: Ledger) -> None:
    """Also those that come while it is drawn; and who knows of it may ask again."""
    begin, answers = threading.Barrier(12), []

    def ask(number: int) -> None:
        begin.wait()
        answers.append(release(ledger, f"window {number}", "people", Count(), [1] * 40, known=Known()))

    windows = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for window in windows:
        window.start()
    for window in windows:
        window.join(60)
    assert len(answers) == 12
    assert len({one.request_id for one in answers}) == 1
    assert {one.answer_hash for one in answers} == {ledger.history("people")[0].answer_hash}
    assert ledger.count("people") == 1
    again = release(ledger, "again", "people", Count(), [1] * 40, known=Known(answers=1))
    assert again.request_id == "again"
    assert ledger.count("people") == 2


@pytest.mark.parametrize("undone", [False, True])
def test_of_what_was_known_before_a_reset_nothing_counts_after_it(ledger: Ledger, undone: bool) -> None:
    """A button that was drawn before a reset in another window shows the answer that was drawn after it."""
    ledger.open_budget("play", epsilon=5.0, practice=True)
    for number in range(2):
        release(ledger, f"first {number}", "play", Count(), [1] * 40)
    old = Known(answers=2, record=ledger.version("play"))
    ledger.reset_practice("play")
    if undone:
        ledger.undo_reset("play")
    new = release(ledger, "after", "play", Count(), [1] * 40)
    assert release(ledger, "old button", "play", Count(), [1] * 40, known=old).request_id == "after"
    assert ledger.history("play")[-1].request_id == new.request_id
    seen = Known(answers=len(ledger.history("play")), record=ledger.version("play"))
    assert release(ledger, "again", "play", Count(), [1] * 40, known=seen).request_id == "again"


def test_an_answer_that_never_comes_elsewhere_is_said_to_be_under_way(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.release.AWAITED", 2)
    asked = Count()
    ledger.charge("left", "people", asked.cost, "?", neighbours="add_remove", question=question_digest(asked))
    with pytest.raises(ReleaseRefused, match="at this moment; nothing more was charged"):
        release(ledger, "late", "people", asked, [1], known=Known())
    assert ledger.count("people") == 1


class Told(list[str]):
    """Which releases were told that the answer which is kept is theirs."""

    def draw(self, ledger: Ledger, request_id: str, request: Any = None, known: Known | None = None) -> None:
        how = {"known": known, "drawn": lambda: self.append(request_id)}
        with contextlib.suppress(DpcoreError):
            release(ledger, request_id, "people", request or Count(), [1] * 40, **how)  # type: ignore[arg-type]


def test_who_drew_the_answer_is_told_and_nobody_else(ledger: Ledger) -> None:
    """What comes back may have been drawn before, or elsewhere, from other rows."""
    told = Told()
    told.draw(ledger, "first")
    told.draw(ledger, "first")
    told.draw(ledger, "other window", known=Known())
    told.draw(ledger, "fails", Failing())
    told.draw(ledger, "second", known=Known(answers=1))
    assert told == ["first", "second"]


def test_no_answer_is_compared_with_another() -> None:
    """On the way of a release, in the ledger and on the pages: whoever compares two draws tells of the second."""

    def answers(text: str) -> list[str]:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare)]
        compared = [node for node in nodes if any(isinstance(one, ast.Eq | ast.NotEq) for one in node.ops)]
        sides = [(node, side) for node in compared for side in (node.left, *node.comparators)]
        return [ast.unparse(node) for node, side in sides if re.search(r"\banswer$", ast.unparse(side))]

    paths = [
        ROOT / "dpcore" / "release.py",
        *(ROOT / "dpcore" / "ledger").glob("*.py"),
        *ROOT.glob("dashboard/**/*.py"),
    ]
    assert len(paths) > 100
    for path in paths:
        assert answers(path.read_text(encoding="utf-8")) == [], path.name
    assert answers("if stored.answer == answer: drawn()"), "as it was"
