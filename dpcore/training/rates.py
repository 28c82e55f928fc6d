"""How the best possible excess risk grows and falls, up to a constant; and a method with a bound that is proved."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.losses import LinearLoss
from dpcore.validate import FloatArray, Neighbours, one_of, positive, positive_vector, probability, whole

RATES = MappingProxyType(
    {
        "rate_approximate": About(
            name="best rate, (ε, δ), up to a constant",
            plain="how fast the best possible method gets better",
            how=(
                "The order in which the smallest possible loss of any private method falls with more rows or more ε, "
                "when a small chance of failure is allowed. Its height means nothing."
            ),
            formula=r"G R \sqrt{d \ln(1/\delta)} / (\varepsilon n)",
            source="Bassily, Smith and Thakurta, FOCS 2014.",
        ),
        "rate_pure": About(
            name="best rate, pure ε, up to a constant",
            plain="the same, for a promise that never fails",
            how=(
                "The order in which the smallest possible loss of any private method falls with more rows or more ε, "
                "when no chance of failure is allowed. Its height means nothing."
            ),
            formula=r"G R d / (\varepsilon n)",
            source="Bassily, Smith and Thakurta, FOCS 2014.",
        ),
        "rate_sampling": About(
            name="rate of sampling, up to a constant",
            plain="what having only these people costs anyone",
            how="The order in which the loss falls with more rows when nothing is hidden. Its height means nothing.",
            formula=r"G R / \sqrt{n}",
            source="The error of drawing n people.",
        ),
    }
)


def rate(
    name: str,
    *,
    d: ArrayLike,
    epsilon: ArrayLike,
    n: ArrayLike,
    delta: ArrayLike = 1e-5,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> FloatArray:
    """The order of the best possible excess risk for G-Lipschitz convex losses over a ball of radius R: up to a
    constant, which nobody states, so it is no bound and must not be read as one. Arrays are broadcast together.

    ``rate_approximate`` G·R·√(d ln(1/δ))/(εn) and ``rate_pure`` G·R·d/(εn) are for the rows at hand (Bassily, Smith &
    Thakurta, FOCS 2014); ``rate_sampling`` G·R/√n is what drawing the people costs anyone. Never above G·R.
    ``lipschitz`` is G over that ball (``loss.lipschitz(radius)``). Raises InvalidArgument.
    """
    one_of(tuple(RATES), rate=name)
    scale = positive(radius=radius) * positive(lipschitz=lipschitz)
    columns, people, level = (np.asarray(one, dtype=np.float64) for one in (d, n, epsilon))
    if name == "rate_sampling":
        return np.asarray(scale * np.minimum(1.0, 1.0 / np.sqrt(people)))
    top = np.sqrt(columns * np.log(1.0 / np.asarray(delta))) if name == "rate_approximate" else columns
    return np.asarray(scale * np.minimum(1.0, top / (level * people)))


def descent_bound(
    *,
    d: ArrayLike,
    n: ArrayLike,
    epsilon: ArrayLike,
    delta: float = 1e-5,
    steps: ArrayLike = 400,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    neighbours: Neighbours = "add_remove",
) -> FloatArray:
    """Expected excess risk of ``proved_descent``, with all constants: G·R·(√(1/T + d·h²σ²/n²) + 1/T).

    σ is the noise multiplier of one Gaussian release at (ε, δ) (Balle & Wang, ICML 2018), h 1 where a row is added or
    removed and 2 where one is replaced. Gradients at most G long, plus noise of standard deviation s = hGσ√T/n a
    coordinate, of mean the true gradient: the regret of projected descent from 0 is at most R²/(2η) + ηT(G² + ds²)/2
    (Zinkevich, ICML 2003), least at η = R/√(T(G² + ds²)); the average is of the places after each step instead of
    before, which adds at most GR/T. Arrays are broadcast together. Raises InvalidArgument.
    """
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    scale = positive(radius=radius) * positive(lipschitz=lipschitz)
    levels, place = np.unique(positive_vector(epsilon=np.ravel(epsilon)), return_inverse=True)
    single = np.array([gaussian_noise_multiplier(float(level), probability(delta=delta)) for level in levels])
    noise = single[place].reshape(np.shape(epsilon)) * (1.0 if neighbours == "add_remove" else 2.0)
    columns, people, length = (np.asarray(one, dtype=np.float64) for one in (d, n, steps))
    return np.asarray(scale * (np.sqrt(1.0 / length + columns * (noise / people) ** 2) + 1.0 / length))


def proved_descent(
    loss: LinearLoss,
    *,
    d: int,
    n: int,
    epsilon: float,
    delta: float,
    steps: int = 400,
    radius: float = 1.0,
    neighbours: Neighbours = "add_remove",
) -> NoisyGradientDescent:
    """Noisy gradient descent as ``descent_bound`` proves it: nothing clipped, every step back into the ball, all places
    averaged, no momentum, and the proof's rate, from public numbers alone. Raises InvalidArgument."""
    steepest, whole_steps = loss.lipschitz(positive(radius=radius)), whole(1, steps=steps)
    halves = 1.0 if neighbours == "add_remove" else 2.0
    spread = halves * steepest * gaussian_noise_multiplier(epsilon, delta, whole_steps) / whole(2, n=n)
    return NoisyGradientDescent(
        epsilon=epsilon,
        delta=delta,
        loss=loss,
        steps=whole_steps,
        clip=None,
        rate=radius / math.sqrt(whole_steps * (steepest**2 + whole(1, d=d) * spread**2)),
        momentum=0.0,
        tail=1.0,
        radius=radius,
        neighbours=neighbours,
    )
