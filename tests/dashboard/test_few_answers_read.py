"""A page reads the newest few answers to its question, however many it has had, and says how many there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background.once import forget_all
from dashboard.widgets import release as panel
from dashboard.words import release as said
from dpcore.ledger import Ledger, Receipt
from dpcore.release import question_digest
from tests.dashboard.asking import Draw
from tests.dashboard.conftest import CLINIC, text
from tests.dashboard.test_draw_beside import shown as shown_beside
from tests.dashboard.test_release_panel import shown as shown_panel

OWN = "ours"
FEW, MANY = 3, 3 * panel.NEWEST


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, ledger_file: Path) -> Callable[..., tuple[AppTest, list[str]]]:
    """A page about people whose question was answered so often, and the requests of which it reads the answer."""
    found: list[str] = []
    of = Receipt.of.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, charge: Any, answer: Any, **more: Any) -> Any:
        found.extend([charge.request_id] if answer is not None else [])
        return of(cls, charge, answer, **more)

    def go(many: int, lineage: str, draw: Callable[..., None], *asked: Any) -> tuple[AppTest, list[str]]:
        forget_all()
        request = Draw(epsilon=0.5)
        told = {"mechanism": request.mechanism, "neighbours": request.neighbours, "question": question_digest(request)}
        with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
            ledger.open_budget(lineage, epsilon=100.0, practice=lineage == CLINIC)
            for number in range(ledger.count(lineage), many):
                ledger.charge(f"{lineage} {number}", lineage, request.cost, request.what, **told)
                ledger.begin_draw(f"{lineage} {number}")
                ledger.store_answer(f"{lineage} {number}", {"number": 1000 + number})
            assert ledger.answered_ids(lineage, told["question"]) == [f"{lineage} {number}" for number in range(many)]
        with monkeypatch.context() as then:
            then.setattr(Receipt, "of", classmethod(counted))
            found.clear()
            app = AppTest.from_function(draw, args=(None if lineage == CLINIC else lineage, *asked)).run(timeout=600)
        assert not app.exception, [error.value for error in app.exception]
        return app, list(found)

    return go


WHERE: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "below": (shown_panel, (0.5, 0.0, "")),
    "beside": (shown_beside, ()),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("lineage", [CLINIC, OWN])
def test_the_newest_are_read_however_many_there_are(
    read: Callable[..., tuple[AppTest, list[str]]], lineage: str, where: str
) -> None:
    draw, asked = WHERE[where]
    for many in (FEW, MANY):
        _, found = read(many, lineage, draw, *asked)
        newest = [f"{lineage} {number}" for number in range(many)][-panel.NEWEST :]
        assert sorted(found) == sorted(newest), "each once"


def test_one_that_reads_all_is_found_out(
    read: Callable[..., tuple[AppTest, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "NEWEST", 10**6)
    assert len(read(MANY, CLINIC, shown_panel, 0.5, 0.0, "")[1]) == MANY


def test_how_many_there_are_is_said(read: Callable[..., tuple[AppTest, list[str]]]) -> None:
    """Below and beside; the rest stands on the Budget page."""
    for many in (FEW, MANY):
        more = said.more_before(MANY - panel.NEWEST)
        app, _ = read(many, CLINIC, shown_panel, 0.5, 0.0, "")
        assert (more in text(app)) == (many == MANY)
        assert "Number 1000" in text(app) or many == MANY
        app, _ = read(many, CLINIC, shown_beside)
        assert f"the last of {many}" in text(app)
        assert [one.key for one in app.button if one.key == f"test-now-{many}"], "a late click is known by it"
