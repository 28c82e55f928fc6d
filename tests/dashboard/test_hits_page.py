"""From a model that was drawn, in one click, to a private count of how often it is right: of practice, in process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import traces
from dashboard.budget import visitor
from dashboard.question import RELEASE
from dashboard.questions.training.hits import ASKED, Hits
from dashboard.words import hits as said
from dashboard.words import safe
from dpcore.datasets import sample
from dpcore.ledger import Ledger
from dpcore.training.confusion import CELLS
from tests.dashboard.conftest import TOKEN, text
from tests.dashboard.test_draw_beside import ledger, press

Open = Callable[..., AppTest]
CLINIC = Ledger.practice_lineage(TOKEN, "clinic")
SAMPLE = sample("clinic").title


@pytest.fixture
def drawn(idle_app: Open, ledger_file: Path) -> AppTest:
    """The page of private training about a sample, a model of two classes drawn; no picture is waited for."""
    app = idle_app("training", data=SAMPLE, training_target="returned")
    return press(app, "training-now-0")


def test_before_a_model_is_drawn_one_sentence_says_how_to_get_one(idle_app: Open) -> None:
    app = idle_app("training", data=SAMPLE, training_question=Hits.key)
    assert safe(said.NO_MODEL, 2000) in text(app)
    assert not [button for button in app.button if str(button.key).startswith("hits-now")]


def test_one_click_leads_from_a_model_to_its_hits_and_another_counts_them(
    drawn: AppTest, idle_app: Open, ledger_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charged to the same budget, kept after a refresh, and nothing of it shown to or kept for another visitor."""
    lead = drawn.button(key="training-then")
    assert lead.label == said.LEADS_SAMPLE
    kept = len(traces.EVERYBODYS.askings)
    app = press(drawn, "training-then")
    assert "the private count tells how often this model is right" in text(app)
    assert "always saying “no”" in text(app)
    assert "ε = 0.5" in app.button(key="hits-now-0").label
    press(app, "hits-now-0")
    assert "Right about **" in text(app)
    with ledger(ledger_file) as found:
        model, hits = found.history(CLINIC)
    assert set(hits.answer) == set(CELLS)
    assert model.journal_hash[:12] in hits.what
    assert hits.cost.epsilon == 0.5
    assert hits.cost.delta == 0.0
    assert len(traces.EVERYBODYS.askings) == kept, "what one visitor drew is kept in their session alone"
    assert not [key for key in app.query_params if key.startswith("hits_model")]
    again = idle_app("training", data=SAMPLE, training_question=Hits.key)
    assert "Right about **" in text(again)
    monkeypatch.setattr(visitor, "token", lambda: "f" * 32)
    assert safe(said.NO_MODEL, 2000) in text(idle_app("training", data=SAMPLE, training_question=Hits.key))


def test_every_tab_and_axis_of_it_is_drawn(drawn: AppTest, idle_app: Open) -> None:
    app = press(drawn, "training-then")
    for axis in ("n", "both"):
        app.segmented_control(key="hits_axis").set_value(axis).run()
        assert not app.exception
    seen = {
        "how": "Each row is put into one of four cells",
        "what_if": "the chart above answers",
        RELEASE: "What leaves",
    }
    for tab, words in seen.items():
        app = idle_app("training", data=SAMPLE, training_question=Hits.key, hits_open=tab)
        assert words in text(app)
        assert not app.error, tab
    assert "The model was made from these very rows" in text(app)


def test_a_model_of_a_number_leads_nowhere(idle_app: Open) -> None:
    app = idle_app("training", data=SAMPLE, training_target="age")
    press(app, "training-now-0")
    assert "A model that predicts “age”" in text(app)
    assert not [button for button in app.button if str(button.key).endswith("-then")]
    app.segmented_control(key=ASKED).set_value(Hits.key).run()
    assert "1 model of a number" in text(app)
