"""The exact part of the audit, for selection: the largest log-ratio between neighbours, over worst cases and chance.

Run as ``python -m tests.audit.selection_exact`` it prints a table: what each mechanism promises, the largest loss found
for it, and the same for broken twins, which must be found out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpcore.selection import catalog

# Their promise covers more than the name they give: all noisy scores are public. Only with few, general scores is the
# name alone able to use it up.
PUBLIC_SCORES = {"naive_laplace"}

Law = Callable[[np.ndarray], np.ndarray]


def bases(rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Score vectors to look around: ties, two levels at many gaps, spread out, and drawn at random."""
    for k in (2, 3, 4):
        yield np.zeros(k)
        for gap in (0.5, 1.0, 2.0, 5.0, 20.0, 80.0):
            yield np.r_[gap, np.zeros(k - 1)]  # one ahead
            yield np.r_[np.full(k - 1, gap), 0.0]  # one behind
        yield np.arange(k) * 3.0
        for scale in (1.0, 10.0, 100.0):
            yield rng.normal(size=k) * scale
            yield rng.integers(0, 5, size=k) * scale


def moves(k: int, one_way: bool) -> np.ndarray:
    """Corners of what one person can do to ``k`` scores, in units of the sensitivity, shape (moves, k).

    All of them up to k = 3, beyond that those that move every score.
    """
    if one_way:
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=k)))
        return np.concatenate([corners, -corners])
    steps = (-1.0, 0.0, 1.0) if k <= 3 else (-1.0, 1.0)
    return np.array(list(itertools.product(steps, repeat=k)))


def largest_loss(law: Law, *, sensitivity: float, one_way: bool, seed: int = 0) -> float:
    """max |ln P(D) − ln P(D′)| over answers, base vectors and neighbours: corners, and points between them."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for scores in bases(rng):
        scores = scores * sensitivity
        before = np.log(law(scores))
        corners = moves(scores.size, one_way)
        inner = rng.uniform(0.0 if one_way else -1.0, 1.0, size=(2, scores.size))
        for move in np.concatenate([corners, inner]):
            worst = max(worst, float(np.abs(np.log(law(scores + sensitivity * move)) - before).max()))
    return worst


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the table."""

    mechanism: str
    scores: str
    promised: float
    found: float
    broken: bool

    @property
    def passed(self) -> bool:
        """Kept its promise, or was rightly found not to."""
        # losses are differences of logarithms of probabilities accurate to 1e-11 relative
        return (self.found > self.promised * 1.05) if self.broken else (self.found <= self.promised + 1e-9)


def findings(epsilon: float = 1.0, sensitivity: float = 1.0) -> list[Finding]:
    """The catalogue and its broken twins."""
    lines = []
    for key, kind in catalog().items():
        for one_way in (False, True):
            kept = kind(epsilon=epsilon, sensitivity=sensitivity, monotonic=one_way)
            twins = {key: (kept, False)}
            if key not in PUBLIC_SCORES or not one_way:
                louder = kind(epsilon=epsilon / 0.8, sensitivity=sensitivity, monotonic=one_way)
                twins[f"{key}, noise × 0.8"] = (louder, True)
            if not one_way and key not in PUBLIC_SCORES:
                halved = kind(epsilon=epsilon, sensitivity=sensitivity, monotonic=True)
                twins[f"{key}, ε in place of ε/2"] = (halved, True)
            for name, (mechanism, broken) in twins.items():
                loss = largest_loss(mechanism.probabilities, sensitivity=sensitivity, one_way=one_way)
                lines.append(
                    Finding(
                        mechanism=name,
                        scores="one way" if one_way else "general",
                        promised=epsilon,
                        found=loss,
                        broken=broken,
                    )
                )
    return lines


def report(lines: list[Finding]) -> str:
    """The table."""
    return "\n".join(
        f"{line.mechanism:40} {line.scores:8} ε = {line.promised:<5g} found {line.found:.4f}  "
        + ("ok" if line.passed else "FAILED")
        for line in lines
    )


def main() -> int:
    """Print the table; 1 when a promise was broken or a broken twin was not found out."""
    lines = findings()
    print(report(lines))
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
