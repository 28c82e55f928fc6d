"""Private learning over a finite class: theorems with their constants, and how many people each asks for.

A class of k hypotheses, n people drawn independently, one of the hypotheses chosen by its number of errors. *Excess*
is how far its true error rate lies above that of the best in the class; all bounds here hold with probability 1 − β
over the people and the noise. *Agnostic*: nothing is assumed; *realizable*: some hypothesis never errs.

Errors are counted, never divided by n inside a mechanism, so that n may itself be private: adding or removing a person
moves all counts one way by at most 1, replacing one moves each either way by at most 1. That is where the constant c
of ``learning_constant`` comes from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit

from dpcore.errors import InvalidArgument
from dpcore.selection.laws import find
from dpcore.theorem import Conditions, Theorem, settings
from dpcore.validate import FloatArray, Neighbours, in_range, one_of, positive, probability, whole

LEAST_EXCESS = 1e-5
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)


def learning_constant(method: str = "exponential", relation: Neighbours = "replace_one", k: float = 2) -> float:
    """c for which the chosen one of ``k`` has at most (c/ε)(ln k + ln(1/β)) errors more than the best on the data.

    Except with chance β, for any data. The exponential mechanism and permute-and-flip choose a hypothesis z errors
    behind with chance at most e^(−az), a = ε/2 in general and ε where all counts move one way: c = 2, or 1 for people
    added or removed. Laplace noise on each count errs on both sides at once: c = 4, or 2. Noise on every count at ε/k
    each: c = 2k. Raises InvalidArgument.
    """
    one_of(("add_remove", "replace_one"), relation=relation)
    size = max(2, int(in_range(1.0, math.inf, k=k)))
    mechanism = find(method)(epsilon=1.0, monotonic=relation == "add_remove")
    return mechanism.utility_bound(size, 0.5) / (math.log(size) - math.log(0.5))


def learning_bound(
    k: ArrayLike, n: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, c: ArrayLike = 2.0, rows: ArrayLike = 1.0
) -> FloatArray:
    """Excess error rate: 2√(r·ln(4k/β)/(2n)) + (c·r/(εn))(ln k + ln(2/β)), arrays broadcast together.

    Half of β is for all k error rates on the data to lie within √(ln(4k/β)/(2n)) of the true ones (Hoeffding and a
    union bound), half for the noise (``learning_constant``). A person with up to ``rows`` r rows moves counts by r,
    and n rows then tell as much as n/r independent ones. Kasiviswanathan, Lee, Nissim, Raskhodnikova & Smith, FOCS
    2008, Theorem 12, with its constants worked out.
    """
    size, people, share, weight = settings(k=k, n=n, beta=beta, rows=rows)
    (level, factor) = settings(epsilon=epsilon, c=c)
    sampling = 2.0 * np.sqrt(weight * np.log(4.0 * size / share) / (2.0 * people))
    return np.asarray(sampling + factor * weight / (level * people) * (np.log(size) + np.log(2.0 / share)))


def learning_size(
    k: ArrayLike, alpha: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, c: ArrayLike = 2.0
) -> FloatArray:
    """The n at which ``learning_bound`` is ``alpha``, not rounded: a quadratic equation in √n."""
    size, target, share, level, factor = settings(k=k, alpha=alpha, beta=beta, epsilon=epsilon, c=c)
    sampling = np.sqrt(2.0 * np.log(4.0 * size / share))
    noise = factor / level * (np.log(size) + np.log(2.0 / share))
    return np.asarray(((sampling + np.sqrt(sampling**2 + 4.0 * target * noise)) / (2.0 * target)) ** 2)


def sharp_bound(
    k: ArrayLike, n: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, c: ArrayLike = 2.0
) -> FloatArray:
    """The same excess in one step, for the exponential mechanism and permute-and-flip, agnostic:

    √(2 ln(k/β)/n) where ε ≥ c·√(2 ln(k/β)/n), and (c/(εn))·ln(k/β) + ε/(2c) below.

    A hypothesis D errors behind the best is chosen with chance at most min(1, e^(−aD)) ≤ e^(−sD) for every s ≤ a =
    ε/c. When it is truly α worse, D is a sum of n differences in [−1, 1] of mean at least α, so E e^(−sD) ≤
    e^(−n(sα − s²/2)) (Hoeffding's lemma); s = min(a, α) and a union over k give it. At ε ≥ cα it is the bound without
    privacy: from there on privacy is free.
    """
    size, people, share, level, factor = settings(k=k, n=n, beta=beta, epsilon=epsilon, c=c)
    slope, need = level / factor, np.log(size / share) / people
    free = np.sqrt(2.0 * need)
    return np.asarray(np.where(slope >= free, free, need / slope + slope / 2.0))


def sharp_size(
    k: ArrayLike, alpha: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, c: ArrayLike = 2.0
) -> FloatArray:
    """People for which ``sharp_bound`` is ``alpha``: ln(k/β)/(sα − s²/2), s = min(ε/c, α). Not rounded.

    With infinite ``epsilon`` the agnostic size without privacy, 2 ln(k/β)/α². From ε = cα on the two are equal.
    """
    size, target, share, factor = settings(k=k, alpha=alpha, beta=beta, c=c)
    slope = np.minimum(_levels(epsilon) / factor, target)
    return np.asarray(np.log(size / share) / (slope * target - slope**2 / 2.0))


def realizable_size(
    k: ArrayLike, alpha: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, c: ArrayLike = 2.0
) -> FloatArray:
    """People that suffice where some hypothesis never errs: ln(k/β)/(−ln(1 − α(1 − e^(−a)))), a = ε/c. Not rounded.

    A hypothesis with a true error rate above α errs at least as often as n coins of chance α, and with e errors is
    chosen with chance at most e^(−ae), of mean (1 − α(1 − e^(−a)))ⁿ; a union over k. Infinite ``epsilon`` gives the
    size without privacy, about ln(k/β)/α. Exponential mechanism and permute-and-flip.
    """
    size, target, share, factor = settings(k=k, alpha=alpha, beta=beta, c=c)
    kept = -np.expm1(-_levels(epsilon) / factor)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(size / share) / -np.log1p(-np.minimum(target, 1.0) * kept))


def exact_realizable_size(
    k: float,
    alpha: float,
    epsilon: float,
    beta: float = 0.05,
    *,
    method: str = "permute_and_flip",
    relation: Neighbours = "replace_one",
) -> int:
    """The n that is needed exactly in one world: a perfect hypothesis, and k − 1 that err independently at rate α.

    ``method`` is ``permute_and_flip`` or ``exponential``; what ``realizable_size`` promises covers this world and all
    others. Infinite ``epsilon``: without privacy, ties broken evenly. Raises InvalidArgument.
    """
    one_of(("permute_and_flip", "exponential"), method=method)
    target = in_range(0.0, 1.0, open_low=True, open_high=True, alpha=alpha)
    wanted = 1.0 - probability(beta=beta)
    size = in_range(1.0, 1e200, k=k)
    slope = float(_levels(epsilon)) / learning_constant(method, relation, 2)

    def reached(people: int) -> bool:
        return realizable_success(size, target, slope, people, method) >= wanted

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def exact_agnostic_size(
    k: float,
    alpha: float,
    epsilon: float,
    beta: float = 0.05,
    *,
    method: str = "permute_and_flip",
    relation: Neighbours = "replace_one",
) -> int:
    """The odd n that is needed exactly in one world: everybody is wrong about either the best hypothesis or all others.

    The others, which agree, are wrong α more often: about half of all people tell the two apart in the wrong way, so
    learning is as hard as noise in the data makes it, but k − 1 agreeing hypotheses err together. ``method``, infinite
    ``epsilon`` and what is raised as in ``exact_realizable_size``. Odd, so that none of it hangs on ties.
    """
    one_of(("permute_and_flip", "exponential"), method=method)
    target = in_range(0.0, 1.0, open_low=True, open_high=True, alpha=alpha)
    wanted = 1.0 - probability(beta=beta)
    size = in_range(1.0, 1e200, k=k)
    slope = float(_levels(epsilon)) / learning_constant(method, relation, 2)

    def reached(half: int) -> bool:
        return agnostic_success(size, target, slope, 2 * half + 1, method) >= wanted

    if size == 1.0 or reached(0):
        return 1
    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return 2 * high + 1


def agnostic_success(k: float, alpha: float, slope: float, n: int, method: str = "permute_and_flip") -> float:
    """Chance that the best hypothesis of the world of ``exact_agnostic_size`` is chosen from n people; exact.

    Its lead in errors is D = 2B − n, B binomial with chance (1 + α)/2; given D the law has two levels in closed form,
    with p = e^(−slope·|D|): the exponential mechanism's 1/(1 + (k−1)e^(−slope·D)); permute-and-flip's
    (1 − (1−p)^k)/(kp) where D ≥ 0 and p/k below.
    """
    from scipy.stats import binom

    chance = (1.0 + alpha) / 2.0
    spread = 10.0 * math.sqrt(n) + 20.0
    right = np.arange(max(0.0, math.floor(n * chance - spread)), min(float(n), n * chance + spread) + 1.0)
    law, lead = binom.pmf(right, n, chance), 2.0 * right - n
    if slope == math.inf:
        return float(law @ np.where(lead > 0.0, 1.0, np.where(lead == 0.0, 1.0 / k, 0.0)))
    if method == "exponential":
        return float(min(1.0, law @ expit(slope * lead - math.log(max(k - 1.0, 1e-300)))))
    behind = np.exp(-np.minimum(slope * np.abs(lead), 690.0))
    with np.errstate(divide="ignore"):
        ahead = -np.expm1(k * np.log1p(-behind)) / (k * behind)
    return float(min(1.0, law @ np.where(lead >= 0.0, ahead, behind / k)))


def hard_excess(k: int, n: int, slope: float, beta: float, method: str) -> float:
    """The excess that is exceeded with chance β in the world of ``exact_agnostic_size`` at ``n`` people (odd), or 1."""
    people = max(1, n - 1 + n % 2)

    def short(alpha: float) -> float:
        return agnostic_success(k, alpha, slope, people, method) - (1.0 - beta)

    if short(1.0 - 1e-9) < 0.0:
        return 1.0
    if short(LEAST_EXCESS) >= 0.0:
        return LEAST_EXCESS
    return float(brentq(short, LEAST_EXCESS, 1.0 - 1e-9, xtol=1e-6))


def realizable_success(k: float, alpha: float, slope: float, n: int, method: str = "permute_and_flip") -> float:
    """Chance that the perfect hypothesis of the world of ``exact_realizable_size`` is chosen from n people; exact.

    Permute-and-flip, whose law is an integral of products over the others, takes their mean inside: with m the mean
    of e^(−slope·errors), (1 − (1−m)^k)/(k·m). The exponential mechanism is ∫₀^∞ e^(−u) φ(u)^(k−1) du with φ the mean
    of exp(−u·e^(−slope·errors)), over the binomial law of errors.
    """
    kept = -math.expm1(-slope)
    mean = math.exp(n * math.log1p(-alpha * kept))
    if method == "permute_and_flip" or slope == math.inf:
        if mean < 1e-300:
            return 1.0
        return float(-math.expm1(k * math.log1p(-mean)) / (k * mean)) if mean < 1.0 else 1.0 / k
    from scipy.stats import binom

    spread = 10.0 * math.sqrt(n * alpha) + 40.0
    errors = np.arange(max(0.0, math.floor(n * alpha - spread)), min(float(n), n * alpha + spread) + 1.0)
    law = binom.pmf(errors, n, alpha)
    # u = x/(1−x) on [0, 1]; the mass beyond u = 60 is e^−60
    x = (_NODES + 1.0) / 2.0 * (60.0 / 61.0)
    u = x / (1.0 - x)
    lost = -np.expm1(-u[:, None] * np.exp(-slope * errors)) @ law  # 1 − φ(u)
    integrand = np.exp(-u + (k - 1.0) * np.log1p(-np.minimum(lost, 1.0 - 1e-16))) / (1.0 - x) ** 2
    return float(min(1.0, integrand @ _WEIGHTS / 2.0 * (60.0 / 61.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far the answers of a query oracle may be off: ``sampling`` for drawing people, ``noise`` for privacy."""

    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """τ: every answer lies within it of the truth."""
        return self.sampling + self.noise


def query_tolerance(queries: int, n: float, epsilon: float, beta: float = 0.05) -> Tolerance:
    """The τ of a statistical-query oracle that answers ``queries`` m averages in [0, 1] by Laplace noise m/(εn).

    With probability 1 − β every answer is within √(ln(4m/β)/(2n)) + (m/(εn))·ln(2m/β) of the truth: Hoeffding and the
    Laplace tail at β/2 each over m answers. n public, ε-DP in total by adding up. Infinite ``epsilon``: no noise.
    Blum, Dwork, McSherry & Nissim, PODS 2005. Raises InvalidArgument.
    """
    asked, people = whole(1, queries=queries), positive(n=n)
    share, level = probability(beta=beta), float(_levels(epsilon))
    return Tolerance(
        sampling=math.sqrt(math.log(4.0 * asked / share) / (2.0 * people)),
        noise=asked / (level * people) * math.log(2.0 * asked / share),
    )


def query_size(queries: ArrayLike, tolerance: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05) -> FloatArray:
    """People for which ``query_tolerance`` is ``tolerance``, arrays broadcast together; not rounded.

    To learn one of k hypotheses by asking for every error rate takes m = k queries at tolerance α/2.
    """
    asked, target, share = settings(queries=queries, tolerance=tolerance, beta=beta)
    sampling = np.sqrt(np.log(4.0 * asked / share) / 2.0)
    noise = asked / _levels(epsilon) * np.log(2.0 * asked / share)
    return np.asarray(((sampling + np.sqrt(sampling**2 + 4.0 * target * noise)) / (2.0 * target)) ** 2)


def crossover(alpha: float, method: str = "exponential", relation: Neighbours = "replace_one") -> float:
    """The ε from which ``sharp_size`` is what learning without privacy asks for: c·α. Raises InvalidArgument."""
    return learning_constant(method, relation, 2) * in_range(0.0, 1.0, open_low=True, alpha=alpha)


_CHANCE = "chance β of failure, over the people drawn and the noise"
_ROLE = "a person replaced (c = 2) or added or removed (c = 1; n is then private and no mechanism uses it)"
THEOREMS = (
    Theorem(
        key="learning",
        name="Private learning of a finite class",
        quantity="excess of the true error rate",
        statement="excess ≤ 2·√(ln(4k/β)/(2n)) + (c/(εn))·(ln k + ln(2/β))",
        conditions=Conditions(
            neighbours=_ROLE,
            range="one mistake or none per person",
            beta=_CHANCE + ", half for each",
            needs="people drawn independently; exponential mechanism or permute-and-flip (Laplace noise: c twice that)",
        ),
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova & Smith, FOCS 2008, Theorem 12; constants worked out",
        settings=("k", "n", "epsilon", "beta", "c", "rows"),
        formula=learning_bound,
    ),
    Theorem(
        key="learning_sharp",
        name="Private learning, sharper",
        quantity="excess of the true error rate",
        statement="excess ≤ √(2 ln(k/β)/n) where ε ≥ c·√(2 ln(k/β)/n), else (c/(εn))·ln(k/β) + ε/(2c)",
        conditions=Conditions(
            neighbours=_ROLE,
            range="one mistake or none per person",
            beta=_CHANCE,
            needs="people drawn independently; exponential mechanism or permute-and-flip; one row a person",
        ),
        source="Worked out here from Hoeffding's lemma: see sharp_bound",
        settings=("k", "n", "epsilon", "beta", "c"),
        formula=sharp_bound,
    ),
    Theorem(
        key="learning_realizable",
        name="Private learning where some rule is perfect",
        quantity="people needed",
        statement="n ≥ ln(k/β) / (−ln(1 − α(1 − e^(−ε/c))))",
        conditions=Conditions(
            neighbours=_ROLE,
            range="one mistake or none per person",
            beta=_CHANCE,
            needs="some hypothesis never errs; people drawn independently; exponential mechanism or permute-and-flip",
        ),
        source="Blumer, Ehrenfeucht, Haussler & Warmuth, IPL 1987, without privacy; with it worked out here",
        settings=("k", "alpha", "epsilon", "beta", "c"),
        formula=realizable_size,
    ),
    Theorem(
        key="statistical_queries",
        name="Learning from noisy averages",
        quantity="people needed",
        statement="τ ≤ √(ln(4m/β)/(2n)) + (m/(εn))·ln(2m/β); m = k queries at τ = α/2 learn to α",
        conditions=Conditions(
            neighbours="a person replaced (n is public)",
            range="averages of numbers in [0, 1]",
            beta=_CHANCE + ", half for each, over all m answers",
            needs="queries asked with ε/m each, Laplace noise",
        ),
        source="Blum, Dwork, McSherry & Nissim, PODS 2005; constants worked out",
        settings=("queries", "tolerance", "epsilon", "beta"),
        formula=query_size,
    ),
)


def _levels(epsilon: ArrayLike) -> FloatArray:
    """ε as an array, infinite where there is no privacy. Raises InvalidArgument."""
    level = np.asarray(epsilon, dtype=np.float64)
    if not (level > 0.0).all():
        raise InvalidArgument("epsilon", "must be greater than 0 everywhere")
    return level
