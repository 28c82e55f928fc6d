"""The four cells of a model, and the exact laws of what is told of them with noise."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dpcore.audit.drawn import drawn_model
from dpcore.datasets import Declaration, load_sample
from dpcore.errors import InvalidArgument
from dpcore.training import Features, load_model
from dpcore.training.confusion import CELLS, Confusion, confusion_of, lean, margins, share
from dpcore.training.confusion_law import told_off, verdict_chance
from dpcore.training.confusion_problem import ConfusionProblem
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise, Noise

SOME = Confusion(found=18, missed=58, false_alarms=10, rightly_left=230)
SOME_SHARES = Confusion(found=0.4, missed=0.2, false_alarms=0.1, rightly_left=0.3)
SHAPES = ({}, {"shapes": {"age": "even", "day": "even"}, "pairs": [("age", "complaint")]})


def laws(law: type[Noise], scale: float, counts: int, reach: int = 400) -> np.ndarray:
    """Chances of −reach to reach by convolving the law of one noise, which is written down here anew."""
    places = np.arange(-reach, reach + 1)
    one = np.exp(-np.abs(places) / scale if law is LaplaceNoise else -(places**2) / (2.0 * scale**2))
    one /= one.sum()
    return one if counts == 1 else np.convolve(one, one)[reach : -reach or None]


@pytest.mark.parametrize("how", SHAPES)
def test_each_row_is_where_the_model_itself_puts_it(how: dict) -> None:
    """In the cell that ``predict`` says, and by itself: alone, among others, and in any order the margin is the same to
    the bit."""
    table = load_sample("clinic")
    declared = Declaration.of(table.schema)
    columns = ["complaint", "age", "waiting minutes", "day"]
    model = load_model(drawn_model(declared, target="returned", columns=columns, **how))
    features = model.features
    typed = [column.typed(table.frame[column.name]) for column in features.columns]
    together = margins(features, model.weights, typed)
    order = np.random.default_rng(1).permutation(together.size)
    assert (margins(features, model.weights, [one[order] for one in typed]) == together[order]).all()
    for place in range(0, together.size, 41):
        alone = margins(features, model.weights, [one[place : place + 1] for one in typed])
        assert alone[0] == together[place]
    says = np.array(model.predict(table.frame)) == "yes"
    has = table.frame["returned"].astype(bool).to_numpy()
    seen = [(has & says).sum(), (has & ~says).sum(), (~has & says).sum(), (~has & ~says).sum()]
    assert seen == [getattr(confusion_of(features, model.weights, table.frame), name) for name in CELLS]
    assert all(seen), "or a cell was never looked at"


def test_only_two_classes_have_four_cells() -> None:
    table = load_sample("clinic")
    for how, match in (({"target": "age"}, "number"), ({"target": "complaint", "apart": True}, "more than two")):
        features = Features.of(table.schema, columns=["waiting minutes"], **how)
        with pytest.raises(InvalidArgument, match=match):
            confusion_of(features, np.zeros(features.d), table.frame)


def test_shares_follow_from_the_four_numbers() -> None:
    assert SOME.right_share == pytest.approx(248 / 316)
    assert SOME.common_share == pytest.approx(240 / 316)
    assert SOME.found_share == pytest.approx(18 / 76)
    assert SOME.named_share == pytest.approx(18 / 28)
    for cells in itertools.product(range(4), repeat=4):
        told = Confusion(**dict(zip(CELLS, cells, strict=True)))
        if told.total:
            assert told.better == (told.right > max(told.yes, told.no)), "as both comparisons say"
    assert share(-3, 5) == 0.0
    assert share(2, -1) == 1.0
    assert share(-1, -1) == 0.5


LAWS = [LaplaceNoise, GaussianNoise]
SCALES = [(LaplaceNoise, scale) for scale in (0.4, 2.0, 9.0)] + [
    (GaussianNoise, scale) for scale in (0.2, 0.4, 2.0, 11.0, 11.4, 15.9, 16.1, 40.0)
]
"""Of Gaussian noise from where one place has nearly all to where chances are no longer added up one by one."""


@pytest.mark.parametrize(("kind", "scale"), SCALES)
@pytest.mark.parametrize("counts", [1, 2])
def test_the_law_and_its_tail_are_those_of_a_convolution(kind: type[Noise], scale: float, counts: int) -> None:
    law, noise, places = laws(kind, scale, counts), kind(scale=scale, counts=counts), np.arange(-60, 61)
    assert noise.chance(places) == pytest.approx(law[340:461], abs=1e-14)
    tails = np.array([law[400 + k :].sum() for k in places])
    assert noise.at_least(places) == pytest.approx(tails, abs=1e-12)
    assert noise.at_least(places) != pytest.approx([law[401 + k :].sum() for k in places], abs=1e-3)
    near = (places > 0) & (places < 5 * scale)
    assert noise.at_least(places)[near] == pytest.approx(tails[near], rel=1e-11), "of what is rare no digit is lost"
    assert float(noise.variance) >= law @ np.arange(-400, 401) ** 2 * (1 - 1e-12)
    assert float(noise.variance) < 1.2 * law @ np.arange(-400, 401) ** 2 or scale < 1.0
    several = kind(scale=np.array([[scale], [3.0], [77.0]]), counts=counts).at_least(np.array([[1, 2], [3, 4], [5, 6]]))
    singly = [
        kind(scale=one, counts=counts).at_least(row)
        for one, row in zip((scale, 3.0, 77.0), ([1, 2], [3, 4], [5, 6]), strict=True)
    ]
    assert several == pytest.approx(np.array(singly), rel=1e-14), "each scale has a law of its own"
    within = int(noise.within(0.05))
    both = [law[400 - x : 401 + x].sum() ** 2 for x in (within - 1, within)]
    assert both[1] >= 0.95
    assert within == 0 or both[0] < 0.95


@pytest.mark.parametrize("scale", [2.0**49, 2.0**50, 1e16, 1e300])
@pytest.mark.parametrize("beta", [0.05, 0.001, 1e-9])
@pytest.mark.parametrize("law", LAWS)
def test_a_bound_is_found_where_floats_lie_far_apart(law: type[Noise], scale: float, beta: float) -> None:
    """It was looked for until two floats were 1 apart, which such are never."""
    found = float(law(scale=scale).within(beta))
    beyond = float(law(scale=scale).at_least(found))
    assert 1.0 - (1.0 - 2.0 * beyond) ** 2 == pytest.approx(beta, rel=1e-3)


@pytest.mark.parametrize(("right", "wrong", "scale", "counts"), [(18, 7, 2.0, 2), (30, 0, 3.0, 2), (4, 9, 1.5, 1)])
@pytest.mark.parametrize("kind", LAWS)
def test_how_far_off_a_share_is_told_follows_its_exact_law(
    kind: type[Noise], right: int, wrong: int, scale: float, counts: int
) -> None:
    """Against every pair of noises, gone through one by one."""
    law, reach = laws(kind, scale, counts, 80), np.arange(-80, 81)
    off = np.array([[abs(share(right + a, wrong + b) - right / (right + wrong)) for b in reach] for a in reach])
    found = float(told_off(right, wrong, scale, law=kind, counts=counts)[0])
    chances = np.outer(law, law)
    assert chances[off <= found * (1 + 1e-6)].sum() >= 0.95
    assert chances[off <= found * (1 - 1e-3)].sum() < 0.95
    assert found <= float(kind(scale=scale, counts=counts).within(0.05)) / (right + wrong), "as the theorem says"


def test_no_pair_of_noises_moves_a_share_farther_than_the_theorem_says() -> None:
    """Over true and over told total, whichever is larger; a theorem of half as much fails."""
    broken = False
    for right, wrong, a, b in itertools.product(range(6), range(6), range(-8, 9), range(-8, 9)):
        total, most = right + wrong, max(abs(a), abs(b))
        if total == 0:
            continue
        told = max(right + a, 0) + max(wrong + b, 0)
        off = abs(share(right + a, wrong + b) - right / total)
        assert off <= most / max(total, told) + 1e-12
        broken |= off > most / (2 * max(total, told))
    assert broken


@pytest.mark.parametrize("law", LAWS)
def test_the_verdict_follows_its_exact_law(law: type[Noise]) -> None:
    for cells in ((9, 4, 3, 11), (3, 4, 3, 11), (6, 6, 6, 6)):
        true, scale = Confusion(**dict(zip(CELLS, cells, strict=True))), 2.0
        one, reach = laws(law, scale, 1, 80), 80
        difference = np.convolve(one, one[::-1])[reach:-reach]  # of two noises, −80 to 80
        chance = 1.0
        for gain in (true.found - true.false_alarms, true.rightly_left - true.missed):
            chance *= difference[np.arange(-reach, reach + 1) + gain > 0].sum()
        assert verdict_chance(true, scale, law) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_curves_fall_as_they_must_and_stay_below_what_theory_says(delta: float | None) -> None:
    problem = ConfusionProblem(true=SOME, questions=2, rows_per_person=3, delta=delta)
    epsilon, people = np.geomspace(0.02, 10, 25), np.full(25, 316.0)
    off, bound = (problem.evaluate(method, "off", epsilon, people) for method in problem.methods)
    assert (np.diff(off.value) <= 1e-3).all()
    assert (off.value <= bound.value * (1 + 1e-6)).all()
    assert off.kind == "exact"
    assert bound.kind == "bound"
    right, sure = (problem.evaluate(method, "verdict", epsilon, people).value for method in problem.methods)
    assert (sure <= right + 1e-12).all()
    assert sure[-1] > 0.0
    here = problem.evaluate("told", "off", np.array([0.5]), np.array([316.0])).value
    # by ε: 3 · 2 and 2 · 3; by ρ: 3 · √2 and √2 · √9
    alone = replace(problem, relation="replace_one", rows_per_person=1, questions=3 if delta is None else 9)
    assert here == pytest.approx(alone.evaluate("told", "off", np.array([0.5]), np.array([316.0])).value, rel=1e-9)
    rough = problem.evaluate("told", "off", np.full(600, 0.5), np.full(600, 316.0)).value
    assert rough == pytest.approx(np.full(600, here[0]), rel=0.02), "a map is drawn in less time"
    with pytest.raises(InvalidArgument, match="at least one row"):
        ConfusionProblem(true=Confusion(found=0, missed=0, false_alarms=0, rightly_left=0))
    for wrong in ({"true": SOME_SHARES}, {"true": SOME, "rows": 0}, {"true": SOME, "rows": 1.5}):
        with pytest.raises(InvalidArgument, match="whole number"):
            ConfusionProblem(**wrong)


def test_how_far_a_private_model_can_lean_on_its_rows() -> None:
    """Above the total variation of the Gaussian mechanism with this ρ, whose is worst known, for either relation."""
    from scipy.stats import norm

    for rho in (0.0005, 0.005, 0.05, 0.5):
        for neighbours, steps in (("replace_one", 1.0), ("add_remove", 2.0)):
            apart = 2.0 * norm.cdf(steps * np.sqrt(2.0 * rho) / 2.0) - 1.0
            assert apart <= lean(rho, neighbours) <= 1.0  # type: ignore[arg-type]
    assert lean(3.0, "add_remove") == 1.0
