"""The exact part of the audit, for training: the largest privacy loss between neighbouring data where a law exists.

The ball on its grid and the methods for one number have exact laws; what objective perturbation releases has a density,
that of its tilt times the change of volume, looked at in two dimensions (pure) or integrated in one (Gaussian). Run as
``python -m tests.audit.training_exact`` it prints a table: what each promises, the largest loss found for it, and the
same for broken twins, which must be found out. Gaussian training noise has a variance test in
``tests/training/test_training_noise.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.training import (
    Absolute,
    Ball,
    Distance,
    LaplaceMean,
    Logistic,
    MeanByLoss,
    MedianByLoss,
    ObjectivePerturbation,
    ObjectivePerturbation2012,
    PureObjectivePerturbation,
    Squared,
)
from tests.audit.selection_exact import Finding, report

RELATIONS = ("add_remove", "replace_one")
LOSSES = (Logistic(), Squared(), Absolute(), Distance(), Distance(squared=False))
# from −37,000 to 37,000, 0.0007 apart near 0: integrals to 1e-6
THETA = np.sinh(np.linspace(-11.2, 11.2, 30_001))


def ball_loss(ball: Ball, seed: int = 0) -> float:
    """max |ln P(D) − ln P(D′)| over candidates: extreme and random rows added, removed or replaced."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for trial in range(24):
        size = int(rng.integers(2, 6))
        X = rng.standard_normal((size, 2))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
        classes = trial % 2 == 0 or isinstance(ball.loss, Logistic)
        y = rng.choice([-1.0, 1.0], size) if classes else rng.uniform(-1, 1, size)
        row = np.array([[1.0, 0.0], [-1.0, 0.0], [0.6, -0.8]])[trial % 3]
        label = (-1.0) ** trial
        if trial < 6:  # a crowd at the far end, where one more row counts fully
            X, y = np.tile(row, (400, 1)), np.full(400, label)
        more = ball.probabilities(np.vstack([X, row]), np.append(y, label))
        if ball.neighbours == "add_remove":
            others = [ball.probabilities(X, y)]
        else:
            others = [
                ball.probabilities(np.vstack([X, -row]), np.append(y, label)),
                ball.probabilities(np.vstack([X, row]), np.append(y, -label)),
            ]
        for other in others:
            seen = np.minimum(more, other) > 1e-280
            worst = max(worst, float(np.abs(np.log(more[seen] / other[seen])).max()))
    return worst


def number_loss(method: LaplaceMean | MeanByLoss | MedianByLoss, seed: int = 0) -> float:
    """max |ln p(D) − ln p(D′)| of the densities of one number on a fine grid."""
    rng = np.random.default_rng(seed)
    points = np.linspace(-1.0, 1.0, 4001)

    def log_density(values: np.ndarray, people: int) -> np.ndarray:
        if isinstance(method, LaplaceMean):  # the sum moves; the public divisor stays
            return -np.abs(points - values.sum() / people) * people / method.noise_scale
        power = 2 if isinstance(method, MeanByLoss) else 1
        logits = -method.slope * (np.abs(points[:, None] - values) ** power).sum(axis=1) / power
        return logits - logits.max() - np.log(np.trapezoid(np.exp(logits - logits.max()), points))

    worst = 0.0
    for trial in range(12):
        values = rng.uniform(-1, 1, 5) if trial > 1 else np.full(60, (-1.0) ** trial)
        extra = -values[0] / abs(values[0])
        added = method.neighbours == "add_remove"
        other = np.append(values, extra) if added else np.append(values[1:], extra)
        gap = log_density(values, values.size) - log_density(other, values.size)
        worst = max(worst, float(np.abs(gap).max()))
    return worst


def pure_tilt_loss(ridge: float, scale: float, relation: str) -> float:
    """max |ln p(D) − ln p(D′)| over θ in the plane, for tilts of density ∝ exp(−‖b‖/scale).

    Worst case: rows that pull b to the side of the row in question, which is far on the wrong side of its margin.
    """
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    radii = np.geomspace(0.01, 200.0, 40)
    theta = (radii[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)).reshape(-1, 2)

    def log_density(X: np.ndarray, times: np.ndarray) -> np.ndarray:
        margins = theta @ X.T
        bend = times * Logistic().curvatures(margins, np.array(1.0))
        tilt = (times * Logistic().slopes(margins, np.array(1.0))) @ X + ridge * theta
        volume = np.einsum("pi,ij,ik->pjk", bend, X, X) + ridge * np.eye(2)
        return np.linalg.slogdet(volume)[1] - np.linalg.norm(tilt, axis=1) / scale

    worst = 0.0
    for crowd in (0.0, 1.0, 3.0, 2000.0):
        for angle in (0.0, 0.5, 1.0, 1.3, np.pi / 2):
            row, mirrored = np.array([[np.cos(angle), np.sin(angle)], [np.cos(angle), -np.sin(angle)]])
            here = log_density(np.stack([[0.0, 1.0], row]), np.array([crowd, 1.0]))
            if relation == "add_remove":
                there = log_density(np.stack([[0.0, 1.0], row]), np.array([crowd, 0.0]))
            else:
                there = log_density(np.stack([[0.0, 1.0], mirrored]), np.array([crowd, 1.0]))
            worst = max(worst, float(np.abs(here - there).max()))
    return worst


def neighbours_in_one_dimension(seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[float, float]]]:
    """Rows, labels and one more row with its label: worst cases first, then random ones."""
    rng = np.random.default_rng(seed)
    yield np.zeros(0), np.zeros(0), (1.0, 1.0)
    yield np.zeros(0), np.zeros(0), (1.0, -1.0)
    yield np.ones(1), np.ones(1), (1.0, 1.0)
    yield np.ones(3), -np.ones(3), (1.0, 1.0)
    for _ in range(6):
        size = int(rng.integers(1, 12))
        extra = (float(rng.choice([-1.0, 1.0])), float(rng.choice([-1.0, 1.0])))
        yield rng.uniform(-1, 1, size), rng.choice([-1.0, 1.0], size), extra


def tilted_density(x: np.ndarray, y: np.ndarray, ridge: float, scale: float) -> np.ndarray:
    """Density over ``THETA`` of the minimum with a Gaussian tilt: b(θ) = −(Σ slopes + λθ), times |db/dθ|."""
    margins = np.outer(x, THETA)
    slope = (Logistic().slopes(margins, y[:, None]) * x[:, None]).sum(axis=0)
    bend = (Logistic().curvatures(margins, y[:, None]) * (x**2)[:, None]).sum(axis=0)
    tilt = slope + ridge * THETA
    return (bend + ridge) * np.exp(-0.5 * (tilt / scale) ** 2) / (scale * np.sqrt(2 * np.pi))


Densities = list[tuple[np.ndarray, np.ndarray]]


def tilted_pairs(ridge: float, scale: float) -> Densities:
    """Densities on neighbouring data, both ways round."""
    found = []
    for x, y, (row, label) in neighbours_in_one_dimension():
        more = tilted_density(np.append(x, row), np.append(y, label), ridge, scale)
        less = tilted_density(x, y, ridge, scale)
        found += [(more, less), (less, more)]
    return found


def tilt_delta(pairs: Densities, epsilon: float) -> float:
    """The largest exact δ at ε over pairs of densities."""
    factor = np.exp(epsilon)
    return max(float(np.trapezoid(np.maximum(one - factor * other, 0.0), THETA)) for one, other in pairs)


def tilt_epsilon(ridge: float, scale: float, delta: float) -> float:
    """The ε at which a Gaussian tilt's largest exact δ is ``delta``, to 2 %."""
    pairs, low, high = tilted_pairs(ridge, scale), 0.0, 8.0
    while high - low > 0.02 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if tilt_delta(pairs, middle) <= delta else (middle, high)
    return low


def findings(epsilon: float = 1.0, delta: float = 0.01) -> list[Finding]:
    """Every method with an exact law, and its broken twins."""
    lines: list[Finding] = []

    def add(mechanism: str, relation: str, found: float, *, broken: bool = False) -> None:
        line = Finding(mechanism=mechanism, scores=relation[:7], promised=epsilon, found=found, broken=broken)
        lines.append(line)

    for relation in RELATIONS:
        for loss in LOSSES:
            name = f"ball, {loss.name}" + ("" if getattr(loss, "squared", True) else " not squared")
            for factor in (1.0, 2.0):
                ball = Ball(epsilon=factor * epsilon, loss=loss, neighbours=relation, points=400)
                twin = ", slope × 2" if factor > 1 else ""
                add(name + twin, relation, ball_loss(ball), broken=factor > 1)
        for kind in (LaplaceMean, MeanByLoss, MedianByLoss):
            add(kind.key, relation, number_loss(kind(epsilon=epsilon, neighbours=relation)))
            louder = number_loss(kind(epsilon=epsilon / 0.8, neighbours=relation))
            add(f"{kind.key}, noise × 0.8", relation, louder, broken=True)
        method = PureObjectivePerturbation(epsilon=epsilon, neighbours=relation)
        ridge = method.ridge_for(10, 2)
        scale = method.noise_scale_for(ridge)
        add(method.key, relation, pure_tilt_loss(ridge, scale, relation))
        add(f"{method.key}, noise × 0.5", relation, pure_tilt_loss(ridge, scale / 2, relation), broken=True)
    for gaussian in (ObjectivePerturbation, ObjectivePerturbation2012):
        tilted = gaussian(epsilon=epsilon, delta=delta)
        add(tilted.key, "add_remove", tilt_epsilon(tilted.used_ridge, tilted.noise_scale, delta))
    tilted = ObjectivePerturbation(epsilon=epsilon, delta=delta)
    weak = tilt_epsilon(tilted.used_ridge, 0.4 * tilted.noise_scale, delta)
    add(f"{tilted.key}, noise × 0.4", "add_remove", weak, broken=True)
    return lines


def main() -> int:
    """Print the table; 1 when a promise was broken or a broken twin was not found out."""
    lines = findings()
    print(report(lines))
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
