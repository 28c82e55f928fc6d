"""Can the same noise be used better? Private ways that are not in the product, raced against those that are.

AdaSSP, and AdaSSP boosted by gradient rounds, against ``PrivateRegressor``, on the tables of numbers of
``benchmarks.models``; written to docs/benchmarks-noise.md. ``python -m benchmarks.noise [TABLE …] [--splits N]``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cuts import verdict
from benchmarks.models import DELTA, MANY, SPLITS_OF_MANY, answers, measured, ours, splits, uncut
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import Task, tasks
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training import AdaSSP

LEVELS, OTHERS = (0.1, 0.5, 1.0), ("AdaSSP", "boosted AdaSSP")
REPORT = DOCS / "benchmarks-noise.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostedAdaSSP:
    """AdaSSP again and again on what is left, clipped: Tang, Aydore, Kearns, Rho, Roth, Wang, Wang and Wu (2023).

    (ε, δ)-DP, a row added or removed: noisy XᵀX and its noisy smallest eigenvalue once, then ``rounds`` noisy sums
    Xᵀr of residuals r clipped to ``clip``, at public weights that came of earlier ones. Of 1/σ² a third goes to each
    of the first two (sensitivity ‖x‖² ≤ 1) and a third to the rounds in equal parts (sensitivity
    ‖x‖·clip ≤ clip); Gaussian releases that may depend on earlier ones add up (Dong, Roth & Su, 2022).
    """

    epsilon: float
    rounds: int = 20
    clip: float = 0.5
    failure: float = 0.05

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Weights (d,) of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,) in [−1, 1]."""
        once = AdaSSP(epsilon=self.epsilon, delta=DELTA, failure=self.failure)
        square, d = X.T @ X, X.shape[1]
        smallest = max(0.0, float(np.linalg.eigvalsh(square)[0]))
        noisy, _, least = once.statistics(square, np.zeros(d), smallest, rng)
        noise = gaussian_noise_multiplier(self.epsilon, DELTA) * math.sqrt(3.0 * self.rounds) * self.clip
        known = least - once.noise_scale * math.sqrt(2.0 * math.log(2.0 / self.failure))
        largest = once.noise_scale * math.sqrt(d * math.log(2.0 * d * d / self.failure))
        held = noisy + max(0.0, largest - max(0.0, known)) * np.eye(d)
        weights = np.zeros(d)
        for _ in range(self.rounds):
            left = np.clip(y - X @ weights, -self.clip, self.clip)
            step = np.linalg.lstsq(held, X.T @ left + noise * rng.standard_normal(d), rcond=None)[0]
            weights = weights + step
        return weights


def of_numbers(task: Task, level: float, train: np.ndarray, test: np.ndarray, seed: int) -> dict[str, float]:
    """Errors of every way."""
    y, (_, X) = answers(task), uncut(task)
    low, high = task.target or (0.0, 1.0)
    scaled = 2.0 * (np.clip(y, low, high) - low) / (high - low) - 1.0
    rng = np.random.Generator(np.random.SFC64([seed, 9]))
    plain = AdaSSP(epsilon=level, delta=DELTA).fit(X[train], scaled[train], rng).weights[0]
    boosted = BoostedAdaSSP(epsilon=level).fit(X[train], scaled[train], rng)
    told = {name: low + (np.clip(X[test] @ w, -1, 1) + 1) / 2 * (high - low) for name, w in
            (("AdaSSP", plain), ("boosted AdaSSP", boosted))}  # fmt: skip
    told["ours"] = ours(task, level, seed, task.frame.iloc[train], task.y.iloc[train], task.frame.iloc[test])
    return {name: measured(task, y[test], one)["error"] for name, one in told.items()}


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.noise", __doc__, 3).parse_args(arguments)
    lines = [
        "# Better use of noise",
        "",
        f"Written by `python -m benchmarks.noise`, {given.splits} splits ({SPLITS_OF_MANY} of tables of more than",
        f"{MANY:,} rows). Mean absolute errors of `PrivateRegressor`, of AdaSSP and of boosted AdaSSP (20 rounds, clip",
        f"0.5) on uncut columns, all (ε, {DELTA:g})-differentially private; less is better. In brackets the difference",
        "from ours ± its standard error over splits.",
        "",
        f"| table | ε | ours | {' | '.join(OTHERS)} |",
        "|---|---|---|---|---|",
    ]
    sure: dict[str, list[tuple[str, float]]] = {name: [] for name in OTHERS}
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        for task in found:
            if task.target is None:
                continue
            count = min(given.splits, SPLITS_OF_MANY) if len(task.frame) > MANY else given.splits
            for level in LEVELS:
                parts = splits(task, answers(task), count)
                scores = [of_numbers(task, level, train, test, seed) for seed, (train, test) in enumerate(parts)]
                cells = []
                for name in OTHERS:
                    gained = np.array([one[name] - one["ours"] for one in scores])
                    error = float(gained.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
                    sure[name].append((task.name, -float(gained.mean()) / error if error > 0.0 else 0.0))
                    mean = np.mean([one[name] for one in scores])
                    cells.append(f"{mean:.4g} ({gained.mean():+.2g} ± {error:.1g})")
                mine = np.mean([one["ours"] for one in scores])
                lines.append(f"| {task.name} | {level:g} | {mine:.4g} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
            told = [f"{name}: {one[0].lower()}{one[1:]}" for name in OTHERS for one in verdict(sure[name])]
            write(REPORT, [*lines, "", *(f"- {one}" for one in told), ""], absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
