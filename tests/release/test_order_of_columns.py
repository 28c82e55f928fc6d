"""In which order a page lists columns nobody chose: it is in no question's digest and in no sentence of a receipt, and
what was answered, charged or granted while it was in the digest is still of the same question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from dashboard.background import compute
from dashboard.budget import unanswered
from dashboard.widgets import release as panel
from dpcore import release as module
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.ledger import Known, Ledger
from dpcore.release import ask, question_digest, question_digests, release, sentence
from dpcore.releases.best_rule import BestRule
from tests.release.granting import granting

NAMES = {"columns", "experts", "suggested"}


def turned(part: Any) -> Any:
    """The same request with every list of columns the other way round."""
    found: dict[str, Any] = {}
    for one in fields(part):
        value = getattr(part, one.name)
        if one.name in NAMES:
            found[one.name] = value[::-1]
        elif one.name == "pairs" and isinstance(value, tuple):
            found[one.name] = tuple(replace(pair, first=pair.second, second=pair.first) for pair in value[::-1])
        elif one.name in ("reads", "features") and is_dataclass(value):
            found[one.name] = turned(value)
    return replace(part, **found)


def made(names: tuple[str, ...], **said: Any) -> BestRule:
    columns = tuple(Column(name=name, type="category", categories=("a", "b")) for name in "vxn")
    declared = Declaration(columns=columns, suggested=("v", "x", "n"), **said)
    request = BestRule.of(declared, names, target="v", epsilon=0.2)
    own = {column.name: column for column in columns}
    return replace(request, reads=replace(request.reads, columns=tuple(own[name] for name in ("v", *names))))


ROWS = PrivateRows(pd.DataFrame({name: ["a", "b"] * 20 for name in "vxn"}, dtype="str"))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_it_is_in_no_digest_and_no_sentence(question: Any) -> None:
    request = question.ask(question.declaration, question.file(question.tables[0], from_bytes=False))
    for one in (request, replace(request, reads=_said(request.reads))):
        assert question_digest(turned(one)) == question_digest(one)
        assert sentence(turned(one)) == sentence(one)


def _said(reads: Any) -> Any:
    return replace(reads, suggested=tuple(column.name for column in reads.columns), named_by_rows=True)


def test_an_order_in_the_digest_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert question_digest(made(("x", "n"))) == question_digest(made(("n", "x")))
    monkeypatch.setattr(module, "_ordered", module._fields)
    assert question_digest(made(("x", "n"))) != question_digest(made(("n", "x")))


def test_which_column_is_which_is_in_the_digest() -> None:
    asked = made(("x", "n"))
    others = [made(("x",)), replace(asked, target="n", columns=("x", "v")), replace(asked, positive="a")]
    assert len({question_digest(one) for one in (asked, *others)}) == 4


# -- what there is from before ---------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        found.open_budget("people", epsilon=5.0, delta=1e-6)
        yield found


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A program that has the order of columns in digest and sentences."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "_ordered", module._fields)
        patch.setattr("dpcore.releases.asked.sorted", lambda names: list(names), raising=False)
        yield patch


LISTED = ("x", "n")


def test_an_answer_from_before_is_found(ledger: Ledger, before: pytest.MonkeyPatch) -> None:
    request = made(LISTED)
    old = release(ledger, "old", "people", request, ROWS)
    before.undo()
    now, listed = question_digests(request)
    assert (now, listed) == (question_digest(request), old.question)
    assert old.what != sentence(request)
    here: Any = SimpleNamespace(request=request, lineage="people", source=SimpleNamespace(drawn_from=""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compute, "ledger", lambda: ledger)
        patch.setattr(panel.tracker, "in_ledger", lambda lineage: object())
        patch.setattr(panel, "kept", lambda key, make: make())
        patch.setattr(panel.this_run, "once", lambda key, make: make())
        assert panel.answered(here).mine == [old]
        assert panel.answered(here).known.answers == 1
        assert release(ledger, "late", "people", request, ROWS, known=Known()) == old, "who looked before knew of none"
        new = release(ledger, "new", "people", made(LISTED[::-1]), ROWS, known=panel.answered(here).known)
        assert new.question == now
        assert panel.answered(here).mine == [old, new]
    assert release(ledger, "old", "people", request, ROWS) == old, "the same request again is that answer"


def test_a_charge_from_before_pays_for_its_draw(ledger: Ledger, before: pytest.MonkeyPatch) -> None:
    request = made(LISTED)
    paid = ledger.charge("old", "people", request.cost, sentence(request), **module._asked(request))
    before.undo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compute, "ledger", lambda: ledger)
        assert unanswered._unanswered("people", question_digests(request)) == [paid]
    found = release(ledger, "old", "people", request, ROWS)
    assert found.answer is not None
    assert (found.question, found.what, len(ledger.receipts())) == (paid.question, paid.what, 1)


def test_a_grant_from_before_is_drawn(ledger: Ledger, before: pytest.MonkeyPatch) -> None:
    request = made(LISTED)
    olga, anna = granting(ledger)
    old = ask(anna, "r", "theirs", request)
    olga.grant("r")
    before.undo()
    assert question_digest(request) != old.question
    assert ask(anna, "again", "theirs", request).request_id == "r"
    assert release(anna, "r", "theirs", request, ROWS).question == old.question
