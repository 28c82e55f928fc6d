"""Descent as it happens: one noisy run, step by step, and the loss around its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.training.fit import checked
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.losses import Loss, linear, objective
from dpcore.training.optimum import minimise
from dpcore.training.plan import RADIUS
from dpcore.validate import FloatArray, whole

if TYPE_CHECKING:
    from numpy.random import Generator

FAR = 3.0  # times the path's own reach


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """One run of T steps. Everything here looks at the data: for Demo and What-if, never part of a release.

    ``weights`` (T+1, d) from the start on, ``released`` (d,) the average that would be released, ``optimum`` (d,)
    in the method's ball or that of ``RADIUS``; ``loss`` (T+1,) at each of them, ``least`` the smallest possible.
    Per step: ``signal`` (T,) and ``noise`` (T,), the lengths of the mean clipped gradient and of the noise on it,
    ``clipped`` (T,) the share of rows that were clipped. ``gradients`` (T, m, d) are those of a few rows before
    clipping, to norm ``clip``.
    """

    weights: FloatArray
    released: FloatArray
    optimum: FloatArray
    loss: FloatArray
    least: float
    signal: FloatArray
    noise: FloatArray
    clipped: FloatArray
    gradients: FloatArray
    clip: float | None

    @property
    def plane(self) -> FloatArray:
        """Two orthonormal directions (2, d): to the optimum, and the widest of what the path does besides."""
        first = self.optimum / max(float(np.linalg.norm(self.optimum)), 1e-12)
        rest = self.weights - np.outer(self.weights @ first, first)
        second = np.linalg.svd(rest, full_matrices=False)[2][0] if rest.shape[1] > 1 else np.zeros_like(first)
        second = second - (second @ first) * first
        length = float(np.linalg.norm(second))
        return np.stack([first, second / length if length > 1e-12 else second])

    @property
    def path(self) -> FloatArray:
        """The weights in the plane, shape (T+1, 2)."""
        return np.asarray(self.weights @ self.plane.T)

    def clipped_gradients(self) -> FloatArray:
        """``gradients`` after clipping."""
        if self.clip is None:
            return self.gradients
        lengths = np.linalg.norm(self.gradients, axis=2, keepdims=True)
        return np.asarray(self.gradients * np.minimum(1.0, self.clip / np.maximum(lengths, 1e-300)))

    def arrows(self, step: int) -> tuple[FloatArray, FloatArray]:
        """The shown rows' gradients at ``step`` (from 0) in the plane, before and after clipping, shape (m, 2) each.

        Lengths in the plane are at most the gradients' own. Raises InvalidArgument.
        """
        place = whole(0, self.gradients.shape[0] - 1, step=step)
        before, after = self.gradients[place], self.clipped_gradients()[place]
        return np.asarray(before @ self.plane.T), np.asarray(after @ self.plane.T)

    def landscape(
        self, loss: Loss, X: FloatArray, y: FloatArray, points: int = 41
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Loss over the plane around the path: two axes (points,) each, and losses (points, points), rows along the
        second axis. Slices through the other directions at 0. An optimum that is far off does not widen it."""
        best = self.plane @ self.optimum
        near = FAR * float(np.linalg.norm(self.path, axis=1).max()) / max(float(np.linalg.norm(best)), 1e-300)
        reach = np.concatenate([self.path, (best * min(1.0, near))[None]])
        low, high = reach.min(axis=0), reach.max(axis=0)
        room = 0.15 * np.maximum(high - low, 0.2 * float((high - low).max()) + 1e-9)
        first, second = (np.linspace(low[k] - room[k], high[k] + room[k], whole(2, points=points)) for k in (0, 1))
        places = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2) @ self.plane
        return first, second, objective(loss, places, X, y).reshape(points, points)


def descent_trace(
    method: NoisyGradientDescent, X: FloatArray, y: FloatArray, rng: Generator, *, shown: int = 24
) -> Trace:
    """One run of ``method``, watched; ``shown`` random rows show their gradients. Raises InvalidArgument."""
    rows, answers = checked(X, y, method.loss, rng, 1)
    n, d = rows.shape
    loss = linear(method.loss)
    sums = GradientSums(loss, rows, answers, method.clip)
    few = rng.choice(n, size=min(n, whole(1, shown=shown)), replace=False)
    lengths = np.linalg.norm(rows, axis=1)
    rate, scale = method.step_length(n), method.noise_scale
    at, speed = np.zeros(d), np.zeros(d)
    weights, signal, noise, clipped, gradients = [at], [], [], [], []
    for _ in range(method.steps):
        slopes = loss.slopes(rows @ at, answers)
        clipped.append(0.0 if method.clip is None else float((np.abs(slopes) * lengths > method.clip).mean()))
        gradients.append(slopes[few, None] * rows[few])
        mean = sums(at[:, None].astype(np.float32))[:, 0].astype(np.float64) / n
        drawn = scale * rng.standard_normal(d) / n
        signal.append(float(np.linalg.norm(mean)))
        noise.append(float(np.linalg.norm(drawn)))
        speed = method.momentum * speed + mean + drawn + loss.ridge * at
        at = at - rate * speed
        if method.radius is not None:
            at = at * min(1.0, method.radius / max(float(np.linalg.norm(at)), 1e-300))
        weights.append(at)
    best = minimise(loss, rows, answers, radius=method.radius or RADIUS)
    path = np.stack(weights)
    last = max(1, round(method.tail * method.steps))
    return Trace(
        weights=path,
        released=path[-last:].mean(axis=0),
        optimum=best.weights,
        loss=objective(loss, path, rows, answers),
        least=best.objective,
        signal=np.array(signal),
        noise=np.array(noise),
        clipped=np.array(clipped),
        gradients=np.stack(gradients),
        clip=method.clip,
    )
