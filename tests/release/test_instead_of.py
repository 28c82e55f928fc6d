"""A question that is drawn by another mechanism than it was is still that question: what a program from before charged,
answered or had granted is found, and drawn as it was charged, before anything new is charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.background import compute
from dashboard.budget import unanswered
from dashboard.widgets import release as panel
from dpcore import release as module
from dpcore.costs import Cost
from dpcore.errors import ApprovalNeeded, BudgetExceeded, InvalidArgument, ReleaseRefused
from dpcore.ledger import Known, Ledger, Receipt
from dpcore.ledger.member import MembersLedger
from dpcore.release import ask, asked_before, question_digests, release, sentence
from tests.contract.test_release_contract import KINDS, questions
from tests.contract.test_release_contract import asked as of_a_page
from tests.release.granting import granting
from tests.release.test_gaussian_confusion import asked as count_of_hits

ANEW = [kind for kind in KINDS if of_a_page(questions(kind)[0]).instead_of]
"""Every kind of question that was asked otherwise before."""
COUNTINGS = ("zcdp", "sum")


@pytest.fixture(
    params=[(kind, counting) for kind in ANEW for counting in COUNTINGS], ids=lambda case: f"{case[0].key}-{case[1]}"
)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What was asked before, and is asked now, of one budget: where ε adds up both are the same, as a control."""
    kind, counting = request.param
    question = questions(kind)[0]
    now = replace(of_a_page(question), epsilon=0.5)
    (old,) = now.instead_of
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setattr(panel.tracker, "in_ledger", lambda lineage: object())
    monkeypatch.setattr(panel, "kept", lambda key, make: make())
    monkeypatch.setattr(panel.this_run, "once", lambda key, make: make())
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as ledger:
        ledger.open_budget("people", epsilon=5.0, delta=1e-5, counting=counting)
        monkeypatch.setattr(compute, "ledger", lambda: ledger)
        rows = question.file(question.tables[0], from_bytes=False).private
        yield SimpleNamespace(old=old, now=now if counting == "zcdp" else old, ledger=ledger, rows=rows)


def test_there_is_one() -> None:
    assert "model_confusion_gaussian" in {kind.key for kind in ANEW}


def charge(case: Any) -> Receipt:
    """As the program from before charged it."""
    receipt: Receipt = case.ledger.charge("old", "people", case.old.cost, sentence(case.old), **module._asked(case.old))
    return receipt


def undone(case: Any) -> list[tuple[str, str]]:
    """What a page tells of charges without an answer."""
    return [(one.request_id, one.state) for one in unanswered._unanswered("people", question_digests(case.now))]


def drawn_as_charged(case: Any, told: str) -> None:
    spent = case.ledger.budget("people").share_spent
    found = release(case.ledger, told, "people", case.now, case.rows)
    assert (found.request_id, found.mechanism, found.cost) == ("old", case.old.mechanism, case.old.cost)
    assert found.answer is not None
    assert case.ledger.budget("people").share_spent == spent, "its charge pays for it"
    assert undone(case) == []
    assert release(case.ledger, told, "people", case.now, case.rows) == found, "and never for another"


def charged(case: Any) -> None:
    charge(case)
    assert undone(case) == [("old", "charged")]
    drawn_as_charged(case, "old")


def failed(case: Any) -> None:
    """Drawn by the next click, whatever its own id is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(case.old), "answer", lambda self, rows: 1 / 0)
        with pytest.raises(ReleaseRefused, match=module.FAILED):
            release(case.ledger, "old", "people", case.old, case.rows)
    assert undone(case) == [("old", "failed")]
    drawn_as_charged(case, unanswered.paid("people", question_digests(case.now)))


def crashed(case: Any) -> None:
    """Told, and offered to nobody: the first answer may have been seen."""
    charge(case)
    case.ledger.begin_draw("old")
    assert undone(case) == [("old", "begun")]
    assert unanswered.charged("people", question_digests(case.now)) == []


def answered(case: Any) -> None:
    old = release(case.ledger, "old", "people", case.old, case.rows)
    assert panel.answered(page(case)).mine == [old]
    assert release(case.ledger, "old", "people", case.now, case.rows) == old
    new = looked(case)
    assert (new.request_id, new.mechanism, new.cost) == ("new", case.now.mechanism, case.now.cost), "who asks for more"
    assert panel.answered(page(case)).mine == [old, new]


def page(case: Any) -> Any:
    """A page that asks it now."""
    return SimpleNamespace(request=case.now, lineage="people", source=SimpleNamespace(drawn_from=""))


def looked(case: Any, request_id: str = "new", request: Any = None, known: Known | None = None) -> Receipt:
    """What a click brings that knows what its page knew, or what it is told."""
    known = panel.answered(page(case)).known if known is None else known
    return release(case.ledger, request_id, "people", request or case.now, case.rows, known=known)


def answered_since(case: Any) -> None:
    """A program from before answered between look and click."""
    seen = panel.answered(page(case)).known
    old = looked(case, "old", case.old)
    assert panel.answered(page(case)).known.answers == 1, "which the dialog tells"
    assert looked(case, known=seen) == old
    assert case.ledger.count("people") == 1
    new = looked(case)
    assert (new.request_id, new.mechanism) == ("new", case.now.mechanism), "who knows of it may ask again"
    assert looked(case, "late", known=Known(answers=1, record=seen.record)) == new
    later = looked(case, "later", case.old, known=panel.answered(page(case)).known)
    assert panel.answered(page(case)).mine == [old, new, later], "oldest first"
    assert looked(case, "late again", known=Known(answers=2, record=seen.record)) == later


def drawn_since(case: Any) -> None:
    """It is being drawn by a program from before."""
    seen = panel.answered(page(case)).known
    charge(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AWAITED", 1)
        with pytest.raises(ReleaseRefused, match="nothing more was charged"):
            looked(case, known=seen)
    assert case.ledger.count("people") == 1
    assert looked(case).request_id == "new", "as a crash left it, it keeps nobody from asking"


def spent_since(case: Any) -> None:
    """Nothing is left for one more, of which the ledger knows without asking again."""
    seen = panel.answered(page(case)).known
    old = looked(case, "old", case.old)
    spend(case.ledger, "people", case.now)
    with pytest.raises(BudgetExceeded):
        case.ledger.charge("more", "people", case.now.cost, "?", neighbours=case.now.neighbours)
    assert looked(case, known=seen) == old


def petition(case: Any) -> tuple[MembersLedger, MembersLedger]:
    """Two people, of whom one asked for what was asked before."""
    olga, anna = granting(case.ledger)
    olga.open_budget("all", epsilon=5.0, delta=1e-5, counting=case.ledger.budget("people").counting)
    olga.share("all", "anna at https://login.example", "ask")
    olga.set_limit("all", 0.1)
    ask(anna, "old", "all", case.old)
    return olga, anna


def found(anna: MembersLedger, case: Any) -> list[tuple[str, str, str]]:
    return [(one.request_id, one.state, one.unfit) for one in asked_before(anna, "all", case.now)]


def at_its_own_price(olga: MembersLedger, anna: MembersLedger, case: Any) -> None:
    """Beside a request that is open, what is asked for now is asked for as well, once; and either is drawn as it was
    asked for, at its own price. Where both are the same there is one, as a control."""
    new = "old" if case.now == case.old else "new"
    asked = {new: case.now, "old": case.old}
    made = [ask(anna, name, "all", case.now) for name in ("new", "again", "old")]
    assert [(one.request_id, one.cost) for one in made] == [(one, asked[one].cost) for one in (new, new, "old")]
    if new != "old":
        assert found(anna, case) == [("new", "waiting", ""), ("old", "granted", "")]
        olga.grant("new")
    assert found(anna, case) == [(name, "granted", "") for name in asked]
    for name, request in asked.items():
        drawn = release(anna, name, "all", case.now, case.rows)
        assert (drawn.request_id, drawn.mechanism, drawn.cost) == (name, request.mechanism, request.cost)


def granted(case: Any) -> None:
    olga, anna = petition(case)
    olga.grant("old")
    assert found(anna, case) == [("old", "granted", "")]
    drawn = release(anna, "old", "all", case.now, case.rows)
    assert (drawn.mechanism, drawn.cost, drawn.granted_by) == (
        case.old.mechanism,
        case.old.cost,
        "olga at https://login.example",
    )
    assert [(one.request_id, one.charged) for one in olga.petitions()] == [("old", True)]
    assert found(anna, case) == []
    assert ask(anna, "more", "all", case.now).mechanism == case.now.mechanism, "who asks for more"


def granted_beside(case: Any) -> None:
    olga, anna = petition(case)
    olga.grant("old")
    at_its_own_price(olga, anna, case)


def granted_and_charged(case: Any) -> None:
    olga, anna = petition(case)
    olga.grant("old")
    anna.charge("old", "all", case.old.cost, sentence(case.old), **module._asked(case.old))
    assert found(anna, case) == [("old", "granted", "")]
    assert ask(anna, "again", "all", case.now).request_id == "old"
    assert release(anna, "old", "all", case.now, case.rows).mechanism == case.old.mechanism
    assert anna.count("all") == 1


def waiting(case: Any) -> None:
    olga, anna = petition(case)
    assert found(anna, case) == [("old", "waiting", "")]
    with pytest.raises(ApprovalNeeded, match="waits"):
        release(anna, "old", "all", case.now, case.rows)
    assert len(olga.petitions()) == 1


def waiting_beside(case: Any) -> None:
    olga, anna = petition(case)
    ask(anna, "new", "all", case.now)
    assert [one.state for one in asked_before(anna, "all", case.now)] == ["waiting"] * len({case.now, case.old})
    olga.grant("old")
    at_its_own_price(olga, anna, case)


def refused(case: Any) -> None:
    olga, anna = petition(case)
    olga.refuse("old", "Not yet.")
    assert found(anna, case) == [("old", "refused", "")]
    with pytest.raises(ApprovalNeeded, match="refused"):
        release(anna, "old", "all", case.now, case.rows)
    new = ask(anna, "new", "all", case.now)
    assert (new.request_id, new.state, new.mechanism) == ("new", "waiting", case.now.mechanism)
    assert found(anna, case) == [("new", "waiting", "")]
    with pytest.raises(ApprovalNeeded, match="refused"):
        release(anna, "old", "all", case.now, case.rows)


WAYS: tuple[Callable[[Any], None], ...] = (
    charged,
    failed,
    crashed,
    answered,
    answered_since,
    drawn_since,
    spent_since,
    granted,
    granted_beside,
    granted_and_charged,
    waiting,
    waiting_beside,
    refused,
)
ways = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@ways
def test_what_there_is_from_before_is_found_and_drawn_as_it_was_charged(way: Callable[[Any], None], case: Any) -> None:
    way(case)


@ways
def test_these_tests_can_fail(way: Callable[[Any], None], case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With requests that stand in nobody's place; where ε adds up none does, and none is missed."""
    monkeypatch.setattr(type(case.now), "instead_of", ())
    if case.now == case.old:
        way(case)
    else:
        with pytest.raises((AssertionError, InvalidArgument, BudgetExceeded, pytest.fail.Exception)):
            way(case)


def spend(ledger: Ledger, lineage: str, request: Any) -> None:
    """All that one such answer needs."""
    while (budget := ledger.budget(lineage)).fits(request.cost, request.neighbours):
        ledger.charge(f"spent {budget.share_spent}", lineage, request.cost, "?", neighbours=request.neighbours)


def dear(case: Any) -> tuple[str, str]:
    """Why nothing is drawn for what was granted, where the budget has too little left for it; and what is asked for
    then."""
    olga, anna = petition(case)
    olga.grant("old")
    while (budget := olga.budget("all")).fits(case.old.cost, case.old.neighbours):
        spent = {"mechanism": "m", "neighbours": case.old.neighbours}
        case.ledger.charge(f"spent {budget.share_spent}", "all", Cost.pure(0.2), "?", **spent)
    ((_, _, unfit),) = found(anna, case)
    return unfit, ask(anna, "new", "all", case.now).request_id


def test_what_fits_no_more_keeps_nobody_from_what_does(case: Any) -> None:
    if case.now == case.old:
        with pytest.raises(BudgetExceeded):
            dear(case)
    else:
        unfit, new = dear(case)
        assert "nothing was charged" in unfit
        assert new == "new"


def test_what_stands_in_the_way_is_found_out(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_still_fitting", lambda ledger, petition: petition)
    if case.now == case.old:
        with pytest.raises(BudgetExceeded):
            dear(case)
    else:
        assert dear(case)[0] == "", "offered, though nothing can be drawn for it"


def test_another_question_of_before_is_not_this_one(case: Any) -> None:
    """At another ε, or where another relation is hidden."""
    others = (replace(case.now, epsilon=0.25), replace(case.now, neighbours="replace_one"))
    charge(case)
    for one in others:
        assert unanswered._unanswered("people", question_digests(one)) == []
        with pytest.raises(InvalidArgument, match="different question"):
            release(case.ledger, "old", "people", one, case.rows)


def test_what_nobody_could_ask_for_before_is_in_no_place() -> None:
    """At so small an ε the noise of the count by ε alone does not fit."""
    assert [len(count_of_hits(epsilon=epsilon, delta=0.9).instead_of) for epsilon in (1e-3, 1e-30)] == [1, 0]


def test_one_request_for_both_prices_is_found_out(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asked was given back what stood open at the other price. Where there is one price, it is the same."""
    asked_as = module._asked_as

    def given_back(*asked: Any, paid: bool = False) -> Any:
        return next(iter(module._instead_of(asked[-1])), asked[-1]) if paid else asked_as(*asked)

    monkeypatch.setattr(module, "_asked_as", given_back)
    if case.now == case.old:
        granted_beside(case)
    else:
        with pytest.raises(AssertionError):
            granted_beside(case)
