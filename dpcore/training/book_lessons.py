"""What the textbook's noisy descent says it spends and what it spends, and what keeps its model from the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpcore.accounting import Cost, compose
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training.book import BookGradientDescent, classical_noise_multiplier
from dpcore.training.descent import descend
from dpcore.training.fit import checked, projected
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.losses import LOGISTIC, objective
from dpcore.training.optimum import minimise
from dpcore.training.plan import RADIUS
from dpcore.validate import FloatArray, positive_vector, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class BookLesson:
    """What the textbook's noisy descent says it spends, and what it spends.

    ``steps`` Gaussian releases at ``step_epsilon`` and δ each, noise by the classical formula (``noise_multiplier``).
    ``nominal_epsilon`` is what its plot shows for the whole run, ``basic_epsilon`` adds the noisy count to it and
    ``basic_delta`` the δ of the steps; ``true_epsilon`` is what the steps cost at a single δ, exactly;
    ``true_with_count`` with the count.
    """

    steps: int
    step_epsilon: float
    delta: float
    noise_multiplier: float
    nominal_epsilon: float
    basic_epsilon: float
    basic_delta: float
    true_epsilon: float
    true_with_count: float


def book_lesson(step_epsilon: float = 0.1, *, steps: int = 10, delta: float = 1e-5) -> BookLesson:
    """The textbook's accounting at ``step_epsilon`` a step. Raises InvalidArgument."""
    noise = classical_noise_multiplier(step_epsilon, delta)
    run = Cost.gaussian(noise, delta, whole(1, steps=steps))
    return BookLesson(
        steps=steps,
        step_epsilon=step_epsilon,
        delta=delta,
        noise_multiplier=noise,
        nominal_epsilon=steps * step_epsilon,
        basic_epsilon=(steps + 1) * step_epsilon,
        basic_delta=steps * delta,
        true_epsilon=run.epsilon,
        true_with_count=compose([run, Cost.laplace(1.0 / step_epsilon)], delta)["best"],
    )


def count_not_positive(rows: ArrayLike, step_epsilon: ArrayLike) -> FloatArray:
    """Chance that the noisy count of ``rows`` people, Laplace noise 1/ε₀, is 0 or less: ½·e^(−ε₀·rows).

    The textbook divides by it: a count near 0 throws the model far away, one below 0 turns every step round.
    """
    people = positive_vector(rows=np.ravel(rows)).reshape(np.shape(rows))
    level = positive_vector(step_epsilon=np.ravel(step_epsilon)).reshape(np.shape(step_epsilon))
    return np.asarray(0.5 * np.exp(-people * level))


def book_spend(
    step_epsilon: ArrayLike, *, steps: int = 10, delta: float = 1e-5, rows: int | None = None
) -> pd.DataFrame:
    """The textbook's run at each ``step_epsilon`` (m,), on three axes and by every accountant, one row each.

    Columns: ``step_epsilon``, what the plot is labelled with; ``added_up``, the ε of all steps by the basic sum, at
    δ·steps; ``exact``, what the steps cost at a single δ; ``with_count`` that with the noisy count; one column for
    each accountant that applies to steps and count together (``basic``, ``zcdp``, ``rdp``, ``pld``, …), at a single δ;
    ``noise_multiplier``; and with ``rows``, ``count_not_positive``. Raises InvalidArgument.
    """
    found = []
    for level in positive_vector(step_epsilon=np.atleast_1d(step_epsilon)).tolist():
        lesson = book_lesson(level, steps=steps, delta=delta)
        run = Cost.gaussian(lesson.noise_multiplier, delta, steps)
        accounts = compose([run, Cost.laplace(1.0 / level)], delta)
        found.append(
            {
                "step_epsilon": level,
                "added_up": lesson.nominal_epsilon,
                "exact": lesson.true_epsilon,
                "with_count": lesson.true_with_count,
                **{name: epsilon for name, epsilon in accounts.items() if name != "best"},
                "noise_multiplier": lesson.noise_multiplier,
                **({} if rows is None else {"count_not_positive": float(count_not_positive(rows, level))}),
            }
        )
    return pd.DataFrame(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class BookSplit:
    """Why the textbook's model is worse than the best, in excess risk, by taking away one thing after the other.

    ``book`` as it stands; ``exact`` the same steps with noise for the same (ε, δ) composed exactly and the public n;
    ``without_noise`` the same steps without any. ``descent`` is ``NoisyGradientDescent`` at the same (ε, δ), for
    comparison. All means over replicas; ``errors`` are the standard errors of the first, second and last of them.
    """

    epsilon: float
    delta: float
    book: float
    exact: float
    without_noise: float
    descent: float
    errors: tuple[float, float, float]

    @property
    def parts(self) -> dict[str, float]:
        """``steps`` (too few), ``noise`` (that privacy needs) and ``accounting`` (noise that it does not, and the noisy
        count): they add up to ``book``. A part can be below 0 by no more than chance, or where noise happens to help.
        """
        return {
            "steps": self.without_noise,
            "noise": self.exact - self.without_noise,
            "accounting": self.book - self.exact,
        }

    @property
    def most(self) -> str:
        """The largest of ``parts``."""
        parts = self.parts
        return max(parts, key=parts.__getitem__)


def book_split(
    X: FloatArray,
    y: FloatArray,
    rng: Generator,
    *,
    epsilon: float,
    delta: float = 1e-5,
    replicas: int = 100,
    row_norm: float = 3.34,
    radius: float = RADIUS,
) -> BookSplit:
    """Excess risk of ``BookGradientDescent`` on rows X (n, d) and labels y (n,), split; over the ball of ``radius``.

    All runs of the book's steps share one descent. Raises InvalidArgument.
    """
    method = BookGradientDescent(epsilon=epsilon, delta=delta, row_norm=row_norm)
    rows, answers = checked(X, y, LOGISTIC, rng, replicas)
    n = rows.shape[0]
    exact = method.clip * gaussian_noise_multiplier(epsilon, delta, method.steps)
    counts = n + rng.laplace(scale=1.0 / method.step_epsilon, size=replicas)
    weights = descend(
        GradientSums(LOGISTIC, rows * row_norm, answers, method.clip),
        d=rows.shape[1],
        n=np.concatenate([counts, np.full(replicas + 1, float(n))]),
        noise=np.repeat([method.noise_scale, exact, 0.0], [replicas, replicas, 1]),
        rate=np.full(2 * replicas + 1, method.rate),
        steps=method.steps,
        momentum=0.0,
        tail=1e-9,
        ridge=0.0,
        radius=None,
        rng=rng,
    )
    other = NoisyGradientDescent(epsilon=epsilon, delta=delta).fit(rows, answers, rng, replicas)
    least = minimise(LOGISTIC, rows, answers, radius=radius).objective
    every = np.concatenate([row_norm * weights, other.weights])
    excess = objective(LOGISTIC, projected(every, radius), rows, answers) - least
    book, right, quiet, descent = np.split(excess, [replicas, 2 * replicas, 2 * replicas + 1])
    first, second, last = (float(part.std() / math.sqrt(replicas)) for part in (book, right, descent))
    return BookSplit(
        epsilon=epsilon,
        delta=delta,
        book=float(book.mean()),
        exact=float(right.mean()),
        without_noise=float(quiet[0]),
        descent=float(descent.mean()),
        errors=(first, second, last),
    )
