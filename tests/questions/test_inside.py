"""Training seen from inside: each picture draws, says its numbers, and its code computes them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dashboard.blocks import Picture, Slow, Text
from dashboard.controls import Setting
from dashboard.questions.training.inside import VIEW
from dashboard.questions.training.predict import Predict
from dashboard.words import number
from tests.questions.samples import sample_case
from tests.questions.test_pictures import flaws, frame_of, run

ON_NUMBER = {"training_target": "bmi"}


def drawn(view: str, sample: str = "breast_cancer", **values: Any) -> tuple[str, Picture]:
    """What a view says to look at, and its picture, with its work done here."""
    question = Predict.ask(sample_case(sample), Setting({"training_inside": view, **values}))
    (tab,) = [one for one in question.tabs if one.key == "inside"]
    found = []
    for block in tab.blocks():
        found += block.show(block.work(block.common(), None)) if isinstance(block, Slow) else [block]
    (picture,) = [block for block in found if isinstance(block, Picture)]
    return next(block.markdown for block in found if isinstance(block, Text)), picture


def tables(printed: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+\.\d+(?:e[+-]\d+)?", printed)]


@pytest.mark.thorough
@pytest.mark.parametrize("view", VIEW.options)
def test_each_picture_says_and_computes_its_numbers(view: str) -> None:
    said, picture = drawn(view)
    assert said.startswith("**Look ")
    assert flaws(picture) == []
    assert picture.code is not None
    printed = tables(run(picture.code))
    frame = frame_of(picture)
    column = {"lengths": "largest", "clipping": "cut x", "one_person": "log ratio"}.get(view, "value")
    for value in (frame[column].iloc[0], frame[column].iloc[-1]):
        if view != "clipping":  # its arrows are stretched to their full length
            assert np.isclose(printed, value, rtol=1e-4).any()


def test_a_number_is_predicted_too() -> None:
    for view in ("losses", "lengths"):
        said, picture = drawn(view, "diabetes", **ON_NUMBER)
        assert flaws(picture, names=False) == []
        if view == "lengths":
            assert "absolute loss" in said


def test_a_few_rows_are_learnt_by_heart_and_many_are_not() -> None:
    few, _ = drawn("losses", "town", training_inside_rows=40)
    assert "which is overfitting" in few
    many, _ = drawn("losses", "breast_cancer", training_inside_rows=4000)
    assert "falls to the end" in many


def test_what_is_cut_is_as_long_as_the_limit() -> None:
    said, picture = drawn("clipping", training_inside_clip=0.1)
    frame = frame_of(picture)
    before, after = (np.hypot(frame[one], frame[other]) for one, other in (("x", "y"), ("cut x", "cut y")))
    assert after.max() == pytest.approx(0.1)
    assert np.allclose(after, np.minimum(before, 0.1))
    assert number(0.1) in said
    assert len(picture.figure(False)["frames"]) == frame["step"].nunique()


def test_one_person_is_hidden_by_the_planned_steps_and_not_by_more() -> None:
    planned, picture = drawn("one_person")
    assert "promised for all of them" in planned
    assert "leaves the band" in planned
    one, _ = drawn("one_person", training_one_person_steps=1)
    assert "stays in the band" in one
    assert "is 0" not in one
    more, _ = drawn("one_person", training_one_person_steps=200)
    assert "more than the" in more
    frame = frame_of(picture)
    assert (frame["log ratio without clipping"].abs().max()) > 1.9 * frame["log ratio"].abs().max()


def test_only_one_loss_limits_a_row_s_gradient() -> None:
    _, picture = drawn("lengths")
    frame = frame_of(picture)
    assert (frame["largest"] <= frame["bound"] + 1e-9).all()
    assert frame[frame["loss"] == "logistic"]["largest"].max() <= 1.0
    assert frame[frame["loss"] == "squared"]["largest"].max() > 10.0


@pytest.mark.thorough
def test_batches_are_equally_private_and_a_ridge_costs_without_noise() -> None:
    batch = frame_of(drawn("batch")[1])
    noise = batch[batch["metric"] == "excess_risk"]["noise"]
    assert noise.is_monotonic_decreasing
    ridge = frame_of(drawn("ridge")[1])
    assert (ridge["bias"].diff().dropna() > -1e-8).all(), "up to what a minimum is found to"


def test_the_theorem_about_descent_is_drawn_to_a_billion_rows() -> None:
    """Its own method, simulated, lies below it at every size, and rates are called rates."""
    question = Predict.ask(sample_case("breast_cancer"), Setting({"training_seeds": 8}))
    (tab,) = [one for one in question.tabs if one.key == "theory"]
    (slow,) = tab.blocks()
    assert isinstance(slow, Slow)
    found = slow.show(slow.work(slow.common(), None))
    (picture,) = [block for block in found if isinstance(block, Picture)]
    assert flaws(picture) == []
    frame = frame_of(picture)
    assert set(frame["kind"]) == {"bound", "rate", "simulated"}
    assert all(
        ("up to a constant" in name) == (kind == "rate")
        for name, kind in zip(frame["line"], frame["kind"], strict=True)
    )
    proved, simulated = (frame[frame["kind"] == kind] for kind in ("bound", "simulated"))
    assert proved["n"].max() >= 1e9
    bound = np.exp(np.interp(np.log(simulated["n"]), np.log(proved["n"]), np.log(proved["value"])))
    assert (simulated["value"].to_numpy() <= bound).all()
    assert picture.code is not None
    assert "up to" not in run(picture.code)
