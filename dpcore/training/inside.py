"""Training seen from inside: losses step by step, what batch size and a regulariser do, why clipping rows can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.training.descent import descend
from dpcore.training.fit import Fit, accuracy, checked, checked_rows, mean_squared_error, projected
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.gradient_sums import GradientSums, Single
from dpcore.training.lessons import Rows
from dpcore.training.losses import LinearLoss, Logistic, linear, objective
from dpcore.training.optimum import minimise
from dpcore.training.plan import RADIUS
from dpcore.training.sgd import DpSgd
from dpcore.validate import FloatArray, finite_vector, positive_vector, whole

if TYPE_CHECKING:
    from numpy.random import Generator

_BAND = (0.1, 0.9)


def loss_curves(
    method: NoisyGradientDescent, data: Rows, rng: Generator, *, replicas: int = 20, points: int = 60
) -> pd.DataFrame:
    """Training and test loss after about ``points`` of the steps of ``method``, log-spaced, with its noise and without.

    Columns ``step, rows`` ("training" or "test"), ``value, low, high`` (the mean of ``replicas`` private runs, 8 of 10
    within) and ``without_noise``. Losses have no ridge. Without noise training loss falls on while test loss may rise
    again, which is overfitting; with noise both end above. The last place is shown, not an average. Raises
    InvalidArgument.
    """
    loss = replace(linear(method.loss), ridge=0.0)
    rows, answers = checked(data.X, data.y, method.loss, rng, whole(1, replicas=replicas))
    shown = np.unique(np.geomspace(1, method.steps, whole(2, points=points)).round().astype(int))
    found: list[tuple[object, ...]] = []

    def watch(step: int, weights: Single) -> None:
        if step not in wanted:
            return
        for name, X, y in (("training", rows, answers), ("test", data.X_test, data.y_test)):
            values = objective(loss, np.asarray(weights.T, dtype=np.float64), X, y)
            low, high = np.quantile(values[1:], _BAND)
            found.append((step, name, float(values[1:].mean()), float(low), float(high), float(values[0])))

    wanted = frozenset(shown.tolist())
    descend(
        GradientSums(linear(method.loss), rows, answers, method.clip),
        d=rows.shape[1],
        n=rows.shape[0],
        noise=np.array([0.0, *[method.noise_scale] * replicas]),
        rate=np.full(replicas + 1, method.step_length(rows.shape[0])),
        steps=method.steps,
        momentum=method.momentum,
        tail=method.tail,
        ridge=method.loss.ridge,
        radius=method.radius,
        rng=rng,
        watch=watch,
    )
    return pd.DataFrame(found, columns=["step", "rows", "value", "low", "high", "without_noise"])


def batch_curve(
    data: Rows,
    rng: Generator,
    *,
    epsilon: float,
    delta: float = 1e-5,
    loss: LinearLoss | None = None,
    sampling_rates: Sequence[float] = (0.01, 0.03, 0.1, 0.3, 1.0),
    epochs: float = 10.0,
    replicas: int = 10,
    radius: float = RADIUS,
) -> pd.DataFrame:
    """Excess risk and accuracy (or squared error) against the batch size, at equal total (ε, δ) and equal passes.

    Each step takes every row with the chance in ``sampling_rates``; there are ``epochs`` divided by that many steps.
    Columns ``sampling_rate, batch`` (rows on average), ``steps, noise_multiplier, noise`` (its standard deviation on
    the mean gradient of a batch, a coordinate), ``metric, value, low, high``. Small batches are hidden better but share
    the noise among fewer rows. Raises InvalidArgument.
    """
    chosen = Logistic() if loss is None else loss
    n = data.X.shape[0]
    least = minimise(chosen, data.X, data.y, radius=radius).objective
    found = []
    for share in positive_vector(sampling_rates=list(sampling_rates)).tolist():
        steps = max(1, round(epochs / share))
        method = DpSgd(epsilon=epsilon, delta=delta, loss=chosen, sampling_rate=share, steps=steps)
        fit = method.fit(data.X, data.y, rng, replicas)
        noise = method.noise_scale / (share * n)
        head = (share, share * n, steps, method.noise_multiplier, noise)
        found += [(*head, *part) for part in _measured(fit, data, least, radius)]
    names = ["sampling_rate", "batch", "steps", "noise_multiplier", "noise", "metric", "value", "low", "high"]
    return pd.DataFrame(found, columns=names)


def ridge_curve(
    method: NoisyGradientDescent,
    data: Rows,
    rng: Generator,
    *,
    ridges: Sequence[float] = (0.0, 1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0),
    replicas: int = 20,
    radius: float = RADIUS,
) -> pd.DataFrame:
    """Excess risk and accuracy (or squared error) against the regulariser, judged by the loss without it.

    A ridge keeps weights short: it costs ``bias`` (the excess of the best regularised model, without privacy), and
    noise moves the weights less. Steps are shortened where the ridge would make them diverge. Columns ``ridge,
    bias, metric, value, low, high``. Raises InvalidArgument.
    """
    plain = replace(linear(method.loss), ridge=0.0)
    least = minimise(plain, data.X, data.y, radius=radius).objective
    smoothness = plain.smoothness if np.isfinite(plain.smoothness) else 1.0
    length = method.step_length(data.X.shape[0])
    found = []
    for ridge in finite_vector(ridges=list(ridges)).tolist():
        loss = replace(plain, ridge=ridge)
        best = minimise(loss, data.X, data.y, radius=radius).weights
        bias = max(0.0, float(objective(plain, best[None], data.X, data.y)[0]) - least)
        rate = min(length, (1.0 + method.momentum) / (smoothness + ridge))  # steeper with the ridge: longer diverges
        fit = replace(replace(method, loss=loss, rate=rate).fit(data.X, data.y, rng, replicas), loss=plain)
        found += [(ridge, bias, *part) for part in _measured(fit, data, least, radius)]
    return pd.DataFrame(found, columns=["ridge", "bias", "metric", "value", "low", "high"])


def gradient_lengths(loss: LinearLoss, X: FloatArray, y: FloatArray, lengths: Sequence[float]) -> pd.DataFrame:
    """How long rows' gradients are, after rows were shortened to 1, where the weights are ``lengths`` (m,) long.

    Why clipping rows works for the logistic loss and not for the squared: columns ``length``; ``bound``, the longest
    any row of the unit ball can have there (1 for the logistic and absolute loss, 1 + length for the squared: no noise
    covers all weights); ``largest`` and ``mean`` over these rows, the weights pointing to the best model and, for
    ``largest``, away from it as well. Raises InvalidArgument.
    """
    rows, answers = checked_rows(X, y, loss)
    best = minimise(loss, rows, answers, radius=1.0).weights
    direction = best / max(float(np.linalg.norm(best)), 1e-300)
    sizes = np.linalg.norm(rows, axis=1)
    found = []
    for length in finite_vector(lengths=list(lengths)).tolist():
        ahead, back = (np.abs(loss.slopes(rows @ (sign * length * direction), answers)) * sizes for sign in (1, -1))
        largest = float(max(ahead.max(), back.max()))
        found.append((length, loss.lipschitz(length), largest, float(ahead.mean())))
    return pd.DataFrame(found, columns=["length", "bound", "largest", "mean"])


def _measured(fit: Fit, data: Rows, least: float, radius: float) -> list[tuple[str, float, float, float]]:
    two_classes = isinstance(fit.loss, Logistic)
    score = accuracy if two_classes else mean_squared_error
    excess = objective(fit.loss, projected(fit.weights, radius), data.X, data.y) - least
    found = []
    for name, values in (
        ("accuracy" if two_classes else "squared_error", score(fit, data.X_test, data.y_test)),
        ("excess_risk", np.maximum(excess, 0.0)),
    ):
        low, high = np.quantile(values, _BAND)
        found.append((name, float(values.mean()), float(low), float(high)))
    return found
