"""Of a source nothing is asked, and no query written, for an answer that the ledger does not give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.costs import Cost
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, duck, open_folder
from dpcore.errors import DpcoreError
from dpcore.ledger import Known, Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.ledger.several import SeveralLedger
from dpcore.release import question_digest, release, sentence
from dpcore.releases.selection import MostCommonOption

OLGA, ANNA = "olga at https://login.example", "anna at https://login.example"
WARD = Column(name="ward", type="category", categories=("North", "South"))
ASKED = MostCommonOption.of(Declaration(columns=(WARD,)), "ward", epsilon=1.0)
KNOWN = Known()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", journal=tmp_path / "journal") as whole:
        yield whole


@pytest.fixture
def source(tmp_path: Path) -> PrivateSource:
    folder = tmp_path / "rows"
    folder.mkdir()
    pd.DataFrame({"ward": ["North", "South", "North"]}).to_parquet(folder / "a.parquet")
    opened = open_folder(folder)
    return PrivateSource(lambda: opened)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written for an engine."""
    found: list[str] = []
    dialect = duck.DuckDB

    def noted() -> Any:
        found.append("a query")
        return dialect()

    monkeypatch.setattr(duck, "DuckDB", noted)
    return found


def of(whole: Ledger, subject: str, *roles: Any) -> MembersLedger:
    return MembersLedger(whole, Person(subject=subject, claimed=frozenset(roles)), (subject + "t" * 32)[:32])


def spent(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=1.5)
    ledger.charge("before", "people", Cost.pure(1.0), "What else?")
    return ledger


def spent_of_several(ledger: Ledger) -> Ledger:
    return SeveralLedger(spent(ledger), "t" * 32, network="10.0.0.1")


def spent_after_a_refusal(ledger: Ledger) -> Ledger:
    with pytest.raises(DpcoreError):
        spent(ledger).charge("again", "people", Cost.pure(1.0), "What else?")
    return ledger


def another_unit(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=9.0, unit="visit")
    return ledger


def closed(ledger: Ledger) -> Ledger:
    owner = of(ledger, OLGA, "owner", "analyst")
    owner.open_budget("people", epsilon=9.0)
    owner.end_budget("people")
    return owner


def above_what_one_may_take(ledger: Ledger) -> Ledger:
    owner = of(ledger, OLGA, "owner", "analyst")
    owner.open_budget("people", epsilon=9.0)
    owner.share("people", ANNA, "ask")
    owner.set_limit("people", 0.5)
    return of(ledger, ANNA, "analyst")


def not_shared(ledger: Ledger) -> Ledger:
    of(ledger, OLGA, "owner", "analyst").open_budget("people", epsilon=9.0)
    return of(ledger, ANNA, "analyst")


REFUSED: tuple[Callable[[Ledger], Ledger], ...] = (
    lambda ledger: ledger,  # of no budget
    spent,
    spent_of_several,
    spent_after_a_refusal,
    another_unit,
    closed,
    above_what_one_may_take,
    not_shared,
)


@pytest.mark.parametrize("known", [None, KNOWN])
@pytest.mark.parametrize("refuses", REFUSED)
def test_nothing_is_written_for_an_answer_that_is_not_given(
    refuses: Callable[[Ledger], Ledger], known: Known | None, ledger: Ledger, source: PrivateSource, queries: list[str]
) -> None:
    whose = refuses(ledger)
    queries.clear()
    with pytest.raises(DpcoreError) as told:
        release(whose, "one", "people", ASKED, source, known=known)
    with pytest.raises(type(told.value)) as charged:
        whose.charge("two", "people", ASKED.cost, ASKED.what, question=question_digest(ASKED), known=known)
    assert str(told.value) == str(charged.value)
    assert ledger.receipt("one") is None
    assert queries == []


def test_a_source_that_is_asked_first_is_seen(
    ledger: Ledger, source: PrivateSource, queries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """These tests can fail."""
    charge = Ledger.charge

    def asked_first(self: Ledger, *args: Any, ready: Callable[[], object], **named: Any) -> Any:
        ready()
        return charge(self, *args, **named)

    monkeypatch.setattr(Ledger, "charge", asked_first)
    with pytest.raises(DpcoreError):
        release(ledger, "one", "people", ASKED, source)
    assert queries != []


def test_nothing_is_written_where_there_is_an_answer(ledger: Ledger, source: PrivateSource, queries: list[str]) -> None:
    ledger.open_budget("people", epsilon=1.0)
    first = release(ledger, "one", "people", ASKED, source)
    assert queries != []
    queries.clear()
    assert release(ledger, "one", "people", ASKED, source) == first
    assert release(ledger, "two", "people", ASKED, source, known=KNOWN) == first
    assert queries == []


def test_what_a_source_cannot_answer_is_not_charged(ledger: Ledger, source: PrivateSource) -> None:
    """Nor begun: it is looked at before the charge still, also of one that was charged and has no answer."""
    ledger.open_budget("people", epsilon=2.0)
    other = MostCommonOption.of(Declaration(columns=(replace(WARD, name="bed"),)), "bed", epsilon=1.0)
    for charged in (False, True):
        if charged:
            told = {"mechanism": other.mechanism, "neighbours": other.neighbours, "question": question_digest(other)}
            ledger.charge("one", "people", other.cost, sentence(other), **told)
        with pytest.raises(DpcoreError, match="columns"):
            release(ledger, "one", "people", other, source)
        found = ledger.receipt("one")
        assert (None if found is None else found.state) == ("charged" if charged else None)
