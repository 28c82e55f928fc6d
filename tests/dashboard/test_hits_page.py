"""From a model that was drawn, in one click, to a private count of how often it is right: of practice, in process."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, traces
from dashboard.background import compute
from dashboard.budget import tracker, visitor
from dashboard.budget.models import NEWEST
from dashboard.case import Case, DrawnModel, Source
from dashboard.controls import Read
from dashboard.question import RELEASE, Question
from dashboard.questions.training import predict_controls
from dashboard.questions.training.hits import ASKED, Hits
from dashboard.view import EPSILON
from dashboard.widgets import finger, page
from dashboard.words import hits as said
from dashboard.words import safe, sentence
from dashboard.words.release import share
from dpcore.audit.drawn import drawn_model
from dpcore.costs import Cost
from dpcore.datasets import Declaration, sample
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.budget import Counting
from dpcore.ledger.records import Record
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.training.confusion import CELLS
from dpcore.training.model import KIND
from tests.dashboard.conftest import TOKEN, text
from tests.dashboard.test_draw_beside import ledger, press
from tests.questions.samples import models, sample_case

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


def parts_of(told: str) -> set[str]:
    """Which parts of the budget a page says that an answer takes."""
    return set(re.findall(r"about \d+ in 100 of the budget|less than 1 in 100 of the budget", told))


@pytest.mark.parametrize("counting", ["zcdp", "sum"])
def test_before_it_is_drawn_a_count_says_the_part_that_is_charged(
    counting: str, idle_app: Open, ledger_file: Path
) -> None:
    """In ρ that of a model, at one ε and δ; it was four times as much. Where ε adds up it was and is the ε."""
    with ledger(ledger_file) as found:
        found.open_budget(CLINIC, epsilon=3.0, delta=1e-5, counting=counting, practice=True, name="Clinic")
    app = idle_app("training", data=SAMPLE, training_target="returned", training_open=RELEASE)
    before = parts_of(text(app))
    app = press(app, "training-now-0")
    app = press(app, "training-then")
    app.session_state["hits_open"] = RELEASE
    app = app.run()
    said_before = parts_of(text(app))
    assert (said.IN_RHO in text(app)) == (counting == "zcdp")
    app = press(app, "hits-now-0")
    assert "Right about **" in text(app)
    with ledger(ledger_file) as found:
        model, hits = found.history(CLINIC)
        budget = found.budget(CLINIC)
    whole = budget.untouched
    assert len(said_before) == 1
    assert said_before == {share(whole.share_of(hits.cost, hits.neighbours) or 0.0)}
    assert budget.share_spent == pytest.approx(
        sum(whole.share_of(one.cost, one.neighbours) or 0.0 for one in (model, hits))
    )
    assert (hits.cost.epsilon, hits.cost.delta) == (0.5, 1e-6 if counting == "zcdp" else 0.0)
    assert hits.mechanism == (GaussianConfusion if counting == "zcdp" else ModelConfusion).mechanism
    if counting == "zcdp":
        assert said_before == before
        assert hits.cost.rho == model.cost.rho
        alone = whole.share_of(Cost.pure(0.5), hits.neighbours) or 0.0
        assert share(alone) not in said_before, "or the price of the other kind would not be found out"


def test_what_follows_the_finger_is_said_anew_where_the_budget_counts_otherwise(
    drawn: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's own budget is opened after its picture was looked at; whatever else is read for it."""
    counting: list[Counting] = ["sum"]
    handed: list[list[str]] = []
    steps, ask = finger._steps, Hits.ask

    def reading(case: Case, read: Read) -> Question:
        read(predict_controls.delta(case))
        return ask(case, read)

    def noted(levels: list[dict[str, Any]]) -> Any:
        handed.append([str(level["headline"]) for level in levels if level])  # few of them are asked
        return steps(levels)

    monkeypatch.setattr(tracker, "counting", lambda source: counting[0])
    monkeypatch.setattr(finger, "_steps", noted)
    monkeypatch.setattr(Hits, "ask", staticmethod(reading))
    app = press(drawn, "training-then").run()
    assert len(handed) == 1
    counting[0] = "zcdp"
    app.run()
    assert len(handed) == 2
    assert handed[0] != handed[1]


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
    assert "The model was made from the very rows that are counted" in text(app)


def test_a_model_of_a_number_leads_nowhere(idle_app: Open) -> None:
    app = idle_app("training", data=SAMPLE, training_target="age")
    press(app, "training-now-0")
    assert "A model that predicts “age”" in text(app)
    assert not [button for button in app.button if str(button.key).endswith("-then")]
    app.segmented_control(key=ASKED).set_value(Hits.key).run()
    assert "1 model of a number" in text(app)


def model_box(app: AppTest) -> Any:
    (box,) = (one for one in app.selectbox if str(one.key).startswith("hits_model"))
    return box


MANY = 6
WHAT = "How often is it right?"


def add_models(file: Path, numbers: range) -> None:
    """Drawn elsewhere about these people, each by other columns."""
    declared = Declaration.of(sample_case("clinic").table.schema)
    with ledger(file) as found:
        for number in numbers:
            model = drawn_model(declared, target="returned", columns=["age", "day", "complaint"][: 1 + number % 3])
            found.charge(f"model {number}", CLINIC, Cost.pure(0.001), WHAT, mechanism="m", neighbours="add_remove")
            found.begin_draw(f"model {number}")
            found.store_answer(f"model {number}", model)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests whose models are read out of the ledger, one after the other."""
    found: list[str] = []
    contents = Record.content

    def content(record: Record) -> Any:
        if record.kind == "answer" and KIND in record.body:
            found.append(record.request_id)
        return contents.__get__(record)

    monkeypatch.setattr(Record, "content", property(content))
    return found


def run_again(app: AppTest, read: list[str]) -> list[str]:
    """What one more run reads."""
    read.clear()
    app.run()
    assert not app.exception
    return list(read)


def test_a_run_reads_no_model_that_was_read_before(drawn: AppTest, ledger_file: Path, read: list[str]) -> None:
    """None of those that are only listed, whatever is set and whatever else is drawn about these people; each model
    once, and the one that is chosen once more."""
    add_models(ledger_file, range(MANY))
    read.clear()
    app = press(drawn, "training-then")
    assert len(model_box(app).options) == MANY + 1
    assert len(set(read)) == MANY + 1
    assert len(read) == MANY + 2
    assert run_again(app, read) == []
    app.session_state[EPSILON.key] = 0.3
    assert run_again(app, read) == []
    with ledger(ledger_file) as found:
        latest = found.history(CLINIC, kind=KIND)[-1]
    model_box(app).set_value(latest.journal_hash)
    assert run_again(app, read) == [latest.request_id]
    assert run_again(app, read) == []
    with ledger(ledger_file) as found:
        found.charge("other", CLINIC, Cost.pure(0.001), "How many?", mechanism="m", neighbours="add_remove")
        found.begin_draw("other")
        found.store_answer("other", 7)
    assert run_again(app, read) == []
    add_models(ledger_file, range(MANY, MANY + 1))
    assert run_again(app, read) == [f"model {MANY}"]
    assert len(model_box(app).options) == MANY + 2


@pytest.mark.parametrize("lost", [None, LedgerError("the ledger is away for a moment")])
def test_a_model_that_cannot_be_read_is_told_in_a_sentence(
    lost: LedgerError | None, drawn: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as of a budget that is not this person's any more, or where the ledger's server is gone meanwhile."""

    def receipt(*_: object) -> None:
        if lost is not None:
            raise lost

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "receipt", receipt)
        app = press(drawn, "training-then")
        assert safe(said.GONE if lost is None else sentence(lost), 2000) in text(app)
        assert not app.error
    assert "the private count tells how often this model is right" in text(app.run())


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["data", "budget", *(one.key for one in catalogue.pages())])
def test_no_page_reads_models_again_in_each_run(key: str, idle_app: Open, ledger_file: Path, read: list[str]) -> None:
    with ledger(ledger_file) as found:
        found.open_practice(TOKEN, "clinic", epsilon=3.0)
    add_models(ledger_file, range(MANY))
    app = idle_app(key, data=SAMPLE)
    assert run_again(app, read) == []


def test_that_can_fail(drawn: AppTest, ledger_file: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With all of them read in each run, as they once were."""

    def whole(source: Source) -> tuple[DrawnModel, ...]:
        receipts = compute.ledger().history(str(source.lineage), newest=NEWEST, kind=KIND)
        return tuple(
            DrawnModel(receipt=one.journal_hash, answer=lambda one=one: one.answer, when=one.time, same=True)  # type: ignore[misc]
            for one in reversed(receipts)
        )

    add_models(ledger_file, range(MANY))
    monkeypatch.setattr(page, "drawn_models", whole)
    app = press(drawn, "training-then")
    assert len(run_again(app, read)) == MANY + 1


def test_a_model_is_found_behind_however_many_other_answers(drawn: AppTest, ledger_file: Path) -> None:
    """Answers that speak of a model are none, and a later model does not take the place of the one that is named."""
    with ledger(ledger_file) as found:
        (first,) = found.history(CLINIC)
        for number in range(NEWEST + 5):
            asked = f"other {number}"
            found.charge(asked, CLINIC, Cost.pure(0.001), "How many?", mechanism="m", neighbours=first.neighbours)
            found.begin_draw(asked)
            found.store_answer(asked, {"says": f'"kind":"{KIND}"'} if number % 2 else number)
    app = press(drawn, "training-then")
    assert safe(said.NO_MODEL, 2000) not in text(app)
    assert model_box(app).value == first.journal_hash
    assert len(model_box(app).options) == 1
    app.segmented_control(key=ASKED).set_value("predict").run()
    app.session_state[EPSILON.key] = 0.3
    app = press(app.run(), "training-now-0")
    with ledger(ledger_file) as found:
        two = [one.journal_hash for one in found.history(CLINIC, kind=KIND)]
    assert len(two) == 2
    assert two[0] == first.journal_hash
    app.session_state[EPSILON.key] = 0.5
    app = press(app.run(), "training-then")
    assert model_box(app).value == first.journal_hash, "the one whose answer was clicked, not the latest"
    assert said.NOT_OFFERED not in text(app)


def answered(found: Ledger, answer: Any) -> None:
    request = f"r{found.count(CLINIC, every_generation=True)}"
    found.charge(request, CLINIC, Cost.pure(0.001), "What?", mechanism="m", neighbours="add_remove")
    found.begin_draw(request)
    found.store_answer(request, answer)


EVENTS: dict[str, Callable[[Ledger], object]] = {
    "model": lambda found: answered(found, models("clinic")[0].answer()),
    "other": lambda found: answered(found, 7),
    "reset": lambda found: found.reset_practice(CLINIC),
    "undo": lambda found: found.undo_reset(CLINIC),
}


@pytest.mark.parametrize(
    ("story", "alone"),
    [
        ("model", True),
        ("other model other", True),
        ("other reset model", True),
        ("model model", False),
        ("model reset model", False),
        ("model reset other model", False),
        ("model reset reset model", False),
        ("model model reset model", False),
        ("model reset undo", True),
    ],
)
def test_a_model_is_alone_where_no_other_was_drawn_also_before_a_reset(
    story: str, alone: bool, idle_app: Open, ledger_file: Path
) -> None:
    """Of twelve, each drawn after a reset, the last was kept and said to have learned nothing by heart."""
    with ledger(ledger_file) as found:
        found.open_practice(TOKEN, "clinic", epsilon=1.0, delta=1e-5, name="Clinic")
        for event in story.split():
            EVENTS[event](found)
    app = idle_app("training", data=SAMPLE, training_question=Hits.key, hits_open="how")
    assert len(model_box(app).options) == story.rpartition("reset")[2].count("model") or story.endswith("undo")
    assert ("its privacy keeps it from learning" in text(app)) == alone
    assert (safe(said.SEVERAL, 2000) in text(app) or said.SEVERAL in text(app)) != alone


def test_a_model_that_is_not_offered_any_more_is_not_silently_another(
    drawn: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told once, before anything can be drawn of the other one."""
    monkeypatch.setattr(page, "drawn_models", lambda _: models("clinic"))
    app = press(drawn, "training-then")
    assert said.NOT_OFFERED in [one.value for one in app.warning]
    assert model_box(app).value == models("clinic")[0].receipt
    assert said.NOT_OFFERED not in [one.value for one in app.run().warning]


def test_whatever_a_click_names_and_a_page_does_not_offer_is_told(
    idle_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every control that an answer leads to, also of one without words of its own for that."""
    monkeypatch.setattr(said, "NOT_OFFERED", "")
    app = idle_app("training", data=SAMPLE, training_target="returned")
    press(app, "training-now-0")
    monkeypatch.setattr(page, "drawn_models", lambda _: models("clinic"))
    app = press(app, "training-then")
    assert any("not offered under" in one.value and said.MODEL in one.value for one in app.warning)
    assert not any("The link" in one.value for one in app.warning)
