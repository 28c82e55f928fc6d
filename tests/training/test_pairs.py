"""Columns that act together: what one row moves, what choosing pairs costs, exactly, and models that have them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from dpcore.conversions import bounded_range_gaussian, gaussian_bounded_range, gaussian_delta
from dpcore.datasets import Declaration, apply
from dpcore.datasets.schema import Column, Schema
from dpcore.errors import InvalidArgument
from dpcore.release import _fields, _parameters, question_digest
from dpcore.releases.model import PrivateModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.training import (
    Encoding,
    Features,
    PrivateClassifier,
    PrivateRegressor,
    ScaledDescent,
    choosing_pairs,
    cut,
    load_model,
    load_scorecard,
)
from dpcore.training.choosing_pairs import (
    FURTHEST,
    PairChoice,
    choose_pairs,
    first_model,
    pair_score,
    residual_length,
    residuals,
)
from dpcore.training.class_names import NoisyClassNames
from dpcore.training.losses import SQUARED
from dpcore.training.pairs import MOST_CELLS, MOST_CUTS, Pair, all_pairs, declared_pairs

LETTERS = Encoding(name="letter", kind="category", categories=("a", "b", "c"))
AGREED = Encoding(name="agreed", kind="yes/no")
SIZE = cut(Encoding(name="size", kind="number", low=0.0, high=100.0))
COLUMNS = {"size": (0, 100), "letter": ["a", "b", "c"], "agreed": [False, True], "luck": (0, 1)}


def two_point_delta(epsilon0: float, offset: float, epsilon: float) -> float:
    """The exact δ between two coins whose log-odds are ``epsilon0`` apart, the first at ``offset`` + half of that."""
    one, other = (1.0 / (1.0 + math.exp(-offset - half)) for half in (epsilon0 / 2, -epsilon0 / 2))
    return max(one - math.exp(epsilon) * other, 0.0) + max((1 - one) - math.exp(epsilon) * (1 - other), 0.0)


@pytest.mark.parametrize("epsilon0", [0.01, 0.3, 2.0, 8.0])
def test_bounded_range_as_gaussian_covers_every_two_points_and_is_reached(epsilon0) -> None:
    """Also by way of a random release that has the whole range: no smaller μ covers what the even coins do."""
    mu = bounded_range_gaussian(epsilon0)
    assert gaussian_bounded_range(mu) == pytest.approx(epsilon0, rel=1e-9)
    assert 0.5 * epsilon0 < mu < 0.62666 * epsilon0
    levels = np.linspace(0.0, epsilon0, 40)
    for offset in np.linspace(-epsilon0, epsilon0, 21):
        for level in levels:
            assert two_point_delta(epsilon0, offset, level) <= gaussian_delta(1.0 / mu, level) + 1e-12
    short = [gaussian_delta(1.0 / (0.97 * mu), level) - two_point_delta(epsilon0, 0.0, level) for level in levels]
    assert min(short) < 0.0


def cells_of(pairs: tuple[Pair, ...], columns: list[Encoding], typed: list[np.ndarray]) -> list[np.ndarray]:
    known = {column.name: values for column, values in zip(columns, typed, strict=True)}
    return [pair.codes(*(known[name] for name in pair.names)) for pair in pairs]


def scores_of(cells: list[np.ndarray], pairs: tuple[Pair, ...], left: np.ndarray) -> np.ndarray:
    return np.array([
        pair_score(own, pair.cells, left, np.full(pair.cells, 0.3)) for own, pair in zip(cells, pairs, strict=True)
    ])  # fmt: skip


def law(choice: PairChoice, scores: np.ndarray) -> np.ndarray:
    """The exact chance of every ordered choice of two."""
    found = []
    for first, second in permutations(range(scores.size), 2):
        left = [place for place in range(scores.size) if place != first]
        chance = choice.mechanism.probabilities(scores)[first]
        found.append(chance * choice.mechanism.probabilities(scores[left])[left.index(second)])
    assert sum(found) == pytest.approx(1.0)
    return np.array(found)


def exact_delta(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((one, other), (other, one)))


class Forgetful(PairChoice):
    """As if residuals were at most a fifth as long as they are."""

    @property
    def sensitivity(self) -> float:
        return self.length / 5.0


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_two_choices_cost_what_is_claimed_on_every_neighbour(neighbours, rng) -> None:
    """The exact law with every possible row added or in place of another; the twin is found out."""
    columns = [LETTERS, AGREED, SIZE]
    pairs = all_pairs(columns)
    typed = [rng.integers(3, size=6).astype(float), rng.choice([-1.0, 1.0], 6), rng.uniform(-1, 1, 6)]
    left = rng.uniform(-1, 1, (6, 1))
    choice, twin = (kind(many=2, noise=2.0, length=1.0, neighbours=neighbours) for kind in (PairChoice, Forgetful))
    start = scores_of(cells_of(pairs, columns, typed), pairs, left)
    here_law, here_twin = law(choice, start), law(twin, start)
    allowed = {level: gaussian_delta(choice.noise, level) for level in np.geomspace(1e-3, 4.0, 10)}
    moved, worst = 0.0, -1.0
    found_out = False
    for letter in (0.0, 1.0, 2.0, np.nan):
        for agreed in (-1.0, 1.0):
            for size in (-1.0, 0.1, 1.0):
                for residual in (-1.0, 1.0):
                    row = [letter, agreed, size]
                    kept = slice(0, 6) if neighbours == "add_remove" else slice(1, 6)
                    other = [np.append(own[kept], new) for own, new in zip(typed, row, strict=True)]
                    there = np.append(left[kept], [[residual]], axis=0)
                    scores = scores_of(cells_of(pairs, columns, other), pairs, there)
                    moved = max(moved, float(np.abs(scores - start).max()))
                    there_law, twin_law = law(choice, scores), law(twin, scores)
                    for level, most in allowed.items():
                        worst = max(worst, exact_delta(here_law, there_law, level) - most)
                        found_out |= exact_delta(here_twin, twin_law, level) > most
    assert 0.7 * choice.sensitivity < moved <= choice.sensitivity + 1e-12
    assert worst <= 0.0
    assert found_out


@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_a_residual_is_never_longer_than_stated(kind, rng) -> None:
    options = {"two": {}, "three": {"classes": 3}, "number": {"loss": SQUARED, "calibration_share": 0.0}}[kind]
    method = ScaledDescent(epsilon=1.0, delta=1e-5, **options)
    margins = 50.0 * rng.standard_normal((500, method.outputs))
    y = rng.integers(3, size=500).astype(float) if kind == "three" else rng.choice([-1.0, 1.0], 500)
    lengths = np.linalg.norm(residuals(method, margins, y), axis=1)
    assert 0.98 * residual_length(method) < lengths.max() <= residual_length(method) + 1e-12
    assert residual_length(method) == {"two": 1.0, "three": math.sqrt(2.0), "number": FURTHEST}[kind]


def test_everything_together_is_one_gaussian_release(monkeypatch, rng) -> None:
    """1/σ² of the first model, the spread, the choices and the steps is that of (ε, δ); a free first model is more."""
    method = ScaledDescent(epsilon=1.0, delta=1e-5, pairs_share=0.25)
    seen: dict[str, float] = {}
    honest = ScaledDescent.fit

    def noted(self, *given):
        seen["first"] = 1.0 / self.noise_multiplier**2
        return honest(self, *given)

    class Noted(PairChoice):
        def draw(self, scores, rng):
            seen["choice"] = self.many * bounded_range_gaussian(self.mechanism.epsilon) ** 2
            return super().draw(scores, rng)

    monkeypatch.setattr(ScaledDescent, "fit", noted)
    monkeypatch.setattr(choosing_pairs, "PairChoice", Noted)
    typed = [rng.integers(3, size=80).astype(float), rng.choice([-1.0, 1.0], 80), rng.uniform(-1, 1, 80)]
    found = choose_pairs(method, [LETTERS, AGREED, SIZE], typed, rng.choice([-1.0, 1.0], 80), many=2, rng=rng)
    assert len(found) == 2
    seen["spread"] = choosing_pairs.SPREAD_SHARE * 0.25 / method.noise_multiplier**2
    whole = 1.0 / method.noise_multiplier**2
    assert sum(seen.values()) == pytest.approx(0.25 * whole, rel=1e-6)
    rest = 5 / method.counts_noise(5) ** 2 + method.steps / method.step_noise**2 + 1 / method.calibration_noise**2
    assert rest + sum(seen.values()) == pytest.approx(whole, rel=1e-6)
    assert replace(method, pairs_share=0.0).steps_share > method.steps_share + 0.24
    with pytest.raises(InvalidArgument, match="pairs_share"):
        choose_pairs(replace(method, pairs_share=0.0), [LETTERS, AGREED], typed[:2], np.ones(80), many=1, rng=rng)
    with pytest.raises(InvalidArgument, match="pairs"):
        choose_pairs(method, [LETTERS], typed[:1], np.ones(80), many=1, rng=rng)


def test_a_pair_has_a_cell_for_every_combination_and_none_where_something_is_missing() -> None:
    pair = Pair.of(SIZE, LETTERS)
    assert pair.sizes[1] == 3
    assert pair.sizes[0] <= MOST_CUTS + 1
    assert len(pair.labels) == pair.cells == pair.sizes[0] * 3
    assert pair.labels[1] == "size: below 5, letter: b"
    sizes, letters = SIZE.scaled(np.array([0.0, 0.0, 100.0, np.nan, 3.0])), np.array([0.0, 1.0, 2.0, 1.0, np.nan])
    codes = pair.codes(sizes, letters)
    assert codes.tolist() == [0, 1, pair.cells - 1, pair.cells, pair.cells]
    np.testing.assert_array_equal(pair.basis()[codes], pair.spread(sizes, letters))
    assert pair.spread(sizes, letters).sum(axis=1).tolist() == [1, 1, 1, 0, 0]
    assert Pair.of(Encoding(name="size", kind="number", low=0.0, high=100.0), LETTERS).sizes == pair.sizes
    many = Encoding(name="many", kind="category", categories=tuple(map(str, range(MOST_CELLS // 3 + 1))))
    assert all_pairs([LETTERS, many, AGREED]) == (Pair.of(LETTERS, AGREED), Pair.of(many, AGREED))
    for wrong, said in (
        ([("letter", "letter")], "two different"), ([("letter",)], "two names"), (["ab"], "two names"),
        ([("letter", "x")], "“x” is not one"), ([("letter", "many")], "cells"),
        ([("letter", "agreed"), ("agreed", "letter")], "all be different"),
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=said):
            declared_pairs([LETTERS, many, AGREED], wrong)


def people(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Large and a, or small and not a: no single column says anything."""
    rng = np.random.Generator(np.random.SFC64(seed))
    frame = pd.DataFrame({
        "size": rng.uniform(0, 100, n), "letter": rng.choice(["a", "b"], n), "agreed": rng.random(n) < 0.5,
        "luck": rng.random(n),
    })  # fmt: skip
    return frame, ((frame["size"] > 50) == (frame["letter"] == "a")).to_numpy()


@pytest.mark.parametrize("pairs", [None, [("letter", "size")], 1])
def test_estimators_learn_what_no_single_column_says(pairs) -> None:
    frame, y = people(4000, 1)
    test, truth = people(1000, 2)
    model = PrivateClassifier(1.0, 1e-5, COLUMNS, 3, classes=[False, True], pairs=pairs).fit(frame, y)
    number = PrivateRegressor(1.0, 1e-5, COLUMNS, (0, 1), 3, pairs=pairs).fit(frame, y.astype(float))
    right = float((model.predict(test) == truth).mean())
    error = float(np.abs(number.predict(test) - truth).mean())
    if pairs is None:
        assert right < 0.6
        assert error > 0.4
        assert "no pair of columns" in model.card()
        assert "pairs" not in json.loads(model.to_json())
        return
    assert right > 0.97
    assert error < 0.1
    assert {frozenset(pair.names) for pair, _ in model.scorecard_.pairs} == {frozenset(("size", "letter"))}
    again = load_scorecard(model.to_json())
    assert again.predict(test) == model.predict(test).tolist()
    assert "act together: " in again.card()
    assert model.cost_.epsilon == 1.0


def test_three_classes_and_pairs_that_cannot_be() -> None:
    frame, y = people(3000, 4)
    three = np.where(frame["agreed"], y * 1, 2 * y)
    model = PrivateClassifier(2.0, 1e-5, COLUMNS, 3, classes=[0, 1, 2], pairs=1).fit(frame, three)
    assert [frozenset(pair.names) for pair, _ in model.scorecard_.pairs] == [frozenset(("size", "letter"))]
    for wrong in ("size", 0, True, [("size", "who")], [1]):
        with pytest.raises(InvalidArgument, match="pairs"):
            PrivateClassifier(columns=COLUMNS, pairs=wrong).fit(frame, y)
    with pytest.raises(InvalidArgument, match="two columns"):
        PrivateRegressor(columns={"size": (0, 100)}, target=(0, 1), pairs=2).fit(frame, y)


def test_what_cannot_be_paired_is_refused_before_anything_is_spent(monkeypatch) -> None:
    """No two of these columns have few enough cells; class names, which cost, are not drawn first."""
    frame, y = people(300, 4)
    many = [str(place) for place in range(40)]
    wide = frame.assign(one=many[3], other=many[5])
    monkeypatch.setattr(NoisyClassNames, "draw", lambda *_: pytest.fail("class names were drawn"))
    with pytest.raises(InvalidArgument, match="few enough"):
        PrivateClassifier(columns={"one": many, "other": many}, pairs=1).fit(wide, y)


@pytest.mark.parametrize("delta", [1e-6, 0.01])
def test_the_first_model_has_its_noise_whatever_delta_is(delta: float) -> None:
    method = ScaledDescent(epsilon=0.01, delta=delta)
    first = first_model(method, 4.0 * method.noise_multiplier)
    assert first.noise_multiplier == pytest.approx(4.0 * method.noise_multiplier, rel=1e-6)


TABLE = (
    Column(name="size", type="number", low=0, high=100),
    Column(name="letter", type="category", categories=("a", "b")),
    Column(name="good", type="yes/no"),
)


def asked(kind, pairs=(("letter", "size"),)):
    declared = Declaration(columns=TABLE)
    return kind.of(declared, target="good", columns=["size", "letter"], epsilon=1.0, delta=1e-6, pairs=pairs)


@pytest.mark.parametrize("kind", [PrivateModel, ScaledModel])
def test_a_released_model_has_the_pairs_that_were_declared(kind) -> None:
    """In the request, its digest, its words, and the model's file, which predicts by them."""
    from dpcore.datasets import PrivateRows

    frame, y = people(3000, 6)
    text = frame[["size", "letter"]].astype(str).assign(good=np.where(y, "yes", "no"))
    request, plain = asked(kind), asked(kind, ())
    assert request.features.paired == (("letter", "size"),)
    assert request.what == "A model that predicts “good” from 2 columns, 1 pair of them together"
    assert any("letter with size" in rule for rule in request.rules)
    assert question_digest(request) != question_digest(plain)
    assert "pairs" not in _parameters(plain, _fields)["features"], "earlier answers are found by the digest they had"
    assert request.cost == plain.cost
    answer = json.loads(json.dumps(request.answer(PrivateRows(text))))
    model = load_model(answer)
    assert answer["version"] == 2
    assert answer["features"].count("letter: a, size: below 5") == 1
    assert (
        np.mean([told == ("yes" if one else "no") for told, one in zip(model.predict(frame[:500]), y, strict=False)])
        > 0.9
    )
    assert "act together besides: letter with size" in model.card()
    with pytest.raises(InvalidArgument, match="“other”"):
        asked(kind, (("letter", "other"),))


def test_rows_with_pairs_stay_in_the_ball_and_say_the_same_as_codes(rng) -> None:
    frame, y = people(60, 7)
    frame.loc[3, "size"] = np.nan
    schema = Schema(columns=TABLE)
    text = frame[["size", "letter"]].astype(str).replace("nan", "").assign(good=np.where(y, "yes", "no"))
    table = apply(schema, text).table(fingerprint="f", lineage="l")
    features = Features.of(schema, target="good", columns=["size", "letter"], pairs=[("size", "letter")]).stepped
    typed = [column.typed(table.frame[column.name]) for column in features.columns]
    rows, ones = features.rows(typed), features.coded(typed, missing=False)
    assert rows.shape[1] == features.d == len(features.names) == len(features.bounds[0])
    assert np.linalg.norm(rows, axis=1).max() <= 1.0 + 1e-12
    points = rng.standard_normal(ones.shape[1])
    np.testing.assert_allclose(rows @ features.as_weights(points), ones.dense() @ points, atol=1e-9)
    plain = Features.of(schema, target="good", columns=["size", "letter"])
    assert features.d - plain.stepped.d == features.pairs[0].cells
    assert features.prepare(table).incomplete == 1
