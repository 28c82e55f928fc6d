"""The Private training page, driven as a person would, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.background.in_turn import InTurn
from dashboard.background.workers import Workers
from dashboard.blocks import Picture
from dashboard.case import Source
from dashboard.catalogue import address
from dashboard.questions.training import curves
from dashboard.questions.training.prepared_rows import usable
from dashboard.widgets.earlier import Place
from dashboard.words.needs import ON_AVERAGE, or_size
from dashboard.words.page import CLUSTER_AWAY
from dpcore.datasets import load_sample
from dpcore.ledger import Ledger
from dpcore.training import collect, load_model, run_slice
from tests.dashboard.conftest import APP, TOKEN, rested, text
from tests.questions.test_training import asked_of

Open = Callable[..., AppTest]
TUMOURS = "Breast tumours, 569 biopsies"
FEW = ("mean radius", "mean texture", "mean smoothness")


def wait(app: AppTest) -> AppTest:
    """A browser runs the polling fragments; here the whole script runs again until nothing is under way."""
    app.run()
    while any(str(button.key).endswith("-cancel-job") for button in app.button):
        rested(app)
    assert not app.exception, [error.value for error in app.exception]
    return app


def trained(open_app: Open, sample: str = TUMOURS, columns: tuple[str, ...] = FEW) -> AppTest:
    """The page on three columns of a sample, finished."""
    app = open_app("training", data=sample)
    key, target = ("breast_cancer", "diagnosis") if sample == TUMOURS else ("wine", "alcohol")
    if sample != TUMOURS:
        app.selectbox(key="training_target").set_value(target).run()
    app.multiselect(key=f"training_columns-{key}-{target}").set_value(list(columns)).run()
    return wait(app)


def open_tab(app: AppTest, name: str) -> AppTest:
    app.session_state["training_tab"] = name
    return wait(app)


@pytest.mark.thorough
def test_the_first_view_agrees_with_the_engine(open_app: Open) -> None:
    """The headline's three numbers are those of the same sweep run here, at an ε that is one of its levels."""
    app = trained(open_app)
    app.number_input(key="epsilon-typed").set_value(1.0).run()
    question = asked_of("breast_cancer", 1.0, **{"training_columns-breast_cancer-diagnosis": FEW})
    sweep = question.works[0].common()
    parts = [part for part in sweep.parts() if part.method in ("noisy_gradient_descent", "non_private")]
    frame = collect(sweep, [run_slice(sweep, part) for part in parts])
    value = 100 * frame[frame["metric"] == "accuracy"].set_index(["method", "epsilon"])["value"]
    said = text(app)
    private = float(said.split("is right about **")[1].split(" times")[0])
    assert private == pytest.approx(value["noisy_gradient_descent", 1.0], rel=6e-3)  # said to three digits
    assert float(said.split("Without privacy ")[1].split(" in 100")[0]) == pytest.approx(
        value["non_private", 1.0], rel=6e-3
    )
    assert float(said.split("commonest (")[1].split(")")[0]) == pytest.approx(value["majority_class", 1.0], rel=6e-3)
    told = {one.label: one.value for one in app.metric}
    cost = float(told["Privacy costs"].split(" in 100")[0])
    assert float(told["Private at ε = 1, on average"]) == private, (
        "the three stand next to each other, in the same numbers"
    )
    assert float(told["Without privacy, right of 100"]) - private == pytest.approx(cost, abs=1e-9)


@pytest.mark.thorough
def test_every_axis_is_drawn_and_every_tab_opens(open_app: Open) -> None:
    app = trained(open_app)
    for axis in curves.Curves.axes:
        app.segmented_control(key="training_axis").set_value(axis).run()
        wait(app)
        assert len(app.get("plotly_chart")) >= 3, axis
        assert not app.error, axis
    for tab in (
        *("How far to trust it", "Descent as it happens", "More steps, more clipping", "What the textbook spends"),
        *("Simple problems", "What if", "A private answer"),
    ):
        app = open_tab(app, tab)
        assert not app.error, tab
        assert not app.warning, tab


@pytest.mark.thorough
def test_a_number_is_predicted_with_its_error(open_app: Open) -> None:
    app = trained(open_app, "Italian wines, 178 bottles", ("malic_acid", "ash", "hue"))
    assert "the private model's squared error is about" in text(app)
    app.segmented_control(key="training_metric-squared_error").set_value("excess_risk").run()
    assert len(app.get("plotly_chart")) >= 2


@pytest.mark.thorough
def test_cancel_keeps_what_is_there_and_can_go_on(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()
    monkeypatch.setattr(compute, "pool", lambda: held)
    app = open_app("training", data=TUMOURS)
    assert "the first private models are being trained" in text(app)
    held.run(3)
    app.run()
    assert CLUSTER_AWAY not in text(app)
    monkeypatch.setattr(compute, "cluster_is_away", lambda: True)
    app.run()
    under_way = [button for button in app.button if button.label == "Cancel"]
    assert text(app).count(CLUSTER_AWAY) == len(under_way) > 0, "as long as it works here in its place"
    under_way[0].click().run()
    assert text(app).count(CLUSTER_AWAY) == len(under_way) - 1
    assert not app.exception
    held.run(99)
    app.run()
    assert [button.label for button in app.button].count("Go on") == 1
    assert "Stopped before all models were trained" in text(app)  # and nothing is read off half a curve
    assert not any(metric.label == "smallest ε" for metric in app.metric)
    assert app.get("progress")[0].proto.text.startswith("Stopped at 2 of ")
    next(button for button in app.button if button.label == "Go on").click().run()
    assert " 2 of " in app.get("progress")[0].proto.text
    for _ in range(30):
        held.run(9)
    app.run()
    assert "is right about" in text(app)
    assert "Go on" not in [button.label for button in app.button]
    assert len(held.worked) == len(set(held.worked))


@pytest.mark.thorough
def test_how_many_rows_would_do_is_said_when_it_is_known(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the curve against the number of rows is still being simulated, nobody knows that none would do."""
    held = Held()
    monkeypatch.setattr(compute, "pool", lambda: held)
    app = open_app("training", data=TUMOURS)
    app.segmented_control(key="training_axis").set_value("n").run()
    while held.queue:
        held.run(1)
    app.run()  # the second sweep begins
    assert held.queue
    said = {metric.label: metric.value for metric in app.metric}
    assert said[ON_AVERAGE] != "–"
    assert or_size("rows") not in said
    while held.queue:
        held.run(1)
    app.run()
    assert or_size("rows") in {metric.label for metric in app.metric}


@pytest.mark.thorough
def test_a_class_too_rare_for_the_test_rows_is_answered(open_app: Open) -> None:
    """Then always guessing the commonest is never wrong there: no goal above it to begin with."""
    app = open_app("training", data="142 countries in 2007")
    next(box for box in app.selectbox if box.label.startswith("The class to tell")).set_value("Oceania").run()
    wait(app)
    assert "is right about" in text(app)


@pytest.mark.thorough
def test_another_visitor_shares_what_is_under_way(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a refresh, which is a new session, goes on where the page was, and cancelling there stops nobody else."""
    held = Held()
    monkeypatch.setattr(compute, "pool", lambda: held)
    first = open_app("training", data=TUMOURS)
    held.run(3)
    second = AppTest.from_file(str(APP), default_timeout=60)
    second.query_params["data"] = TUMOURS
    second.run()
    second.switch_page("questions/training/page.py").run()
    assert " 2 of " in second.get("progress")[0].proto.text
    next(button for button in second.button if button.label == "Cancel").click().run()
    for _ in range(30):
        held.run(9)
    first.run()
    assert "is right about" in text(first)
    assert len(held.worked) == len(set(held.worked))


@pytest.mark.thorough
def test_the_earlier_picture_stays_in_grey_until_the_new_one_is_there(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a sign in the picture and words below it; then the new one fills in."""
    held = Held()
    monkeypatch.setattr(compute, "pool", lambda: held)
    app = open_app("training", data=TUMOURS)

    def grey() -> bool:
        charts = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
        signs = [note["text"] for chart in charts for note in chart["layout"].get("annotations", [])]
        assert ("the earlier question" in signs) == ("In grey: “diagnosis” from 30 columns" in text(app))
        return "the earlier question" in signs

    assert not grey()
    while held.queue:
        held.run(1)
    app.run()
    assert not grey()
    app.multiselect(key="training_columns-breast_cancer-diagnosis").set_value(list(FEW)).run()
    assert grey()
    while held.queue and grey():
        held.run(1)
        app.run()
    assert held.queue, "the new picture is there before all is done"


def test_a_picture_of_ones_own_data_does_not_stay_for_other_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the same data are asked about again; between samples, which are nobody's, it always stays."""
    state: dict[str, Any] = {"shown": {}}
    held = SimpleNamespace(get=lambda: state["shown"], put=lambda new: state.update(shown=new))
    monkeypatch.setattr("dashboard.widgets.earlier.SHOWN_PICTURES", held)
    monkeypatch.setattr("dashboard.session.dark", lambda: False)
    drawn: list[str] = []
    figure: dict[str, Any] = {"data": [], "layout": {}}

    def chart(found: Picture, mark: str | None) -> dict[str, Any]:
        drawn.append(found.alt)
        return found.figure(False)

    monkeypatch.setattr("dashboard.widgets.earlier.chart", chart)
    monkeypatch.setattr("dashboard.widgets.earlier.picture", lambda figure, **rest: drawn.append(rest["alt"]))
    for before, now, kept in [("a", "a", 1), ("a", "b", 0), ("a", None, 0), (None, "a", 0), (None, None, 1)]:
        drawn.clear()
        Place(name="p", about="q", data=before).draw(Picture(key="k", figure=lambda dark: figure, alt="old"), None)
        Place(name="p", about="q", data=now).keep(None, height=100)
        assert drawn == ["old", *["The earlier question: old"] * kept]


def test_what_is_made_from_ones_own_data_stays_in_the_session(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the rows nor what was found on them is in a cache or a job that other sessions reach."""
    table = load_sample("breast_cancer")
    mine = Source(key="own-1", title="mine", mode="what_if", table=table, lineage=None, practice=False, unreleased="-")
    monkeypatch.setattr("dashboard.data.source.current", lambda: mine)
    held, common = Held(), set[Any]()
    monkeypatch.setattr(compute, "pool", lambda: held)

    def everybody(key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        common.add(key)
        return make()

    for name in ("MEMORY", "LARGE"):
        monkeypatch.setattr(compute, name, everybody)
    app = open_app("training")
    held.run(3)
    app.run()
    assert " 2 of " in app.get("progress")[0].proto.text
    assert not [key for key in common if table.fingerprint in key or "training" in key or "sweep" in key]
    assert not compute.shelf()._found
    assert not compute.shelf()._jobs


@pytest.mark.thorough
def test_a_worker_that_stopped_is_one_sentence_and_can_be_tried_again(
    open_app: Open, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(fail=True)
    monkeypatch.setattr(compute, "pool", lambda: held)
    app = open_app("training", data=TUMOURS)
    app.multiselect(key="training_columns-breast_cancer-diagnosis").set_value(list(FEW)).run()
    held.run(len(held.queue))  # the curves' slices under way, and what the open tab asked for
    app.run()
    assert {error.value.split(":")[0] for error in app.error} == {"This could not be computed"}
    monkeypatch.setattr(compute, "pool", lambda: workers)
    while again := [button for button in app.button if button.label == "Try again"]:
        again[0].click().run()
    wait(app)
    assert not app.error
    assert "is right about" in text(app)


def test_columns_that_never_vary_are_left_out_of_a_sample(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The corners of the digits are white in every image; the first view is not a refusal."""
    monkeypatch.setattr(compute, "pool", Held)
    app = open_app("training", data="Handwritten digits, 1,797 images")
    assert not app.info
    chosen = app.multiselect(key="training_columns-digits-digit").value
    assert "pixel_0_0" not in chosen
    assert len(chosen) > 50


def test_the_page_opens_with_its_own_example_until_data_are_chosen(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "pool", Held)
    app = open_app("training")
    assert app.selectbox(key="data").value == "breast_cancer"
    assert "opens with a sample that suits its question" in text(app)
    app.switch_page(address("selection")).run()
    assert app.selectbox(key="data").value == "clinic"
    app.selectbox(key="data").set_value("wine").run()
    app.switch_page(address("training")).run()
    assert app.selectbox(key="data").value == "wine"
    assert "opens with a sample" not in text(app)
    assert not app.exception


def test_the_target_is_never_offered_among_the_features(open_app: Open) -> None:
    app = open_app("training", data=TUMOURS)
    assert "diagnosis" not in app.multiselect(key="training_columns-breast_cancer-diagnosis").options


def test_a_table_of_options_is_sent_elsewhere(open_app: Open) -> None:
    app = open_app("training", data="A date for the meeting, 12 evenings (simulated)")
    assert len(app.info) == 1


@pytest.mark.thorough
def test_a_model_is_released_downloaded_and_predicts(open_app: Open, tmp_path: Path) -> None:
    """One charge; the file is the receipt's answer, and dpcore reads it and predicts as the page's form does."""
    app = open_tab(trained(open_app), "A private answer")
    app.button(key="training-begin").click().run()
    app.button(key="training-confirm").click().run()
    assert not app.exception
    (receipt,) = compute.ledger().history(Ledger.practice_lineage(TOKEN, "breast_cancer"))
    assert receipt.cost.delta == 1e-6, "a tenth of the practice budget's, so that δ is not what runs out first"
    assert any("A model that predicts “diagnosis: " in str(one.value) for one in app.markdown)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(receipt.answer))
    model = load_model(file)
    schema = load_sample("breast_cancer").schema
    middle = {name: (schema.column(name).low + schema.column(name).high) / 2 for name in FEW}
    said = model.predict([middle])[0]
    assert any(f"It predicts **{said}**" in str(one.value) for one in app.markdown)
    assert len(app.get("download_button")) >= 2


@pytest.mark.thorough
def test_a_model_on_steps_is_released_with_its_card(open_app: Open) -> None:
    """Chosen under Options, drawn by its own release, charged once; the file tells its cuts and the form predicts."""
    app = open_app("training", data=TUMOURS)
    app.multiselect(key="training_columns-breast_cancer-diagnosis").set_value(list(FEW)).run()
    app.pills(key="training_pairs-breast_cancer-diagnosis").set_value([json.dumps(list(FEW[:2]))]).run()
    app.selectbox(key="training_method-accuracy").set_value("scaled_descent").run()
    open_tab(wait(app), "A private answer")
    assert "How many rows are in each range and option" in text(app)
    assert f"act together: {FEW[0]} with {FEW[1]}" in text(app)
    app.button(key="training-begin").click().run()
    app.button(key="training-confirm").click().run()
    assert not app.exception
    (receipt,) = compute.ledger().history(Ledger.practice_lineage(TOKEN, "breast_cancer"))
    assert receipt.cost.epsilon == 0.5
    assert all(len(column["levels"]) == 2 for column in receipt.answer["columns"])
    assert "1 pair of them together" in receipt.what
    assert [[column["column"] for column in pair] for pair in receipt.answer["pairs"]] == [list(FEW[:2])]
    model = load_model(receipt.answer)
    schema = load_sample("breast_cancer").schema
    said = model.predict([{name: (schema.column(name).low + schema.column(name).high) / 2 for name in FEW}])[0]
    assert any(f"It predicts **{said}**" in str(one.value) for one in app.markdown)
    assert [button.label for button in app.get("download_button")].count("Model card (Markdown)") == 1


def test_usable_columns_have_declared_bounds() -> None:
    table = load_sample("clinic")
    assert "day" not in usable(table.schema, "day")
    assert set(usable(table.schema, "returned")) <= {"complaint", "age", "waiting minutes", "day"}


class Held(Executor):
    """An executor that runs work in this process when told; with ``fail`` every piece of work fails."""

    turns = property(InTurn)

    def __init__(self, fail: bool = False) -> None:
        self.queue: list[tuple[Future[Any], Any, Any]] = []
        self.worked: list[Any] = []
        self.fail = fail

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.queue.append((future, fn, args[0]))
        return future

    def run(self, count: int) -> None:
        for _ in range(min(count, len(self.queue))):
            future, fn, part = self.queue.pop(0)
            if not future.set_running_or_notify_cancel():
                continue
            if self.fail:
                future.set_exception(RuntimeError("stopped"))
            else:
                self.worked.append(part)
                future.set_result(fn(part))
