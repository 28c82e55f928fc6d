"""What the textbook spends, and why its model is worse: computed, not asserted."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.accounting import Cost, compose
from dpcore.training import BookGradientDescent, book_lesson, book_spend, book_split, count_not_positive, excess_risk
from tests.training.conftest import classes


def test_the_split_adds_up_and_is_the_methods_own_excess(rng) -> None:
    """The parts add up to the textbook's excess risk, which is that of the method (six standard errors of both)."""
    X, y = classes(300, 6)
    split = book_split(X, y, rng, epsilon=0.5, replicas=300)
    assert sum(split.parts.values()) == pytest.approx(split.book)
    method = BookGradientDescent(epsilon=0.5, delta=1e-5)
    risks = excess_risk(method.fit(X, y, rng, 300), X, y, 10.0)
    assert abs(risks.mean() - split.book) <= 6 * np.hypot(split.errors[0], risks.std() / 300**0.5)
    assert split.without_noise < split.exact < split.book


def test_what_is_most_of_the_difference_depends_on_the_data(rng) -> None:
    """With few people accounting costs most, with many ten steps are the limit: one sentence cannot be true of both."""
    few, many = classes(200, 6), classes(20_000, 6)
    assert book_split(*few, rng, epsilon=0.5, replicas=200).most in ("accounting", "noise")
    assert book_split(*many, rng, epsilon=0.5, replicas=20).most == "steps"


def test_the_noisy_count() -> None:
    """4 in 100 at 253 people and ε₀ = .01, 39 at .001; against draws (four standard errors)."""
    np.testing.assert_allclose(count_not_positive(253, [0.01, 0.001]), [0.0398, 0.3882], atol=5e-5)
    drawn = (60 + np.random.default_rng(0).laplace(scale=50, size=40_000) <= 0).mean()
    chance = float(count_not_positive(60, 0.02))
    assert abs(drawn - chance) <= 4 * (chance * (1 - chance) / 40_000) ** 0.5


def test_the_spend_on_three_axes() -> None:
    frame = book_spend([0.01, 0.1], steps=10, rows=253)
    assert frame["added_up"].tolist() == pytest.approx([0.1, 1.0])
    assert frame["exact"].iloc[1] == pytest.approx(0.2140, abs=5e-5)
    assert (frame["exact"] <= frame["with_count"]).all()
    assert (frame["with_count"] <= frame["added_up"] * 1.1).all()  # the sum is valid, and loose
    lesson = book_lesson(0.1)
    run = [Cost.gaussian(lesson.noise_multiplier, 1e-5, 10), Cost.laplace(10.0)]
    for name, epsilon in compose(run, 1e-5).items():
        if name != "best":
            assert frame[name].iloc[1] == pytest.approx(epsilon)
    assert frame["count_not_positive"].iloc[0] == pytest.approx(0.0398, abs=5e-5)
