"""Second-order private steps for convex losses: the double-noise Newton method, a candidate of ``benchmarks.noise``."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise_steps import Begun
from dpcore.training.losses import Logistic
from dpcore.training.scaled_descent import clip_by_rule

Array = NDArray[np.float64]
STEPS = 5
SPOILT = 0.5
"""How long the second noise may be, in the mean, over the longest that a step can be: chosen on made-up rows, where
neither (M²μ²·tr H)^⅓ for λ nor a λ that keeps it below the shortest step did better."""
_BLOCK = 1 << 14


def newton(begun: Begun, rng: np.random.Generator, steps: int = STEPS, spoilt: float = SPOILT) -> NDArray[np.float32]:
    """Weights (d, models, 1) after ``steps`` of Newton's method with noise on gradient and on direction (Ganesh,
    Haghifam, Steinke & Thakurta, NeurIPS 2023).

    A row added or removed; rows x are scaled as ours and shortened to ‖x‖ ≤ 1. With g = Σ slope·x and
    H = Σ h·xxᵀ, where h makes a parabola that is nowhere below the loss (logistic: tanh(m/2)/(2m) ≤ M = ¼ at the margin
    m; for a number the residual is cut at c, h = min(1, c/|r|) ≤ M = 1), a step publishes

    1. g̃ = g + N(0, (C·μ)²I): one row moves g by at most C, 1 or c;
    2. (H + λI)⁻¹g̃ + N(0, (‖g̃‖·S·μ)²I), S = M/(λ(λ + M)): a row adds vvᵀ with ‖v‖² ≤ M to A = H + λI, and by Sherman and
       Morrison A⁻¹ − (A + vvᵀ)⁻¹ has the norm ‖A⁻¹v‖²/(1 + vᵀA⁻¹v) ≤ (s/λ)/(1 + s) with s = vᵀA⁻¹v ≤ M/λ, which is
       at most S.

    μ is such that the 2 × ``steps`` releases take what ``ScaledDescent`` spends on its steps: each has the share
    ``steps_share``/(2 steps) of 1/σ² and releases that depend on earlier ones add up (Dong, Roth & Su, 2022), in zCDP
    as well: Σρ = steps_share/(2σ²). λ makes the second noise's length ``spoilt`` of ‖g̃‖/λ, the longest possible step.
    """
    first = begun.methods[0]
    logistic, d = isinstance(first.loss, Logistic), begun.rows.shape[1]
    bend = 0.25 if logistic else 1.0
    sigmas = begun.spread([method.noise_multiplier / math.sqrt(method.steps_share) for method in begun.methods])
    found = np.zeros((d, begun.people.size, 1), dtype=np.float32)
    plain = begun.rows.dense().astype(np.float32)
    for model, sigma in enumerate(sigmas * math.sqrt(2.0 * steps)):
        X = plain * begun.scales[:, model]
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.float32(1.0))
        own = begun.methods[model // begun.replicas].noise_multiplier
        most = 1.0 if logistic else float(clip_by_rule(begun.people[model : model + 1], own)[0])
        ridge = max(bend * sigma * math.sqrt(d) / spoilt - bend, bend)
        weights = np.zeros(d)
        for _ in range(steps):
            gradient, hessian = sums(X, begun.answers, weights, logistic=logistic, cap=most)
            noisy = gradient + most * sigma * rng.standard_normal(d)
            step = np.linalg.solve(hessian + ridge * np.eye(d), noisy)
            second = float(np.linalg.norm(noisy)) * inverse_moves(bend, ridge) * sigma
            weights = weights - step - second * rng.standard_normal(d)
        found[:, model, 0] = weights
    return found


def inverse_moves(bend: float, ridge: float) -> float:
    """How far (H + ridge·I)⁻¹ moves in operator norm when a row adds vvᵀ, ‖v‖² ≤ ``bend``."""
    return bend / (ridge * (ridge + bend))


def sums(
    X: NDArray[np.float32], y: NDArray[np.float32], weights: Array, *, logistic: bool, cap: float
) -> tuple[Array, Array]:
    """Gradient (d,) and Hessian (d, d) of a parabola through each row's loss at ``weights``, nowhere below it."""
    d = X.shape[1]
    gradient, hessian = np.zeros(d), np.zeros((d, d))
    for start in range(0, X.shape[0], _BLOCK):
        own, answers = X[start : start + _BLOCK], y[start : start + _BLOCK]
        margins = own @ weights.astype(np.float32)
        if logistic:
            slopes = -answers / (1.0 + np.exp(np.minimum(answers * margins, 80.0)))
            size = np.maximum(np.abs(margins), 1e-4)
            bends = np.tanh(size / 2.0) / (2.0 * size)
        else:
            left = margins - answers
            slopes = np.clip(left, -cap, cap)
            bends = np.minimum(1.0, cap / np.maximum(np.abs(left), 1e-30))
        gradient += own.T @ slopes
        hessian += (own * bends[:, None]).T @ own
    return gradient, hessian
