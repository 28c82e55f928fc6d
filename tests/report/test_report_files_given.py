# ruff: noqa: F811  (a fixture is asked for by its name)
"""A file that tells of an answer or a budget is given to who may see that at the click, whenever it was made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import pytest
import streamlit as st

from dashboard.blocks import Download, Text
from dashboard.report import panel
from dashboard.report.render import MIMES
from dashboard.report.value import Report
from dashboard.widgets import picture, release
from dashboard.widgets.receipt_file import GONE, seen_still
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger
from tests.report.made import report
from tests.report.test_report_rights import SECTIONS, drawn, member, subject, whole  # noqa: F401  (a fixture)


@pytest.fixture
def anna(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A page of hers, to whom Olga's budget is open."""
    found = member(whole, "anna")
    monkeypatch.setattr("dashboard.background.compute.ledger", lambda: found)
    monkeypatch.setattr("dashboard.background.compute.opens", lambda: None)
    monkeypatch.setattr("dashboard.background.compute.sees_all", lambda: False)
    monkeypatch.setattr("dashboard.people.login.person", lambda: "anna")
    monkeypatch.setattr("dashboard.people.login.still", lambda: lambda: True)
    monkeypatch.setattr("dashboard.budget.tracker.trouble", lambda: None)
    return found


def take_away(whole: Ledger) -> None:
    member(whole, "olga").share("people", subject("anna"), "none")


def made_of(anna: Any, kind: str) -> Report:
    return report(SECTIONS[kind]("people", [drawn(anna, "people", number) for number in range(2)]))


@pytest.mark.parametrize("guarded", [True, False], ids=["", "control"])
@pytest.mark.parametrize("kind", SECTIONS)
def test_a_report_is_given_while_its_budget_may_be_seen(
    whole: Ledger,
    anna: Any,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    guarded: bool,
) -> None:
    """In every form, sealed or not: the bytes were made before the share was taken away."""
    made = made_of(anna, kind)
    if not guarded:
        monkeypatch.setattr(panel, "_tells", lambda report: False)
    files = {form: panel._sealing(made, form, b"<html><body>made</body></html>") for form in ("html", "py", "ipynb")}
    assert {*files} & {*MIMES}
    assert all(give() for give in files.values())
    take_away(whole)
    for give in files.values():
        if guarded:
            with pytest.raises(LedgerError, match=GONE[:30]):
                give()
        else:
            assert give()


@pytest.mark.parametrize("why", ["logged out", "closed"])
def test_nor_where_nobody_can_be_asked(anna: Any, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_of(anna, "a budget")
    give = panel._sealing(made, "html", b"<html><body>made</body></html>")
    if why == "logged out":
        monkeypatch.setattr("dashboard.people.login.still", lambda: lambda: False)
    else:

        def closed() -> Ledger:
            raise LedgerUnsound("closed")

        monkeypatch.setattr("dashboard.background.compute.ledger", closed)
    late = panel._sealing(made, "html", b"<html><body>made</body></html>")
    with pytest.raises(LedgerError):
        late()
    assert give(), "who was asked before may be asked now"
    monkeypatch.setattr("dashboard.background.compute.sees_all", lambda: True)
    assert panel._sealing(made, "html", b"made")(), "whose ledger it is has its reports while it is closed"


def test_the_page_says_so_and_offers_no_file(whole: Ledger, anna: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Report] = []
    monkeypatch.setattr(panel, "_files", lambda report, key: offered.append(report))
    monkeypatch.setattr(panel.held, "made_on", lambda digest: "now")
    monkeypatch.setattr(panel.held.TYPED, "get", dict)
    monkeypatch.setattr(panel.held.LOGO, "get", lambda: None)
    told: list[str] = []
    monkeypatch.setattr(st, "warning", lambda sentence, **_: told.append(sentence))
    sections = made_of(anna, "an answer").sections
    panel.write(sections, "key", "A report")
    assert len(offered) == 1
    take_away(whole)
    panel.write(sections, "key", "A report")
    assert len(offered) == 1
    assert told[-1] == panel.said.NOT_SEEN


def test_so_are_files_of_a_chart_of_a_budget_and_below_an_answer(
    whole: Ledger,
    anna: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receipt = drawn(anna, "people", 1)
    given: list[Callable[[], object]] = []
    monkeypatch.setattr(picture, "download", lambda label, make, *_, **__: given.append(make))
    monkeypatch.setattr(st, "segmented_control", lambda *_, **__: None)
    still = partial(seen_still, (), budgets=("people",))
    picture._menu({}, "k", "alt", pd.DataFrame({"a": [1.0]}), "code", None, still)
    below = release._as_seen(receipt, Download(label="Model", data=lambda: "model", name="m.json"))
    assert isinstance(below, Download)
    given.append(below.data)
    assert isinstance(release._as_seen(receipt, Text("told")), Text)
    assert [bool(give()) for give in (given[0], given[2], given[3])] == [True] * 3
    take_away(whole)
    for give in given:
        with pytest.raises(LedgerError):
            give()
