"""Theorems as values: whole axes at once, exact values inside them, and a page of documentation that agrees."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import NonPrivate, Scenario, WeightedMajority, expected_regret, hedge_rate, held_bound, regret_bound
from dpcore.selection import Quantile
from dpcore.theorem import Theorem
from dpcore.theorems import theorems
from dpcore.training import Ball, Logistic

ROOT = Path(__file__).parents[2]
AXES = {  # whole axes as charts draw them
    "n": np.geomspace(1e3, 1e9, 40),
    "rounds": np.geomspace(10, 1e6, 40),
    "rows": np.geomspace(10, 1e6, 40),
    "k": np.geomspace(2, 1e9, 40),
    "queries": np.geomspace(1, 1e6, 40),
    "share": np.geomspace(1e-6, 1, 40),
}
PLAIN = {
    "epsilon": 0.5,
    "delta": 1e-6,
    "beta": 0.05,
    "experts": 100,
    "columns": 20,
    "k": 50,
    "n": 1e6,
    "d": 10,
    "alpha": 0.01,
    "tolerance": 0.01,
    "step_epsilon": 0.001,
    "learning_rate": 0.01,
    "rounds": 1000,
    "rows": 100,
    "queries": 10,
    "share": 0.1,
}


@pytest.mark.parametrize("theorem", theorems().values(), ids=lambda theorem: theorem.key)
def test_a_theorem_over_every_axis(theorem: Theorem) -> None:
    """Finite and above 0 along every long axis it has, at once; unknown settings are refused by name."""
    given = {name: PLAIN[name] for name in theorem.settings if name in PLAIN}
    if theorem.key.startswith("learning"):
        given.pop("rows", None)
    assert np.isfinite(theorem.value(**given)).all()
    for name in theorem.settings:
        if name in AXES and not (name == "rows" and theorem.key == "learning"):
            value = theorem.value(**(given | {name: AXES[name]}))
            assert value.shape == AXES[name].shape
            assert np.isfinite(value).all()
            assert (value >= 0).all()
    assert theorem.loose_by(1.0, **given) == pytest.approx(theorem.value(**given))
    with pytest.raises(InvalidArgument, match=r"^nonsense "):
        theorem.value(nonsense=1.0, **given)
    assert theorem.kind == ("rate" if "up to a constant" in theorem.statement else "bound")


def test_longer_is_better_at_the_same_epsilon() -> None:
    """Regret a round falls with T in every regret theorem, and the theorems are those of ``regret_bound``."""
    rounds = np.geomspace(10, 1e6, 30).round()
    found = theorems()
    for key in ("hedge", "11.1", "11.3", "11.4"):
        theorem = found[key]
        given = {name: PLAIN[name] for name in theorem.settings if name != "rounds"}
        value = theorem.value(rounds=rounds, **given)
        assert (np.diff(value / rounds) < 0).all()
        at = regret_bound(key, rounds=1000, experts=100, epsilon=0.5, delta=1e-6)
        assert float(theorem.value(rounds=1000, **given)) == pytest.approx(at.total)
    held = found["held"].value(rounds=1001, experts=9, learning_rate=0.02, hold=7)
    assert float(held) == pytest.approx(held_bound(0.02, 1001, 9, 7))


def test_exact_regret_stays_inside() -> None:
    """On losses made by chance and against the player: Hedge at its best rate, at the private one, and held."""
    found = theorems()
    for story in ("gap", "switching", "adversarial"):
        losses = Scenario(story=story, experts=8).losses(1500)
        exact = expected_regret(losses, [hedge_rate(1500, 8)])[0]
        assert exact <= float(found["hedge"].value(rounds=1500, experts=8))
        assert exact == pytest.approx(NonPrivate(rounds=1500, experts=8).expected_regret(losses))
        private = WeightedMajority(epsilon=1.0, delta=1e-6, rounds=1500, experts=8, rule="textbook")
        bound = float(found["11.3"].value(rounds=1500, experts=8, epsilon=1.0, delta=1e-6))
        assert private.expected_regret(losses) <= bound
        for hold in (1, 6):
            sums = losses.astype(float).reshape(-1, hold, 8).mean(axis=1)
            regret = hold * expected_regret(sums, [0.05 * hold])[0]
            assert regret <= float(found["held"].value(rounds=1500, experts=8, learning_rate=0.05, hold=hold))


def test_the_rank_of_a_quantile() -> None:
    """Exact chance of a rank off by more than promised: at most β for any data; by a quarter of it, more."""
    rng, worst = np.random.default_rng(0), 0.0
    for relation, sensitivity in (("add_remove", 0.5), ("replace_one", 1.0)):
        for values in (rng.uniform(0, 1, 80), np.repeat([0.2, 0.4], 40), rng.beta(2, 30, 80)):
            quantile = Quantile(epsilon=0.4, low=0.0, high=1.0, relation=relation)
            law = quantile.law(values)
            off = np.abs(law.intervals.below - 0.5) * 80
            for near in (1.0, 5.0):
                share = float(law.intervals.widths[off <= near].sum())
                if share == 0.0:
                    continue
                bound = near + float(
                    theorems()["quantile"].value(share=share, epsilon=0.4, beta=0.1, sensitivity=sensitivity)
                )
                assert law.probabilities[off > bound].sum() <= 0.1
                worst = max(worst, float(law.probabilities[off > near + (bound - near) / 4].sum()))
    assert worst > 0.1


def test_the_ball_is_one_formula() -> None:
    ball = Ball(epsilon=0.5, loss=Logistic(), radius=2.0, neighbours="replace_one")
    value = theorems()["ball"].value(n=400, d=2, epsilon=0.5, spread=2.0, halves=2)
    assert ball.excess_bound(400, 2) == pytest.approx(float(value))
    people = 400 * 0.25
    book = 0.5 * 2.0 * (2 * 2 / people + 2 / people * (2 * math.log(people / 2) + math.log(20)))
    assert float(value) == pytest.approx(book)


def test_the_documentation_lists_every_theorem() -> None:
    """Key, statement, conditions and source as they are in the code, and a test that exists."""
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### `([^`]+)`[^\n]*\n(.*?)(?=^##|\Z)", text, flags=re.M | re.S))
    assert set(sections) == set(theorems())
    for key, theorem in theorems().items():
        section = sections[key]
        for said in (theorem.statement, theorem.source, *theorem.conditions.sentences()):
            assert said in section, (key, said)
        assert "Drawn: " in section
        checks = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", section)
        assert checks, key
        for path, name in checks:
            code = (ROOT / path).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in code, (path, name)
