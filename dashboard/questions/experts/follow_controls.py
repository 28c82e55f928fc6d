"""What can be set about following experts: what is assumed, the measure, what is published, and what is asked for."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dashboard.case import Case
from dashboard.controls import Choice, Number, Switch, slug
from dashboard.questions.experts.follow_request import Publish
from dashboard.questions.experts.followed import Followed
from dashboard.usual import measure
from dashboard.words import follow as said
from dpcore.experts import ExpertsProblem
from dpcore.experts.strategy import ASSUMPTIONS, Assumption
from dpcore.validate import FloatArray

NON_PRIVATE = "non_private"
FIRST: dict[Assumption, str] = {
    "any": "weighted_majority",
    "oblivious": "batched",
    "independent": "doubling_leader",
}
"""The strategy in use until another is chosen: what can be released under each assumption."""
OWN_REGRET = 0.05
"""Points a round more than the best expert that a person accepts of their own data until they say."""

ASSUME: Choice[Assumption] = Choice(
    key="assumption",
    label=said.ASSUME,
    help=said.ASSUME_HELP,
    options=ASSUMPTIONS,
    names=lambda one: said.ASSUMED[one],
    default="oblivious",
    look="buttons",
    once={"outcomes do not react to whom we follow": "oblivious"},
)
METRIC = measure("experts_metric", said.METRICS, said.METRICS_ONCE)
BAND = Switch(key="experts_band", label=said.BAND_CONTROL, default=True)
PUBLISH: Choice[Publish] = Choice(
    key="experts_publish",
    label=said.PUBLISH,
    help=said.PUBLISH_HELP,
    options=("plays", "from_now_on"),
    names=lambda one: said.PUBLISHED[one],
    default="plays",
    look="buttons",
)


def need(case: Case, whom: Followed, problem: ExpertsProblem, metric: str) -> Number:
    """What a person accepts; until they say so, what ``_usual`` says."""
    regret, total = _usual(case, whom, problem)
    if metric == "regret_per_round":
        key, label, low, high, default = "regret", said.need_regret(whom.units), 0.001, 100.0, 100 * regret
    else:
        key, label, low, high, default = "total", said.NEED_TOTAL, 0.001, 1e9, total * problem.n
    rounded = _up(min(max(default, low), high))
    return Number(
        key=slug("experts_target", key, case.source.key, whom.name),
        label=label,
        help=said.NEED_HELP,
        default=min(rounded, high),
        low=low,
        high=high,
        step=float(10.0 ** math.floor(math.log10(rounded))) / 2,
        linked=case.source.public,
    )


def _usual(case: Case, whom: Followed, problem: ExpertsProblem) -> tuple[float, float]:
    """What to accept at first, a round: more than the best expert, and in all.

    For data that everybody may see, half of what learning gains over picking at random. A person's own file says
    nothing here: a number that a page begins with must not come from it.
    """
    if whom.reading is not None and not case.source.public:
        return OWN_REGRET, 0.5
    losses = whom.losses.values
    own = float(losses.sum(axis=0).min()) / problem.n
    at_random = float(losses.mean()) - own
    here = np.array([1.0]), np.array([float(problem.n)])
    learnt = case.memo(
        ("experts", *whom.key, "learnt"), partial(one_value, problem.central, NON_PRIVATE, "regret_per_round", *here)
    )
    accepted = max((learnt + at_random) / 2, 1.1 * learnt, 1e-4)
    return accepted, own + accepted


def _up(value: float) -> float:
    """To two digits, upwards."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")


def one_value(problem: ExpertsProblem, key: str, metric: str, epsilon: FloatArray, n: FloatArray) -> float:
    """A measure at one ε (1,) and one number of rounds (1,)."""
    return float(problem.evaluate(key, metric, epsilon, n).value[0])
