"""The way to build a model, chosen privately: all are tried always, what it costs, and that the best is found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpcore.conversions import bounded_range_gaussian
from dpcore.datasets import PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.whole_codes import most_good
from dpcore.running_total import RunningTotal
from dpcore.training import ChoosableRows, ChosenSteps, PrivateClassifier, PrivateRegressor, load_model
from dpcore.training.choosing_ways import BOUGHT, COARSE, FREE, PAIRED, WAYS
from dpcore.training.chosen_steps import score
from dpcore.training.losses import LOGISTIC, SQUARED
from tests.training.test_bought_steps import DECLARED, FROM, crowded, typed
from tests.training.test_paired_model import DECLARED as CROSSED
from tests.training.test_paired_model import crossed
from tests.training.test_paired_model import typed as crossed_typed


def request(epsilon: float = 1.0, **changed) -> ChosenModel:
    asked = ChosenModel.of(DECLARED, target="ill", columns=FROM, epsilon=epsilon, delta=1e-5)
    return replace(asked, **changed)


@pytest.mark.parametrize("forced", [0, 3])
@pytest.mark.parametrize("hidden", ["add_remove", "replace_one"])
def test_all_that_is_drawn_adds_up_to_the_cost_whichever_way_is_drawn(drawn, monkeypatch, hidden, forced) -> None:
    """Trials of all four ways, the draws of pairs, of the way, and the model: ρ, and never more."""
    picked: list[tuple[float, int, bool, int]] = []

    def noted(scores, *, sensitivity, epsilon, monotonic, rule):
        picked.append((epsilon**2 / 8, sensitivity, monotonic, len(scores)))
        return min(forced, len(scores) - 1)

    monkeypatch.setattr(draws, "noisy_max", noted)
    asked = ChosenModel.of(replace(DECLARED, hidden=hidden), target="ill", columns=FROM, epsilon=1.0, delta=1e-5)
    asked = replace(asked, steps=3)
    answer = asked.answer(PrivateRows(crowded(50)))
    assert answer["about"]["way"] == WAYS[forced]
    every = sum(rho for _, rho, _ in drawn) + sum(rho for rho, *_ in picked)
    assert asked.rho * (1 - 1e-6) < every <= asked.rho * (1 + 1e-12)
    assert asked.spent == pytest.approx(every, rel=1e-6)
    (way,) = [one for one in picked if one[3] == 4]
    assert way[1:3] == (1, hidden == "add_remove"), "one row tells every score up, or where it is replaced either way"
    one, pairs_too = 1 + 3 + 1, (1 + 3 + 1) + 1 + (1 + 3 + 1)  # counts, sums, cells; with a first model and squares
    assert len(drawn) == one + one + (2 + one) + pairs_too + (pairs_too if forced == 3 else one)


def test_what_choosing_costs_is_the_same_for_the_page_and_the_release() -> None:
    asked, method = request(), ChosenSteps(epsilon=1.0, delta=1e-5)
    assert asked.ways_share == method.ways_share == 0.1
    sigma = method.descent().noise_multiplier
    tried = 4 / method.with_share(0.1 * 0.9 / 4).descent().noise_multiplier ** 2
    last = 1 / method.with_share(0.9).descent().noise_multiplier ** 2
    picked = bounded_range_gaussian(method.mechanism.epsilon) ** 2
    assert tried + picked + last == pytest.approx(1 / sigma**2, rel=1e-6)
    assert tried + picked + last <= 1 / sigma**2 * (1 + 1e-12)
    assert method.mechanism.monotonic
    assert not replace(method, neighbours="replace_one").mechanism.monotonic


@pytest.mark.parametrize("target", ["ill", "ward", "age"])
def test_a_row_adds_to_every_score_and_no_more_than_is_said(target) -> None:
    """The release's scores and the page's agree, whatever is told of the row."""
    columns = [name for name in ("left", "right", "job", "age") if name != target]
    asked = ChosenModel.of(CROSSED, target=target, columns=columns, apart=target == "ward", epsilon=1.0, delta=1e-5)
    most, crowd = most_good(asked.features), crossed(30)
    base = asked.read(PrivateRows(crowd)).by_way[FREE]
    more = asked.read(PrivateRows(pd.concat([crowd, crossed(1, 5)], ignore_index=True))).by_way[FREE]
    rng, seen = np.random.Generator(np.random.SFC64(4)), set()
    for _ in range(40):
        points = rng.standard_normal((base.d, asked.features.outputs))
        points = points if asked.features.apart else points[:, 0]
        added = more.good(points) - base.good(points)
        assert 0 <= added <= most
        seen.add(added)
    assert len(seen) > 1
    loss = SQUARED if target == "age" else LOGISTIC
    one = np.array([[0.3, -0.2, 0.1]]) if target == "ward" else np.array([[0.4]])
    assert 0.0 <= score(loss, one, np.array([1.0])) <= 1.0
    assert score(loss, np.array([[1.0]]), np.array([1.0])) == 1.0


@pytest.mark.thorough
def test_the_best_way_is_found_built_and_named() -> None:
    """Where everybody crowds into one step, cuts are bought; where two columns matter only together, pairs are."""
    answer = json.loads(json.dumps(request(epsilon=3.0, steps=60).answer(PrivateRows(crowded(3000)))))
    model, test = load_model(answer), crowded(500, 9)
    assert answer["about"]["way"] == BOUGHT
    assert np.mean(np.array(model.predict(test)) == test["ill"]) > 0.85
    assert answer["about"]["ways"] == list(WAYS)
    assert (answer["about"]["epsilon"], answer["about"]["cuts_share"]) == (3.0, pytest.approx(0.09))
    assert (
        "(bought cuts) was chosen privately among public cuts, coarse cuts, bought cuts, bought pairs" in model.card()
    )
    asked = request()
    assert any("Choosing among 4 ways to build it took 0.1 of ρ." in note for note in asked.notes)
    assert any("each tried on the rows" in rule for rule in asked.rules)


def test_the_page_s_models_choose_for_themselves(rng) -> None:
    features = ChosenModel.of(CROSSED, target="ill", columns=["left", "right", "age"], epsilon=1.0, delta=1e-5).features
    (numbers, y), (others, truth) = (crossed_typed(features, crossed(3000, seed)) for seed in (1, 2))
    rows, held = ChoosableRows.of(features, numbers), ChoosableRows.of(features, others)
    assert tuple(rows.by_way) == WAYS
    method = ChosenSteps(epsilon=2.0, delta=1e-5)
    assert method.choose(rows, y, rng) == PAIRED
    fit = method.fit(rows, y, rng)
    assert fit.weights.shape == (1, rows.shape[1])
    assert float(((held.margins(fit.weights.T)[:, 0] > 0) == (truth > 0)).mean()) > 0.9
    weights = rng.standard_normal((rows.by_way[COARSE].shape[1], 2))
    np.testing.assert_allclose(
        rows.take(np.arange(9)).margins(rows.spread(weights, COARSE)),
        rows.by_way[COARSE].margins(weights)[:9],
        atol=1e-5,
    )


def test_ways_follow_from_what_is_declared_and_one_alone_is_no_choice() -> None:
    words = ChosenModel.of(CROSSED, target="ill", columns=["left", "right"], epsilon=1.0, delta=1e-5)
    assert words.possible == (FREE, PAIRED)
    with pytest.raises(InvalidArgument, match="only one way"):
        ChosenModel.of(CROSSED, target="ill", columns=["left"], epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="cut yet"):
        request(features=request().features.stepped)
    with pytest.raises(InvalidArgument, match="ways_share"):
        request(ways_share=0.0)
    features = request().features
    numbers, y = typed(features, crowded(60))
    one = ChoosableRows(by_way={FREE: features.stepped.coded(numbers, missing=False)})
    with pytest.raises(InvalidArgument, match="two ways"):
        ChosenSteps(epsilon=1.0, delta=1e-5).fit(one, y, np.random.default_rng(0))


def test_the_estimators_choose_too() -> None:
    frame = crossed(1500)
    X = frame[["left", "right", "age"]].assign(age=frame["age"].astype(float))
    columns = {"left": ["a", "b"], "right": ["a", "b"], "age": (0, 100)}
    model = PrivateClassifier(epsilon=4.0, columns=columns, classes=["no", "yes"], choose=True, random_state=1).fit(
        X, frame["ill"]
    )
    assert model.way_ == PAIRED
    assert np.mean(model.predict(X) == frame["ill"]) > 0.9
    assert model.cost_.epsilon == 4.0
    number = PrivateRegressor(epsilon=4.0, columns=columns, target=(0, 1), choose=True, random_state=1)
    told = number.fit(X, (frame["ill"] == "yes").astype(float)).predict(X)
    assert number.way_ == PAIRED
    assert np.mean((told > 0.5) == (frame["ill"] == "yes")) > 0.9
    for bad, said in (
        ({"pairs": 2}, "pairs"),
        ({"tries": 3.0}, "tries"),
        ({"classes": None}, "classes"),
        ({"columns": {"age": (0, 100, "paid")}}, "bought"),
        ({"columns": {"left": ["a", "b"]}}, "only one way"),
    ):
        options = {"columns": columns, "classes": ["no", "yes"], **bad}
        with pytest.raises(InvalidArgument, match=said):
            PrivateClassifier(choose=True, **options).fit(X, frame["ill"])


@pytest.mark.parametrize("kind", [ScaledModel, BoughtModel, PairedModel, ChosenModel])
def test_the_gaussian_s_own_epsilon_is_claimed_where_all_is_noise(kind, drawn, monkeypatch) -> None:
    """A draw of bounded range counts as ρ, whose ε is larger: with one among the releases ρ alone is said."""
    draws_made: list[int] = []

    def noted(scores, **_):
        draws_made.append(len(scores))
        return 0

    monkeypatch.setattr(draws, "noisy_max", noted)
    asked = replace(kind.of(DECLARED, target="ill", columns=FROM, epsilon=1.0, delta=1e-5), steps=3)
    asked.answer(PrivateRows(crowded(50)))
    assert drawn, "noise was drawn"
    assert (asked.cost.event is None) == bool(draws_made)
    total = RunningTotal().add(asked.cost).epsilons(1e-5)
    assert (total["basic"] < 0.99) == (not draws_made), "its own ε is below that of ρ, which is 1"
