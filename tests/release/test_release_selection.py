"""Private choices as they are released: their exact discrete laws on neighbours, and draws that follow those laws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from dpcore.events import BoundedRangeEvent, PureEvent
from dpcore.ledger import Ledger
from dpcore.release import question_digest, release
from dpcore.releases import catalog
from dpcore.releases.selection import BestRule, BestScore, MostCommonOption, QuantileValue
from dpcore.selection import Categories, Cuts, Quantile, expected_loss, true_quantile
from dpcore.selection import catalog as mechanisms

OPTIONS = ("a", "b", "c", "d")
COLUMNS = (Cuts(column="x", low=0, high=1, count=3), Categories(column="c", values=("u", "v")))
RULES = ("permute_and_flip", "exponential")


def labels(rng: np.random.Generator, n: int) -> list[Any]:
    return rng.choice(["a", "b", "c", "d", "other"], size=n, p=[0.4, 0.3, 0.1, 0.1, 0.1]).tolist()


def numbers(rng: np.random.Generator, n: int) -> list[float]:
    return rng.choice([rng.uniform(-3, 13, size=n), rng.integers(0, 11, size=n).astype(float)]).tolist()


def table(rng: np.random.Generator, n: int) -> list[tuple[float, str, bool]]:
    flip = rng.choice([0.1, 0.5])
    x = rng.uniform(size=n)
    return list(zip(x, rng.choice(["u", "v", "w"], size=n).tolist(), (x > 0.5) ^ (rng.random(n) < flip), strict=True))


def as_table(rows: list[tuple[float, str, bool]]) -> dict[str, Any]:
    return {
        "x": np.array([row[0] for row in rows]),
        "c": [row[1] for row in rows],
        "y": np.array([row[2] for row in rows], dtype=bool),
    }


ROWS: dict[
    str, tuple[Callable[..., Any], Callable[[np.random.Generator, int], list[Any]], Callable[[list[Any]], Any]]
] = {
    "most_common": (lambda **how: MostCommonOption(options=OPTIONS, **how), labels, list),
    "quantile": (lambda **how: QuantileValue(low=0.0, high=10.0, q=0.25, points=21, **how), numbers, list),
    "best_rule": (lambda **how: BestRule(columns=COLUMNS, target="y", **how), table, as_table),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rows_per_person", [1, 3])
@pytest.mark.parametrize("key", ROWS)
def test_the_released_law_is_private(key: str, rule: str, neighbours: str, rows_per_person: int) -> None:
    """Exact log-ratios when one person with up to c rows comes, goes or changes: at most ε over 60 data sets, with a
    range of at most ε where the cost says bounded range; and the same data break the promise at 0.8 of the noise."""
    make, draw_rows, shape = ROWS[key]
    request = make(epsilon=1.0, neighbours=neighbours, rows_per_person=rows_per_person, rule=rule)
    loud = make(epsilon=1.25, neighbours=neighbours, rows_per_person=rows_per_person, rule=rule)
    ranged = isinstance(request.cost.event, BoundedRangeEvent)
    rng = np.random.default_rng(1)
    worst = louder = 0.0
    for trial in range(60):
        rows = draw_rows(rng, int(rng.integers(3, 25)))
        if trial % 3 == 0:  # a clear case, where the promise is used up
            rows = [rows[0]] * 20 + [rows[1]] * (12 + trial % 5)
        mine = int(rng.integers(0, rows_per_person + 1)) if trial % 2 else rows_per_person
        rest = rows[mine:]
        new = draw_rows(rng, 1) * mine if neighbours == "replace_one" else []
        pair = [request.law(shape(data)) for data in (rows, rest + new)]
        ratio = np.log(pair[0]) - np.log(pair[1])
        worst = max(worst, float(np.abs(ratio).max()))
        assert not ranged or np.ptp(ratio) <= 1 + 1e-9
        pair = [loud.law(shape(data)) for data in (rows, rest + new)]
        louder = max(louder, float(np.abs(np.log(pair[0] / pair[1])).max()))
    assert worst <= 1 + 1e-9
    if neighbours == "add_remove" and key != "quantile":
        assert louder > 1.05
    assert louder > worst


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", [{"neighbours": "add_remove", "monotonic": True}, {"neighbours": "replace_one"}])
@pytest.mark.parametrize("fixed", [{}, {"resolution": 0.1, "sensitivity": 0.35}])
def test_the_law_over_scores_is_private(rule: str, how: dict, fixed: dict) -> None:
    """Every score moves by up to Δ, in whole numbers or rounded to a unit after moving: never more than ε."""
    request = BestScore(candidates=OPTIONS, epsilon=1.0, rule=rule, **how, **fixed)
    step = request.sensitivity
    rng = np.random.default_rng(2)
    worst = 0.0
    for _ in range(200):
        scores = rng.normal(size=4) * rng.choice([1.0, 10.0])
        move = rng.choice([-1.0, 0.0, 1.0], size=4) * step
        if how.get("monotonic"):
            move = np.abs(move) * rng.choice([-1.0, 1.0])
        if not fixed:
            scores = np.rint(scores)
        ratio = np.log(request.law(scores)) - np.log(request.law(scores + move))
        worst = max(worst, float(np.abs(ratio).max()))
    assert 0.5 < worst <= 1 + 1e-9


def cells(law: np.ndarray, seen: np.ndarray) -> float:
    """p-value of Pearson's χ² test; cells that expect fewer than 10 are put together."""
    expected = law * seen.sum()
    small = expected < 10
    if small.any():
        expected = np.append(expected[~small], expected[small].sum())
        seen = np.append(seen[~small], seen[small].sum())
    return float(chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)


CASES = {
    "most_common": lambda e, rule: (
        MostCommonOption(epsilon=e, options=OPTIONS, rule=rule),
        ["a"] * 9 + ["b"] * 8 + ["c"] * 6 + [None, "?"],
    ),
    "best_score": lambda e, rule: (
        BestScore(epsilon=e, candidates=OPTIONS, sensitivity=0.5, resolution=0.01, rule=rule, smallest=True),
        [0.3, 0.9, 1.4, 2.2],
    ),
    "quantile": lambda e, rule: (
        QuantileValue(epsilon=e, low=0, high=10, points=11, rule=rule),
        [1.0, 2.0, 3.0, 3.0, 4.0, 7.0, 9.5],
    ),
    "best_rule": lambda e, rule: (
        BestRule(epsilon=e, columns=COLUMNS, target="y", rule=rule),
        as_table(table(np.random.default_rng(3), 14)),
    ),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("key", CASES)
def test_answers_follow_the_law(key: str, rule: str) -> None:
    """3,000 answers at ε = 2 by operating system randomness: a right law fails once in 10^6 runs; the law of half the
    noise is rejected, so passing means something."""
    request, data = CASES[key](2.0, rule)
    request.validate(data)
    answers = [request.answer(data) for _ in range(3000)]
    seen = np.bincount([answer["index"] for answer in answers], minlength=request.law(data).size)
    assert cells(request.law(data), seen) > 1e-6
    assert cells(CASES[key](4.0, rule)[0].law(data), seen) < 1e-6
    json.dumps(answers[0], allow_nan=False)


def test_the_mechanisms_have_their_right_names() -> None:
    """OpenDP's noisy max is permute-and-flip under max divergence, the exponential mechanism under zCDP: the law each
    request states is that of the mechanism it names, and so is its cost."""
    data = ["a"] * 5 + ["b"] * 3
    for rule, word, event in (
        ("permute_and_flip", "Permute and flip", PureEvent),
        ("exponential", "Exponential mechanism", BoundedRangeEvent),
    ):
        request = MostCommonOption(epsilon=0.7, options=OPTIONS, rule=rule)
        assert request.mechanism.startswith(word)
        assert isinstance(request.cost.event, event)
        assert request.cost.epsilon == pytest.approx(0.7)
        named = mechanisms()[rule](epsilon=0.7, monotonic=True)
        assert np.allclose(request.law(data), named.probabilities([5, 3, 0, 0]), rtol=1e-12)


def test_the_grid_quantile_is_near_the_interval_quantile() -> None:
    """The released form picks from 1,001 points; its error is that of the form on the page to within a point or two."""
    values = np.random.default_rng(4).normal(50, 12, size=300)
    request = QuantileValue(epsilon=0.5, low=0, high=100)
    assert request.grid[1] - request.grid[0] == pytest.approx(0.1)
    truth = true_quantile(values, 0.5)
    released = float(request.law(values) @ np.abs(request.grid - truth))
    shown = Quantile(epsilon=0.5, low=0, high=100).expected_error(values)
    assert abs(released - shown) < 0.2


def test_values_equal_to_a_point_speak_for_it() -> None:
    """Whole numbers on a grid of whole numbers: the median itself is the likeliest answer, not its right neighbour."""
    request = QuantileValue(epsilon=3.0, low=0, high=10, points=11)
    values = [2.0] * 5 + [4.0] * 6 + [7.0] * 4
    law = request.law(values)
    assert request.grid[law.argmax()] == 4.0
    assert np.allclose(QuantileValue(epsilon=1.0, low=0, high=10, points=11).law([]), 1 / 11)


def test_fixed_point_costs_next_to_nothing() -> None:
    """Scores in fixed point lose at most one unit of sensitivity: at a fine resolution the loss is the ideal one."""
    scores = [3.2, 2.9, 1.1, 0.4]
    fine = BestScore(epsilon=1.0, candidates=OPTIONS, resolution=1e-6)
    ideal = mechanisms()["permute_and_flip"](epsilon=1.0)
    assert fine.law(scores) @ (3.2 - np.array(scores)) == pytest.approx(expected_loss(ideal, scores), rel=1e-4)
    assert fine.choice.sensitivity == 2**20 + 1


def test_what_is_undeclared_counts_for_none() -> None:
    request = MostCommonOption(epsilon=1.0, options=("a", "b"))
    assert request.scores(["a", "b", "a", "z", None, float("nan"), 3]).tolist() == [2, 1]


def test_requests_are_plain_public_parameters() -> None:
    kinds = {kind.key for kind in (MostCommonOption, BestScore, QuantileValue, BestRule)}
    assert kinds == {"most_common", "best_score", "quantile", "best_rule"}
    assert kinds <= set(catalog())
    seen = set()
    for key, case in CASES.items():
        for rule in RULES:
            request, _ = case(1.0, rule)
            assert request.key == key
            assert request.what.endswith("?")
            seen.add(question_digest(request))
    assert len(seen) == 8


def test_end_to_end(tmp_path: Any) -> None:
    """Charged once, the same answer again for the same request, and an answer among the options."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger.open_budget("people", epsilon=1.0)
    request = MostCommonOption(epsilon=0.4, options=OPTIONS)
    receipt = release(ledger, "one", "people", request, ["a"] * 50)
    again = release(ledger, "one", "people", request, ["b"] * 50)
    assert receipt == again
    assert ledger.remaining("people").epsilon == pytest.approx(0.6)
    assert receipt.answer["option"] in OPTIONS
