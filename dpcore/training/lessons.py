"""Small lessons beside the curves: too many steps, what clipping does, what tuning costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.accounting import Cost, gaussian_epsilon
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training.descent import descend
from dpcore.training.fit import Fit, accuracy, checked, mean_squared_error, projected
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.losses import Logistic, linear, objective
from dpcore.training.optimum import minimise
from dpcore.training.plan import RADIUS
from dpcore.training.tuning import LogarithmicTries
from dpcore.validate import FloatArray, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator

_BAND = (0.1, 0.9)


def _scores(fit: Fit, best: float, data: Rows, radius: float = RADIUS) -> dict[str, FloatArray]:
    shown = "accuracy" if isinstance(fit.loss, Logistic) else "squared_error"
    score = accuracy if isinstance(fit.loss, Logistic) else mean_squared_error
    excess = objective(fit.loss, projected(fit.weights, radius), data.X, data.y) - best
    return {shown: score(fit, data.X_test, data.y_test), "excess_risk": np.maximum(excess, 0.0)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Rows to train on and rows to measure on, as everywhere in this package."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray

    def at_most(self, n: int) -> Rows:
        """The first n to train on, at most; all of the others."""
        return replace(self, X=self.X[:n], y=self.y[:n])


def steps_curve(
    method: NoisyGradientDescent,
    data: Rows,
    rng: Generator,
    *,
    steps: Sequence[int] = (1, 2, 5, 10, 20, 50, 100, 200, 400, 800),
    replicas: int = 20,
) -> pd.DataFrame:
    """Accuracy (or squared error) and excess risk against the number of steps at one total ε and one learning rate.

    More steps see the data more often, each with more noise: beyond some number the model gets worse. The last step is
    used, not an average. Columns ``steps, metric, value, low, high`` (8 of 10 runs within), ``without_noise``.
    """
    rate = method.step_length(data.X.shape[0])
    runs = [(float(count), replace(method, steps=count, rate=rate, tail=1e-9)) for count in steps]
    return _curve("steps", runs, data, rng, replicas).astype({"steps": int})


def clipping_curve(
    method: NoisyGradientDescent,
    data: Rows,
    rng: Generator,
    *,
    clips: Sequence[float] = (0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 2.0, 5.0),
    replicas: int = 20,
) -> pd.DataFrame:
    """Accuracy (or squared error) and excess risk against the clipping norm C at one ε.

    A small C bends the average gradient (bias, ``without_noise``); a large one gets noise in proportion, here even
    where no gradient is that long, as in the textbook. Below 0.5 steps get longer as gradients get shorter, at most
    tenfold. Columns as ``steps_curve`` and ``clipped``, the share of rows whose gradient is cut at the start.
    """
    rate = replace(method, clip=0.5).step_length(data.X.shape[0])
    runs = [(clip, replace(method, clip=clip, rate=rate * min(max(1.0, 0.5 / clip), 10.0))) for clip in clips]
    frame = _curve("clip", runs, data, rng, replicas)
    slopes = linear(method.loss).slopes(np.zeros(data.y.shape[0]), data.y)
    first = np.abs(slopes) * np.linalg.norm(data.X, axis=1)
    return frame.assign(clipped=[float((first > clip).mean()) for clip in frame["clip"]])


def _curve(
    name: str, runs: Sequence[tuple[float, NoisyGradientDescent]], data: Rows, rng: Generator, replicas: int
) -> pd.DataFrame:
    found = []
    best = minimise(runs[0][1].loss, data.X, data.y, radius=RADIUS).objective
    for place, run in runs:
        clip = run.sensitivity if run.clip is None else run.clip * (1 if run.neighbours == "add_remove" else 2)
        noisy = _scores(_descended(run, clip * run.noise_multiplier, data, rng, replicas), best, data)
        quiet = _scores(_descended(run, 0.0, data, rng, 1), best, data)
        for metric, values in noisy.items():
            low, high = np.quantile(values, _BAND)
            found.append((place, metric, float(values.mean()), float(low), float(high), float(quiet[metric][0])))
    return pd.DataFrame(found, columns=[name, "metric", "value", "low", "high", "without_noise"])


def _descended(method: NoisyGradientDescent, noise: float, data: Rows, rng: Generator, replicas: int) -> Fit:
    """Models by the method's steps and clipping with noise of any size, so at any privacy or none."""
    rows, answers = checked(data.X, data.y, method.loss, rng, replicas)
    weights = descend(
        GradientSums(linear(method.loss), rows, answers, method.clip),
        d=rows.shape[1],
        n=rows.shape[0],
        noise=np.full(replicas, noise),
        rate=np.full(replicas, method.step_length(rows.shape[0])),
        steps=method.steps,
        momentum=method.momentum,
        tail=method.tail,
        ridge=method.loss.ridge,
        radius=method.radius,
        rng=rng,
    )
    return Fit(weights=weights, loss=method.loss, method=method.key, cost=Cost(epsilon=math.inf))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPrice:
    """What choosing the best of several settings by their private results costs, runs being (ε, δ)-DP Gaussians.

    ``ignored`` is the ε that is often reported, of one run. ``all_runs`` pays for every run. ``random_stopping`` is
    for trying a random number of random settings, ``settings`` on average, and keeping the best. ``share`` is the ε
    each run may have when all together are to stay at ``ignored``.
    """

    ignored: float
    all_runs: float
    random_stopping: float
    share: float


def tuning_price(settings: int, *, epsilon: float, delta: float) -> TuningPrice:
    """The price of trying ``settings`` settings at (ε, δ) each. Raises InvalidArgument.

    ``random_stopping`` by Papernot & Steinke, ICLR 2022, Theorem 2, with a logarithmic number of tries (η = 0).
    """
    whole(1, settings=settings)
    noise = gaussian_noise_multiplier(positive(epsilon=epsilon), probability(delta=delta))
    root = math.sqrt(settings)
    return TuningPrice(
        ignored=epsilon,
        all_runs=gaussian_epsilon(noise / root, delta),
        random_stopping=epsilon if settings == 1 else LogarithmicTries(mean=settings).epsilon(0.5 / noise**2, delta),
        share=gaussian_epsilon(noise * root, delta),
    )
