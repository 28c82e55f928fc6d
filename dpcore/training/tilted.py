"""Exact minima of many tilted, ridged logistic losses at once: what objective perturbation releases.

For each model r: minimise Σᵢ ln(1 + exp(−yᵢ xᵢᵀθ)) + (λ_r/2)‖θ‖² + b_rᵀθ. The proofs are about the exact minimum, so
the iteration (Newton's) goes on until the gradient is as short as double precision allows, and says how short.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.training.losses import Logistic
from dpcore.validate import FloatArray

TOLERANCE = 1e-9
_BLOCK = 512
_TOGETHER = 64  # models whose curvatures, one number per row and model, are held at once
_LOSS = Logistic()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TiltedMinima:
    """``weights`` (models, d) and the length of each one's gradient divided by the number of rows."""

    weights: FloatArray
    gradient_norms: FloatArray


def tilted_minima(X: FloatArray, y: FloatArray, ridges: FloatArray, tilts: FloatArray) -> TiltedMinima:
    """The minimum for every ridge λ > 0 (models,) and tilt b (models, d), to ``TOLERANCE`` in gradient over n.

    All models share each product with the rows; Newton steps are found by conjugate gradients in single precision
    (their error is corrected by the next step, whose gradient is in double precision). Raises ArithmeticError when a
    minimum is not reached.
    """
    parts = [
        _minima(X, y, ridges[start : start + _TOGETHER], tilts[start : start + _TOGETHER].T)
        for start in range(0, ridges.shape[0], _TOGETHER)
    ]
    norms = np.concatenate([norm for _, norm in parts])
    if not float(norms.max()) <= TOLERANCE:
        raise ArithmeticError("Newton's iteration did not reach the minimum; the rows may not be finite")
    return TiltedMinima(weights=np.concatenate([weights.T for weights, _ in parts]), gradient_norms=norms)


class _Rows:
    """Passes over the rows: value, gradient and curvatures at given weights; curvature times vectors."""

    def __init__(self, X: FloatArray, y: FloatArray, models: int) -> None:
        self.folded = X * y[:, None]
        self.single = self.folded.astype(np.float32)
        self.curvatures: NDArray[np.float32] = np.empty((X.shape[0], models), dtype=np.float32)

    def look(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slope = np.zeros(weights.shape[1]), np.zeros_like(weights)
        ones = np.ones((1, 1))
        for start in range(0, self.folded.shape[0], _BLOCK):
            rows = self.folded[start : start + _BLOCK]
            margins = rows @ weights
            value += _LOSS.values(margins, ones).sum(axis=0)
            slopes = _LOSS.slopes(margins, ones)
            slope += rows.T @ slopes
            self.curvatures[start : start + _BLOCK] = -slopes * (1.0 + slopes)
        return value, slope

    def bend(self, directions: FloatArray) -> FloatArray:
        single = directions.astype(np.float32)
        total = np.zeros_like(single)
        for start in range(0, self.single.shape[0], _BLOCK):
            rows = self.single[start : start + _BLOCK]
            moved = rows @ single
            moved *= self.curvatures[start : start + _BLOCK]
            total += rows.T @ moved
        return total.astype(np.float64)


def _minima(X: FloatArray, y: FloatArray, ridges: FloatArray, tilts: FloatArray) -> tuple[FloatArray, FloatArray]:
    n, d = X.shape
    rows = _Rows(X, y, ridges.shape[0])
    sizes, basis = np.linalg.eigh(X.T @ X)
    sizes = np.maximum(sizes, 0.0)[:, None]

    def evaluate(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, slope = rows.look(at)
        return value + 0.5 * ridges * (at**2).sum(axis=0) + (tilts * at).sum(axis=0), slope + ridges * at + tilts

    weights = np.zeros((d, ridges.shape[0]))
    value, slope = evaluate(weights)
    for _ in range(100):
        norms = np.sqrt((slope**2).sum(axis=0)) / n
        if float(norms.max()) <= TOLERANCE:
            break
        scale = rows.curvatures.mean(axis=0, dtype=np.float64) * sizes + ridges
        step = _solve(rows, ridges, slope, basis, scale)
        promised = (slope * step).sum(axis=0)
        length = np.ones_like(ridges)
        for _ in range(40):
            trial = weights - length * step
            there, slope_there = evaluate(trial)
            # rounding hides decreases below 1e-12 of the value; there the full Newton step is right
            poor = (there > value - 1e-4 * length * promised) & (promised > 1e-11 * np.maximum(1.0, np.abs(value)))
            if not poor.any():
                break
            length = np.where(poor, length / 2.0, length)
        weights, value, slope = trial, there, slope_there
    return weights, np.sqrt((slope**2).sum(axis=0)) / n


def _solve(rows: _Rows, ridges: FloatArray, slope: FloatArray, basis: FloatArray, scale: FloatArray) -> FloatArray:
    """(XᵀDX + λ)⁻¹ slope for every model to a thousandth, by preconditioned conjugate gradients."""
    step, rest = np.zeros_like(slope), slope.copy()
    goal = 1e-3 * np.sqrt((slope**2).sum(axis=0))
    eased = basis @ ((basis.T @ rest) / scale)
    direction, product = eased, (rest * eased).sum(axis=0)
    for _ in range(200):
        if bool((np.sqrt((rest**2).sum(axis=0)) <= goal).all()):
            break
        bent = rows.bend(direction) + ridges * direction
        along = product / np.maximum((direction * bent).sum(axis=0), 1e-300)
        step = step + along * direction
        rest = rest - along * bent
        eased = basis @ ((basis.T @ rest) / scale)
        after = (rest * eased).sum(axis=0)
        direction = eased + after / np.maximum(product, 1e-300) * direction
        product = after
    return step
