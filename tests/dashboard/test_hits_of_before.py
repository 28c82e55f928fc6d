"""Hits of a model that a program from before charged, by ε alone, in a budget in ρ, which the page counts otherwise by
now: they are told and drawn there, and nobody pays again. Where ε adds up nothing has changed, as a control."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.question import RELEASE
from dashboard.words import release as said
from dpcore.datasets import Declaration, sample_rows
from dpcore.ledger import Receipt
from dpcore.ledger.budget import Counting
from dpcore.release import _asked, sentence
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from tests.dashboard.conftest import text
from tests.dashboard.test_draw_beside import ledger, press
from tests.dashboard.test_hits_page import CLINIC, SAMPLE
from tests.questions.samples import sample_case

pytestmark = pytest.mark.thorough
Open = Callable[..., AppTest]
counted = pytest.mark.parametrize("counting", ["zcdp", "sum"])


def from_before(idle_app: Open, file: Path, counting: Counting, state: str) -> AppTest:
    """The release of a model's hits at a count that was charged before: nothing became of it, or it was answered."""
    with ledger(file) as found:
        found.open_budget(CLINIC, epsilon=3.0, delta=1e-5, counting=counting, practice=True, name="Clinic")
    app = press(idle_app("training", data=SAMPLE, training_target="returned"), "training-now-0")
    with ledger(file) as found:
        (model,) = found.history(CLINIC)
        declared = Declaration.of(sample_case("clinic").table.schema)
        old = ModelConfusion.of(declared, model.answer, drawn=model.journal_hash, epsilon=0.5, neighbours="add_remove")
        found.charge("old", CLINIC, old.cost, sentence(old), **_asked(old))
        if state != "charged":
            found.begin_draw("old")
        if state == "answered":
            found.store_answer("old", old.answer(sample_rows("clinic")))
    app = press(app, "training-then")
    app.session_state["hits_open"] = RELEASE
    return app.run()


def spent(file: Path) -> tuple[list[Receipt], float]:
    with ledger(file) as found:
        return found.history(CLINIC)[1:], found.budget(CLINIC).share_spent


def draw_what_was_charged(app: AppTest, file: Path) -> None:
    _, before = spent(file)
    assert "was charged for this question" in text(app)
    press(app, "hits-draw-old")
    (hits,), after = spent(file)
    assert (hits.mechanism, after) == (ModelConfusion.mechanism, before)
    assert hits.answer is not None
    assert "Right about **" in text(app)
    assert "was charged for this question" not in text(app)


@counted
def test_a_charge_without_an_answer_is_told_and_drawn_free_of_charge(
    counting: Counting, idle_app: Open, ledger_file: Path
) -> None:
    draw_what_was_charged(from_before(idle_app, ledger_file, counting, "charged"), ledger_file)


@counted
def test_one_that_was_begun_is_told_and_not_drawn(counting: Counting, idle_app: Open, ledger_file: Path) -> None:
    app = from_before(idle_app, ledger_file, counting, "begun")
    assert "its draw began, and no answer is stored" in text(app)
    assert not [one for one in app.button if str(one.key).startswith("hits-draw")]


@counted
def test_an_answer_stands_under_its_question_beside_the_next(
    counting: Counting, idle_app: Open, ledger_file: Path
) -> None:
    app = from_before(idle_app, ledger_file, counting, "answered")
    assert "Right about **" in text(app)
    assert said.BEFORE in text(app)
    assert app.button(key="hits-begin").label == said.DRAW_MORE
    press(app, "hits-now-1")
    hits, _ = spent(ledger_file)
    now = GaussianConfusion if counting == "zcdp" else ModelConfusion
    assert [one.mechanism for one in hits] == [ModelConfusion.mechanism, now.mechanism]
    assert "Right about **" in text(app)


def test_a_page_that_knows_of_no_question_from_before_is_found_out(
    idle_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GaussianConfusion, "instead_of", ())
    app = from_before(idle_app, ledger_file, "zcdp", "charged")
    with pytest.raises(AssertionError):
        draw_what_was_charged(app, ledger_file)
