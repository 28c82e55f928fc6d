"""Pairs that are bought: rows of all candidates, what is drawn and what it costs, and that the right ones are found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpcore.calibration import zcdp_rho
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.whole_pairs import most_wrong
from dpcore.training import PairedSteps, load_model
from dpcore.training.choosable import pairable_rows
from dpcore.training.choosing_pairs import residual_length
from dpcore.training.encoding import coded
from dpcore.training.features import MOST_FEATURES, Features
from dpcore.training.losses import SQUARED

LETTERS = ("a", "b")
COLUMNS = (
    *(Column(name=name, type="category", categories=LETTERS) for name in ("left", "right", "job")),
    Column(name="age", type="number", low=0, high=100),
    Column(name="ill", type="yes/no"),
    Column(name="ward", type="category", categories=("north", "south", "west")),
)
DECLARED = Declaration(columns=COLUMNS)
FROM = ["left", "right", "job", "age"]


def crossed(n: int, seed: int = 3) -> pd.DataFrame:
    """Ill is whoever has the same letter left and right: neither column alone tells anything."""
    rng = np.random.Generator(np.random.SFC64(seed))
    frame = pd.DataFrame({name: rng.choice(LETTERS, n) for name in ("left", "right", "job")})
    frame["age"] = [f"{value:.0f}" for value in rng.uniform(0, 100, n)]
    frame["ill"] = np.where(frame["left"] == frame["right"], "yes", "no")
    frame["ward"] = np.where(frame["ill"] == "yes", "north", rng.choice(["south", "west"], n))
    return frame


def request(epsilon: float = 1.0, declared: Declaration = DECLARED, target: str = "ill", **changed) -> PairedModel:
    columns = [name for name in FROM if name != target]
    asked = PairedModel.of(
        declared, target=target, columns=columns, epsilon=epsilon, delta=1e-5, apart=target == "ward"
    )
    return replace(asked, **changed)


def typed(features: Features, frame: pd.DataFrame) -> tuple[list[np.ndarray], np.ndarray]:
    table = apply(Schema(columns=COLUMNS), frame).table(fingerprint="f", lineage="l").frame
    numbers = [column.typed(table[column.name]) for column in features.columns]
    return numbers, features.answers(features.target.typed(table[features.target.name]))


def test_rows_with_chosen_pairs_are_rows_with_declared_ones(rng) -> None:
    """With gaps in the table and a pair that is there already; weights of all that could be say the same."""
    frame = crossed(120)
    frame.loc[:9, ["left", "age"]] = ""
    asked = PairedModel.of(DECLARED, target="ill", columns=FROM, pairs=[("left", "job")], epsilon=1.0, delta=1e-5)
    features = asked.features
    numbers, _ = typed(features, frame)
    rows = pairable_rows(features, numbers)
    assert [pair.names for pair in rows.candidates].count(("left", "job")) == 0
    chosen = [1, 3]
    other = coded(
        features.columns, numbers, missing=False, pairs=(*features.pairs, *(rows.candidates[k] for k in chosen))
    )
    own = rows.with_pairs(chosen)
    np.testing.assert_array_equal(own.dense(), other.dense())
    np.testing.assert_array_equal(rows.with_pairs([]).dense(), rows.singles.dense())
    weights = rng.standard_normal((own.shape[1], 2))
    spread = rows.spread(weights, chosen)
    assert spread.shape == (rows.shape[1], 2)
    np.testing.assert_allclose(rows.margins(spread), own.margins(weights), atol=1e-5)
    np.testing.assert_allclose(rows.take(np.arange(5)).margins(spread), own.margins(weights)[:5], atol=1e-5)


def test_bought_pairs_see_what_single_columns_do_not(rng) -> None:
    features = request().features
    (numbers, y), (others, truth) = (typed(features, crossed(3000, seed)) for seed in (1, 2))
    rows, held = (pairable_rows(features, values) for values in (numbers, others))
    method = PairedSteps(epsilon=1.0, delta=1e-5)
    bought, free = method.fit(rows, y, rng, 2), method.free().fit(rows.singles, y, rng, 2)
    right = [
        float(((own.margins(fit.weights.T) > 0) == (truth > 0)[:, None]).mean())
        for own, fit in ((held, bought), (held.singles, free))
    ]
    assert right[0] > 0.9 > 0.6 > right[1]
    assert bought.cost == free.cost
    alone = pairable_rows(replace(features, columns=features.columns[:1]), numbers[:1])
    assert not alone.candidates
    assert method.fit(alone, y, rng).weights.shape == (1, alone.shape[1]), "nothing to choose, and nothing lost by it"


@pytest.mark.parametrize(
    ("hidden", "rows_per_person", "moved"), [("add_remove", 1, 1), ("replace_one", 1, 2), ("add_remove", 3, 3)]
)
def test_all_that_is_drawn_adds_up_to_the_cost(drawn, monkeypatch, hidden, rows_per_person, moved) -> None:
    """The first model, the squares, every draw of a pair, and the model: exactly ρ, with the sensitivities declared."""
    picked: list[tuple[float, int, bool]] = []
    honest = draws.noisy_max

    def noted(scores, *, sensitivity, epsilon, monotonic, rule):
        picked.append((epsilon**2 / 8, sensitivity, monotonic))
        assert rule == "exponential"
        return honest(scores, sensitivity=sensitivity, epsilon=epsilon, monotonic=monotonic, rule=rule)

    monkeypatch.setattr(draws, "noisy_max", noted)
    declared = replace(DECLARED, rows_per_person=rows_per_person, hidden=hidden)
    asked = request(declared=declared, steps=5)
    asked.answer(PrivateRows(crossed(60)))
    assert len(picked) == asked.many == 3
    assert {(sensitivity, one_way) for _, sensitivity, one_way in picked} == {(moved * 2**14, False)}
    every = sum(rho for _, rho, _ in drawn) + sum(rho for rho, _, _ in picked)
    assert every == pytest.approx(asked.cost.rho) == pytest.approx(zcdp_rho(1.0, 1e-5))
    assert len(drawn) == (1 + 5 + 1) + 1 + (1 + 5 + 1)
    bought = sum(rho for _, rho, _ in drawn[:8]) + sum(rho for rho, _, _ in picked)
    assert bought == pytest.approx(0.25 * asked.rho)


@pytest.mark.parametrize("target", ["ill", "ward", "age"])
def test_one_row_moves_scores_and_squares_by_no_more_than_is_said(target) -> None:
    """In whole numbers, at any points: a row in every pair, one with gaps, one without an answer; near the claim."""
    asked, crowd = request(target=target), crossed(40)
    longest, reached = most_wrong(asked.features), 0
    method = PairedSteps(epsilon=1.0, delta=1e-5, classes=3).descent() if target == "ward" else None
    if target == "age":
        method = PairedSteps(epsilon=1.0, delta=1e-5, loss=SQUARED).descent()
    assert longest == pytest.approx(2**14 * (residual_length(method) if method else 1.0), abs=2)
    extra = pd.concat([crossed(2, 6), crossed(1, 7).assign(left=""), crossed(1, 8).assign(**{target: ""})])
    base = asked.read(PrivateRows(crowd))
    for place in range(len(extra)):
        more = asked.read(PrivateRows(pd.concat([crowd, extra.iloc[[place]]], ignore_index=True)))
        rng = np.random.Generator(np.random.SFC64(place))
        for size in (0.0, 3.0, 60.0):
            points = size * rng.standard_normal((base.singles.d, asked.features.outputs))
            points = points if asked.features.apart else points[:, 0]
            here, there = (found.wrong(points) for found in (base, more))
            scores = [found.scores(own, [500] * len(base.candidates)) for found, own in ((base, here), (more, there))]
            moved = int(np.abs(scores[1] - scores[0]).max())
            assert moved <= longest
            assert 0 <= more.squares(there) - base.squares(here) <= asked.squares_sensitivity
            reached = max(reached, moved)
    assert reached > 0.6 * longest


def test_the_release_spends_what_the_page_simulates_and_says_so() -> None:
    asked, method = request(epsilon=4.0), PairedSteps(epsilon=4.0, delta=1e-5)
    assert asked.pairs_share == method.descent().pairs_share
    assert asked.steps_share == pytest.approx(method.descent().steps_share)
    assert asked.many == method.many
    answer = json.loads(json.dumps(replace(asked, steps=60).answer(PrivateRows(crossed(3000)))))
    model, test = load_model(answer), crossed(500, 9)
    assert ("left", "right") in model.features.paired
    assert np.mean(np.array(model.predict(test)) == test["ill"]) > 0.9
    assert (answer["about"]["pairs_share"], answer["about"]["pairs_bought"]) == (0.25, 3)
    assert "3 pairs of columns that act together were bought: 25 in 100 of the privacy." in model.card()
    assert any("Choosing 3 pairs of columns took 0.25 of ρ." in note for note in asked.notes)
    assert any("Pairs of columns that act together, 3 at most: drawn" in rule for rule in asked.rules)


def test_forms_are_refused_by_name() -> None:
    for name, bad in (("pairs_share", 0.0), ("pairs_share", 0.9), ("many", 0), ("many", 51)):
        with pytest.raises(InvalidArgument, match="calibration_share" if bad == 0.9 else name):
            request(**{name: bad})
    with pytest.raises(InvalidArgument, match="no two columns"):
        PairedModel.of(DECLARED, target="ill", columns=["left"], epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="cut into steps"):
        request(features=request().features.bare)
    with pytest.raises(InvalidArgument, match="fit"):
        request(declared=replace(DECLARED, rows_per_person=10**6), epsilon=1e-4)


def test_whichever_pairs_are_drawn_there_is_room_for_them() -> None:
    """By what is declared alone: pairs that could make too many numbers together are no candidates."""
    words = tuple(map(str, range(30)))
    wide = tuple(Column(name=f"c{k}", type="category", categories=words) for k in range(4))
    asked = PairedModel.of(
        Declaration(columns=(*wide, *COLUMNS)),
        target="ill",
        columns=[column.name for column in wide] + ["left"],
        epsilon=1.0,
        delta=1e-5,
    )
    ready = asked.read(PrivateRows(pd.DataFrame({column.name: ["x"] for column in (*wide, *COLUMNS)})))
    assert {pair.cells for pair in ready.candidates} == {60}, "three of 900 cells would be too many"
    assert asked.features.d + 3 * max(pair.cells for pair in ready.candidates) <= MOST_FEATURES
