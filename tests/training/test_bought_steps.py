"""Models on bought cuts: cells, what is drawn and what it costs, and that the released model is the simulated one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from dpcore.calibration import zcdp_rho
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply
from dpcore.errors import InvalidArgument
from dpcore.releases.bought_model import BoughtModel
from dpcore.training import BoughtSteps, ScaledSteps, UncutRows, load_model
from dpcore.training.features import Features
from dpcore.training.uncut import grid_of

COLUMNS = (
    Column(name="pay", type="number", low=0, high=1_000_000),
    Column(name="job", type="category", categories=("office", "farm", "school")),
    Column(name="since", type="date", earliest=date(2000, 1, 1), latest=date(2020, 1, 1)),
    Column(name="ill", type="yes/no"),
)
DECLARED = Declaration(columns=COLUMNS)
FROM = ["pay", "job", "since"]


def crowded(n: int, seed: int = 3) -> pd.DataFrame:
    """Pay lies between 500 and 540 thousand in everybody: round numbers see one or two steps."""
    rng = np.random.Generator(np.random.SFC64(seed))
    pay = 520_000 + rng.uniform(-20_000, 20_000, n)
    ill = np.abs(pay - 520_000) < 10_000
    return pd.DataFrame(
        {
            "pay": [f"{value:.0f}" for value in pay],
            "job": rng.choice(["office", "farm", "school"], n),
            "since": [f"20{k % 20:02d}-0{k % 9 + 1}-11" for k in rng.integers(0, 200, n)],
            "ill": np.where(ill, "yes", "no"),
        }
    )


def request(epsilon: float = 1.0, declared: Declaration = DECLARED, **changed) -> BoughtModel:
    asked = BoughtModel.of(declared, target="ill", columns=FROM, pairs=[("job", "since")], epsilon=epsilon, delta=1e-5)
    return replace(asked, **changed)


def typed(features: Features, frame: pd.DataFrame) -> tuple[list[np.ndarray], np.ndarray]:
    table = apply(Schema(columns=COLUMNS), frame).table(fingerprint="f", lineage="l").frame
    numbers = [column.typed(table[column.name]) for column in features.columns]
    return numbers, features.answers(features.target.typed(table["ill"]))


def test_points_by_cell_are_points_by_step(rng) -> None:
    """Whichever cuts are bought: with gaps in the table, and for the codes that a model on these cuts would have."""
    features, frame = request().features, crowded(200).assign(since=["", "2003-04-05"] * 100)
    frame.loc[:20, ["pay", "job"]] = "unknown"
    numbers, _ = typed(features, frame)
    uncut = features.uncut_rows(numbers)
    columns = uncut.bought(3.0, rng)
    rows, steps = uncut.cut(columns)
    other = replace(features, columns=columns).coded(numbers, missing=False)
    np.testing.assert_array_equal(rows.dense(), other.dense())
    weights = rng.standard_normal((rows.shape[1], 1))
    by_cell = uncut.by_cell(rows, steps, weights[:, 0])
    assert by_cell.shape == (uncut.shape[1],)
    np.testing.assert_allclose(uncut.margins(by_cell[:, None]), rows.margins(weights), atol=1e-5)
    assert all(set(level) <= set(grid_of(column).tolist()) for column in columns for level in column.levels)
    days = columns[2].edges
    assert all(day == int(day) for day in days), "a date is cut between days"
    with pytest.raises(InvalidArgument, match="cut yet"):
        UncutRows.of(columns, numbers)


def test_bought_cuts_see_what_free_ones_do_not(rng) -> None:
    features = request().features
    (numbers, y), (others, truth) = (typed(features, crowded(3000, seed)) for seed in (1, 2))
    bought = BoughtSteps(epsilon=2.0, delta=1e-5).fit(features.uncut_rows(numbers), y, rng, 2)
    free = ScaledSteps(epsilon=2.0, delta=1e-5).fit(features.stepped.coded(numbers, missing=False), y, rng, 2)
    right = [
        float(((rows.margins(fit.weights.T) > 0) == (truth > 0)[:, None]).mean())
        for rows, fit in (
            (features.uncut_rows(others), bought),
            (features.stepped.coded(others, missing=False), free),
        )
    ]
    assert right[0] > 0.9 > 0.6 > right[1]
    assert bought.cost == free.cost


@pytest.mark.parametrize(
    ("hidden", "rows_per_person", "cells"),
    [("add_remove", 1, 1.0), ("replace_one", 1, 2**0.5), ("add_remove", 3, 3.0)],
)
def test_all_that_is_drawn_adds_up_to_the_cost(drawn, hidden, rows_per_person, cells) -> None:
    """Every tree with the sensitivity that the declaration asks for; a tree more than is counted would be seen."""
    declared = replace(DECLARED, rows_per_person=rows_per_person, hidden=hidden)
    asked = request(declared=declared, steps=5)
    asked.answer(PrivateRows(crowded(60)))
    assert sum(rho for _, rho, _ in drawn) == pytest.approx(asked.cost.rho) == pytest.approx(zcdp_rho(1.0, 1e-5))
    assert len(drawn) == 2 + 1 + 5 + 1
    for sensitivity, rho, size in drawn[:2]:
        assert rho == pytest.approx(asked.rho * 0.1 / 2)
        assert sensitivity == pytest.approx(cells * np.sqrt(np.log2(size + 1)))
    assert sum(rho for _, rho, _ in [*drawn, drawn[0]]) > 1.01 * asked.cost.rho


def test_one_person_s_part_in_the_trees_is_exact_and_at_the_claim() -> None:
    asked, crowd = request(), crowded(300)
    extra = pd.concat([crowded(2, 6), crowded(1, 7).assign(since="x"), crowded(1, 8).assign(ill="")])
    base = asked.read(PrivateRows(crowd)).trees()
    for k in range(len(extra)):
        one = asked.read(PrivateRows(extra.iloc[[k]])).trees()
        more = asked.read(PrivateRows(pd.concat([extra.iloc[[k]], crowd], ignore_index=True))).trees()
        for column, own, with_it, without in zip(asked.bought, one, more, base, strict=True):
            np.testing.assert_array_equal(with_it - without, own)
            length = float(np.linalg.norm(own))
            there = k < 2 or (k == 2 and column.name == "pay")
            assert length == pytest.approx(asked.tree_sensitivity(column) if there else 0.0)


def test_the_released_cuts_are_the_simulated_ones() -> None:
    """Both come of the same counts, and the noise of each count has the same scale."""
    asked, frame = request(), crowded(500)
    trees = asked.read(PrivateRows(frame)).trees()
    numbers, _ = typed(asked.features, frame)
    uncut = asked.features.uncut_rows(numbers)
    for place, tree in zip((0, 2), trees, strict=True):
        leaves = tree[tree.size // 2 :]
        np.testing.assert_array_equal(leaves, np.bincount(uncut.cells.codes[:, place], minlength=leaves.size))
    method = BoughtSteps(epsilon=1.0, delta=1e-5).descent()
    for column, tree in zip(asked.bought, trees, strict=True):
        drawn = asked.tree_sensitivity(column) * asked.noise_of(asked.cuts_share / 2) / asked.noise_multiplier
        assert drawn == pytest.approx(method.cuts_noise * np.sqrt(2 * np.log2(tree.size + 1)) / method.noise_multiplier)
    assert asked.steps_share == pytest.approx(method.steps_share)
    assert asked.cuts_share == method.cuts_share


def test_the_file_says_its_cuts_and_what_they_took() -> None:
    asked = request(epsilon=2.0, steps=60)
    answer = json.loads(json.dumps(asked.answer(PrivateRows(crowded(3000)))))
    model, test = load_model(answer), crowded(800, 9)
    assert np.mean(np.array(model.predict(test)) == test["ill"]) > 0.85
    levels = model.features.columns[0].levels
    assert all(490_000 < cut < 550_000 for cut in levels[0])
    assert answer["about"]["cuts_share"] == 0.1
    assert "Where numbers and dates are cut was bought: 10 in 100" in model.card()
    assert "cuts were declared" not in model.card()
    assert any("Cutting 2 columns at noisy quantiles took 0.1 of ρ." in note for note in asked.notes)
    assert any(
        "noisy quantiles, which 0.1 of ρ buys, what is missing in none of them: pay, since." in rule
        for rule in asked.rules
    )


def test_forms_are_refused_by_name() -> None:
    for name, bad in (("cuts_share", 0.0), ("cuts_share", 1.0), ("calibration_share", 0.85)):
        with pytest.raises(InvalidArgument, match=name):
            request(**{name: bad})
    with pytest.raises(InvalidArgument, match="number or a date"):
        BoughtModel.of(DECLARED, target="ill", columns=["job"], epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="cut yet"):
        request(features=request().features.stepped)
    with pytest.raises(InvalidArgument, match="fit"):
        request(declared=replace(DECLARED, rows_per_person=10**6), epsilon=0.01)
    wide = tuple(Column(name=f"c{k}", type="number", low=0, high=1) for k in range(90))
    with pytest.raises(InvalidArgument, match="may become 2,25"):
        BoughtModel.of(
            Declaration(columns=(*wide, COLUMNS[-1])),
            target="ill",
            columns=[column.name for column in wide],
            epsilon=1.0,
            delta=1e-5,
        )
