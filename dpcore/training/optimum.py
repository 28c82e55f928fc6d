"""The best model without privacy, found to a stated gradient norm: what excess risk is measured from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpcore.training.losses import Absolute, Distance, Logistic, Loss, Squared, gradient, objective
from dpcore.training.newton_step import DENSE, Steps
from dpcore.validate import FloatArray, positive

TOLERANCE = 1e-9
_REFINED = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """``weights`` (d,) with the mean loss plus ridge there, and the length of its gradient.

    For absolute values, which have corners, ``gradient_norm`` is that of the shortest subgradient, 0 at a minimum
    that linear programming has proved.
    """

    weights: FloatArray
    objective: float
    gradient_norm: float


def minimise(
    loss: Loss, X: FloatArray, y: FloatArray, *, tolerance: float = TOLERANCE, radius: float | None = None
) -> Optimum:
    """The minimum of ``loss`` over all weights, or over the ball ‖w‖₂ ≤ ``radius``, to a gradient no longer than
    ``tolerance`` (of the Lagrangian where the ball's edge binds).

    X (n, d) and y (n,) as for every method. When two classes can be separated without error the logistic loss has no
    minimum: the weights grow until the gradient is that small, with a loss of about the same size above 0.
    """
    positive(tolerance=tolerance)
    steps = Steps(X)
    if radius is not None:
        return _within(loss, X, y, tolerance, positive(radius=radius), steps)
    return _everywhere(loss, X, y, tolerance, steps)


def _everywhere(
    loss: Loss, X: FloatArray, y: FloatArray, tolerance: float, steps: Steps, start: FloatArray | None = None
) -> Optimum:
    """``start`` (d,): weights from which it is not far."""
    if isinstance(loss, Logistic):
        return _newton(loss, X, y, tolerance, steps, start)
    if isinstance(loss, Squared):
        return _polished(loss, X, y, _least_squares(loss, X, y, steps), tolerance, steps)
    if isinstance(loss, Absolute):
        return _least_absolute(loss, X, y)
    return _centre(loss, X, y, tolerance)


def _within(loss: Loss, X: FloatArray, y: FloatArray, tolerance: float, radius: float, steps: Steps) -> Optimum:
    """On the edge of a ball the minimum is that with some more ridge λ, the multiplier: the root of ‖w(λ)‖ = radius.

    L(w) ≥ L(w(λ)) + λ/2·(‖w(λ)‖² − radius²) for every w of the ball, so what is found is optimal to that gap.
    """
    from scipy.optimize import brentq

    found: dict[float, Optimum] = {}

    def beyond(log_multiplier: float) -> float:
        nearest = min(found, key=lambda known: abs(known - log_multiplier), default=None)
        start = None if nearest is None else found[nearest].weights
        one = _everywhere(replace(loss, ridge=loss.ridge + math.exp(log_multiplier)), X, y, tolerance, steps, start)
        found[log_multiplier] = one
        return math.log(max(float(np.linalg.norm(one.weights)), 1e-300) / radius)

    # a logistic loss may have no minimum at all; dual descent on absolute values needs some ridge
    if not isinstance(loss, Logistic):
        everywhere = _everywhere(loss, X, y, tolerance, steps)
        if float(np.linalg.norm(everywhere.weights)) <= radius:
            return everywhere
    least = math.log(1e-5 if isinstance(loss, Absolute) else 1e-9)
    # λ/2·‖w(λ)‖² is at most the loss at 0
    most = math.log(max(2.0 * float(objective(loss, np.zeros((1, X.shape[1])), X, y)[0]) / radius**2, 1e-4)) + 0.1
    if beyond(least) <= 0.0:
        if isinstance(loss, Logistic):
            inside = _everywhere(loss, X, y, tolerance, steps)
            if float(np.linalg.norm(inside.weights)) <= radius:
                return inside
        place = least
    else:
        place = float(brentq(beyond, least, most, xtol=1e-10, rtol=1e-10))
        beyond(place)
    weights = found[place].weights
    weights = weights * min(1.0, radius / float(np.linalg.norm(weights)))
    value = float(objective(loss, weights[None], X, y)[0])
    return Optimum(weights=weights, objective=value, gradient_norm=found[place].gradient_norm)


def _optimum(loss: Loss, X: FloatArray, y: FloatArray, weights: FloatArray) -> Optimum:
    slope = float(np.linalg.norm(gradient(loss, weights[None], X, y)))
    return Optimum(weights=weights, objective=float(objective(loss, weights[None], X, y)[0]), gradient_norm=slope)


def _newton(
    loss: Logistic, X: FloatArray, y: FloatArray, tolerance: float, steps: Steps, start: FloatArray | None
) -> Optimum:
    """Damped Newton. Columns that always sum to the same make the Hessian singular: its null space is left alone."""
    n, d = X.shape
    weights = np.zeros(d) if start is None else start
    value = float(objective(loss, weights[None], X, y)[0])
    for _ in range(200):
        margins = X @ weights
        slope = X.T @ loss.slopes(margins, y) / n + loss.ridge * weights
        if float(np.linalg.norm(slope)) <= tolerance:
            break
        step = steps(loss.curvatures(margins, y) / n, loss.ridge, slope)
        decrease, length = float(slope @ step), 1.0
        while length > 1e-10:
            trial = weights - length * step
            there = float(objective(loss, trial[None], X, y)[0])
            if there <= value - 1e-4 * length * decrease or abs(length * decrease) < 1e-14 * max(1.0, abs(value)):
                break
            length /= 2.0
        weights, value = trial, there
    return _optimum(loss, X, y, weights)


def _least_squares(loss: Squared, X: FloatArray, y: FloatArray, steps: Steps) -> FloatArray:
    n, d = X.shape
    if d > DENSE:
        weights, same = np.zeros(d), np.full(n, 1.0 / n)
        for _ in range(0 if steps.hard else _REFINED):
            slope = X.T @ (X @ weights - y) / n + loss.ridge * weights
            if float(np.linalg.norm(slope)) <= TOLERANCE:
                return weights
            if steps.hard:
                break
            weights = weights - steps(same, loss.ridge, slope)
    if loss.ridge == 0.0:
        return np.asarray(np.linalg.lstsq(X, y, rcond=None)[0])
    return np.asarray(np.linalg.solve(X.T @ X / n + loss.ridge * np.eye(d), X.T @ y / n))


def _polished(
    loss: Squared, X: FloatArray, y: FloatArray, weights: FloatArray, tolerance: float, steps: Steps
) -> Optimum:
    found = _optimum(loss, X, y, weights)
    if found.gradient_norm > tolerance:  # one step of refinement on the residual
        weights = weights - _least_squares(loss, X, X @ weights - y, steps)
        found = _optimum(loss, X, y, weights)
    return found


def _least_absolute(loss: Absolute, X: FloatArray, y: FloatArray) -> Optimum:
    """Linear programming in the dual form: maximise yᵀu with Xᵀu = 0, |u| ≤ 1. With ridge, by its own dual."""
    n, d = X.shape
    if loss.ridge == 0.0 and d == 1 and bool(np.all(X[0] == X)) and X[0, 0] != 0.0:
        weights = np.array([np.median(y) / X[0, 0]])
        return Optimum(weights=weights, objective=float(objective(loss, weights[None], X, y)[0]), gradient_norm=0.0)
    if loss.ridge > 0.0:
        return _ridged_absolute(loss, X, y)
    from scipy.optimize import linprog

    solved = linprog(-y, A_eq=X.T, b_eq=np.zeros(d), bounds=(-1.0, 1.0), method="highs")
    weights = -np.asarray(solved.eqlin.marginals, dtype=np.float64)
    value = float(objective(loss, weights[None], X, y)[0])
    if not value <= -float(solved.fun or 0.0) / n + 1e-7:
        raise ArithmeticError("linear programming found no proof that this is the smallest absolute error")
    return Optimum(weights=weights, objective=value, gradient_norm=0.0)


def _ridged_absolute(loss: Absolute, X: FloatArray, y: FloatArray) -> Optimum:
    """The dual of the ridged problem is a box-constrained quadratic: min ‖Xᵀu‖²/(2n²ridge) − yᵀu/n, |u| ≤ 1."""
    from scipy.optimize import minimize

    n = X.shape[0]

    def dual(u: FloatArray) -> tuple[float, FloatArray]:
        pulled = X.T @ u / n
        return (
            float(pulled @ pulled / (2.0 * loss.ridge) - y @ u / n),
            X @ pulled / (n * loss.ridge) - y / n,
        )

    solved = minimize(
        dual,
        np.zeros(n),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-1.0, 1.0)] * n,
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-12},
    )
    weights = np.asarray(X.T @ solved.x / (n * loss.ridge))
    value = float(objective(loss, weights[None], X, y)[0])
    gap = value + float(solved.fun)  # strong convexity turns the gap of the two problems into a bound on the gradient
    return Optimum(weights=weights, objective=value, gradient_norm=float(np.sqrt(2.0 * loss.ridge * max(gap, 0.0))))


def _centre(loss: Distance, X: FloatArray, y: FloatArray, tolerance: float) -> Optimum:
    """The mean, shrunk by the ridge; or the geometric median by Weiszfeld's iteration, moved off data points."""
    weights = X.mean(axis=0) / (1.0 + loss.ridge)
    if loss.squared:
        return _optimum(loss, X, y, weights)
    if X.shape[1] == 1 and loss.ridge == 0.0:
        weights = np.array([np.median(X)])
        return Optimum(weights=weights, objective=float(objective(loss, weights[None], X, y)[0]), gradient_norm=0.0)
    for _ in range(10_000):
        away = np.maximum(np.linalg.norm(X - weights, axis=1), 1e-12)
        pull = 1.0 / away
        moved = (X * pull[:, None]).sum(axis=0) / (pull.sum() + X.shape[0] * loss.ridge)
        if float(np.linalg.norm(moved - weights)) * float(pull.mean()) <= tolerance:
            weights = moved
            break
        weights = moved
    return _optimum(loss, X, y, weights)
