"""Running the cases: the release as it is, and its broken twins, drawn from many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import islice
from typing import Any
from unittest.mock import patch

import numpy as np

from dpcore.audit.bounds import epsilon_bound, scale_bound
from dpcore.audit.cases import CASES, EPSILON, Case, rows
from dpcore.datasets import Column, Declaration
from dpcore.in_units import binary_unit, to_units
from dpcore.releases import draws
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.model import PrivateModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.whole_rows import SUM_UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the table: a claim, the bound that was found, and whether that is as it must be."""

    name: str
    claimed: str
    found: str
    answers: int
    twin: str
    good: bool
    caught: bool


@contextmanager
def less_noise(factor: float) -> Iterator[None]:
    """All draws at ``factor`` times their scale, with the library's own check kept from noticing."""
    scale = draws._scale
    with (
        patch.object(draws, "_scale", lambda value: factor * scale(value)),
        patch.object(draws._Noise, "meets", lambda self, _: self),
    ):
        yield


def _answers(case: Case, data: Any) -> Iterator[Hashable]:
    found = case.request.read(data)
    while True:
        yield case.outcome(case.request.draw(found))


def bound(case: Case, answers: int) -> float:
    """The ε that ``answers`` per side of a case rule out."""
    here, there = (list(islice(_answers(case, data), answers)) for data in (case.here, case.there))
    return epsilon_bound(here, there, case.request.cost.delta)


def caught(case: Case, answers: int) -> bool:
    """Whether at most ``answers`` per side rule out the claim: for a twin that is to be found out, as it stands.

    Looked at after an eighth, a quarter and a half as well, so that what is plain is found with few. One look alone
    has no more power than these together; that looking often raises false alarms matters only for an honest release,
    which is asked by ``bound``.
    """
    sides = [_answers(case, data) for data in (case.here, case.there)]
    here: list[Hashable] = []
    there: list[Hashable] = []
    for share in (8, 4, 2, 1):
        for drawn, side in ((here, sides[0]), (there, sides[1])):
            drawn.extend(islice(side, answers // share - len(drawn)))
        if epsilon_bound(here, there, case.request.cost.delta) > case.request.cost.epsilon:
            return True
    return False


def audit_case(case: Case) -> Finding:
    """The release must stay within its claim, and its twin with less noise must be found out."""
    claimed = case.request.cost.epsilon
    found = bound(case, case.answers)
    with less_noise(case.less):
        twin = bound(case, case.answers)
    return Finding(
        name=case.name,
        claimed=f"ε ≤ {claimed:.4g}",
        found=f"ε ≥ {found:.2f}",
        answers=2 * case.answers,
        twin=f"noise × {case.less:g}: ε ≥ {twin:.2f}",
        good=found <= claimed,
        caught=twin > claimed,
    )


_COLUMNS = (
    Column(name="age", type="integer", low=0, high=100),
    Column(name="since", type="date", earliest=date(2000, 1, 1), latest=date(2020, 1, 1)),
    Column(name="ill", type="yes/no"),
)
_STEPS, _RUNS = 1, 200


def _of_scale(name: str, ratio: Callable[[], tuple[float, int]]) -> Finding:
    """Noise must be at least what is claimed, and its twin with a fifth less must be found out.

    ``ratio()`` draws, and gives how many times the claim the noise is at most, and from how many draws.
    """
    found, count = ratio()
    with less_noise(0.8):
        twin, _ = ratio()
    return Finding(
        name=name,
        claimed="noise × 1",
        found=f"noise × {found:.2f} or less",
        answers=count,
        twin=f"noise × 0.8: × {twin:.2f} or less",
        good=found >= 1.0,
        caught=twin < 1.0,
    )


def audit_model() -> Finding:
    """The noise in released weights, against the standard deviation that is claimed.

    One step from zero: the weights are minus a public rate times the noisy sums, and the rows are empty, so the sums
    are 0. 600 draws see a fifth less noise with chance above 0.999.
    """
    declaration = Declaration(columns=_COLUMNS, people=100)
    request = PrivateModel.of(declaration, target="ill", columns=["age", "since"], epsilon=EPSILON, delta=1e-5)
    request = replace(request, steps=_STEPS, momentum=0.0, tail=1.0)
    table = rows(age=[""], since=[""], ill=[""])
    unit = request.descend(lambda weights: np.full(weights.size, 2**20, dtype=np.int64), 100)[0] / (2**20 * SUM_UNIT)
    claimed = abs(unit) * request.sensitivity * SUM_UNIT * request.noise_multiplier

    def ratio() -> tuple[float, int]:
        found = request.read(table)
        drawn = [weight for _ in range(_RUNS) for weight in request.draw(found)["weights"]]
        return scale_bound(drawn, claimed), len(drawn)

    return _of_scale("model, Gaussian noise in the weights", ratio)


def audit_steps() -> Finding:
    """The noise in a model on steps: of its counts, of its one step's sums and of its calibration, all at once.

    Rows are empty, so all that is counted and summed is 0 and what is drawn is noise, each over its claim.
    """
    request, found = _on_steps(ScaledModel)
    clip = request.clip_for(100)
    claims = {
        request.rho * request.counts_share: request.counts_sensitivity(found.most_ones)
        * request.noise_of(request.counts_share),
        request.rho * request.steps_share: request.sums_sensitivity(clip) * request.noise_of(request.steps_share),
        request.rho * request.calibrated: request.cells_sensitivity * request.noise_of(request.calibrated),
    }
    return _of_draws("model on steps, Gaussian noise of all it draws", request, found, lambda rho, _: claims[rho])


def audit_bought_cuts() -> Finding:
    """The noise in the trees by which cuts are bought; all else is drawn as in a model on steps."""
    request, found = _on_steps(BoughtModel)
    part = request.cuts_share / len(request.bought)
    claims = {
        tree.size: request.tree_sensitivity(column) * request.noise_of(part)
        for column, tree in zip(request.bought, found.trees(), strict=True)
    }

    def claim(rho: float, size: int) -> float | None:
        return claims[size] if rho == request.rho * request.cuts_share / len(request.bought) else None

    return _of_draws("model on bought steps, Gaussian noise of its trees", request, found, claim, answers=1)


def _on_steps(kind: type[ScaledModel] | type[BoughtModel]) -> tuple[Any, Any]:
    """A request of one step, and what it reads from one empty row."""
    declaration = Declaration(columns=_COLUMNS, people=100)
    request = kind.of(declaration, target="ill", columns=["age", "since"], epsilon=EPSILON, delta=1e-5)
    request = replace(request, steps=_STEPS, momentum=0.0, tail=1.0)
    return request, request.read(rows(age=[""], since=[""], ill=[""]))


def _of_draws(
    name: str, request: Any, found: Any, claim: Callable[[float, int], float | None], *, answers: int = _RUNS // 10
) -> Finding:
    """All draws of some ρ and size of which there is a ``claim``, each over that."""

    def ratio() -> tuple[float, int]:
        drawn: list[float] = []
        gaussian = draws.gaussian

        def noted(values: Any, *, sensitivity: float, rho: float) -> Any:
            noisy = gaussian(values, sensitivity=sensitivity, rho=rho)
            claimed = claim(rho, noisy.size)
            if claimed is not None:
                drawn.extend((noisy / claimed).tolist())
            return noisy

        with patch.object(draws, "gaussian", noted):
            for _ in range(answers):
                request.draw(found)
        return scale_bound(drawn, 1.0), len(drawn)

    return _of_scale(name, ratio)


def last_bit(value: float) -> int:
    """The place of the last bit of a float that is 1: what a float's low digits can give away."""
    mantissa, exponent = math.frexp(value)
    scaled = int(mantissa * 2**53)
    return exponent - 53 + ((scaled & -scaled).bit_length() - 1) if scaled else 0


def audit_floats() -> Finding:
    """Last bits of released floats: noisy sums turned into numbers, at 0 and at 1; NumPy's Laplace noise is the twin.

    Mironov, CCS 2012: which floats can come out depends on the true value, whatever the noise's law.
    """
    unit, answers = binary_unit(1e-3), 4_000

    def released(value: float) -> list[Hashable]:
        total = to_units([value] * answers, unit)
        steps = draws.clamped_sensitivity(0.0, 1.0, unit, "add_remove")
        noisy = draws.laplace(total, sensitivity=steps, epsilon=EPSILON)
        return [(last_bit(number), number < 0.5) for number in draws.from_units(noisy, unit).tolist()]

    def naive(value: float) -> list[Hashable]:
        rng = np.random.default_rng(int(value) + 1)
        noisy = value + rng.laplace(scale=1 / EPSILON, size=answers)
        return [(last_bit(number), number < 0.5) for number in noisy.tolist()]

    found, twin = (epsilon_bound(draw(0.0), draw(1.0)) for draw in (released, naive))
    return Finding(
        name="last bits of released floats",
        claimed=f"ε ≤ {EPSILON:g}",
        found=f"ε ≥ {found:.2f}",
        answers=2 * answers,
        twin=f"NumPy's floats: ε ≥ {twin:.2f}",
        good=found <= EPSILON,
        caught=twin > EPSILON,
    )


TRIALS: dict[str, Callable[[], Finding]] = {
    **{case.name: partial(audit_case, case) for case in CASES},
    "model": audit_model,
    "steps": audit_steps,
    "bought cuts": audit_bought_cuts,
    "floats": audit_floats,
}
AUDITED = {case.key for case in CASES} | {"model", "scaled_model", "bought_model"}


def run(name: str) -> Finding:
    """One line of the table, by its name in ``TRIALS``; for worker processes."""
    return TRIALS[name]()
