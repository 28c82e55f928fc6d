"""The ways a series can be watched, as families over ε: what a problem compares and a page names."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from dpcore.errors import InvalidArgument
from dpcore.thresholding.above_threshold import AboveThreshold
from dpcore.thresholding.accuracy import best_design, exact_alpha
from dpcore.thresholding.noise import NoiseKind, NoisePair
from dpcore.thresholding.sparse import Sparse

THEORY = "theory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to watch: its noise, whether it relies on one-way counts, and whether share and offset are tuned."""

    key: str
    label: str
    noise: NoiseKind
    monotonic: bool
    tuned: bool


METHODS = (
    Method(key="book", label="Textbook", noise="laplace", monotonic=False, tuned=False),
    Method(key="laplace", label="Laplace noise, tuned", noise="laplace", monotonic=False, tuned=True),
    Method(key="exponential", label="Exponential noise, tuned", noise="exponential", monotonic=False, tuned=True),
    Method(key="laplace_monotone", label="Laplace noise, one-way counts", noise="laplace", monotonic=True, tuned=True),
    Method(
        key="exponential_monotone",
        label="Exponential noise, one-way counts",
        noise="exponential",
        monotonic=True,
        tuned=True,
    ),
)
LABELS = {method.key: method.label for method in METHODS} | {THEORY: "What theory promises"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A method fitted to a number of queries and alarms: everything about it but ε.

    ``threshold_factor``, ``query_factor``, ``offset_factor`` and ``alpha_factor`` times Δ/ε are its two noise scales,
    its offset and its exact α.
    """

    method: Method
    limit: int
    share: float
    threshold_factor: float
    query_factor: float
    offset_factor: float
    alpha_factor: float

    def mechanism(self, epsilon: float, sensitivity: float) -> AboveThreshold | Sparse:
        """The mechanism itself at one ε. Raises InvalidArgument."""
        settings = {
            "epsilon": epsilon,
            "sensitivity": sensitivity,
            "threshold_share": self.share,
            "offset": self.offset_factor * sensitivity / epsilon,
        }
        noise, monotonic = self.method.noise, self.method.monotonic
        if self.limit == 1:
            return AboveThreshold(noise=noise, monotonic=monotonic, **settings)
        return Sparse(noise=noise, monotonic=monotonic, limit=self.limit, **settings)


def find(key: str) -> Method:
    """The method of that key. Raises InvalidArgument."""
    for method in METHODS:
        if method.key == key:
            return method
    raise InvalidArgument("method", "must be one of " + ", ".join(method.key for method in METHODS))


@functools.lru_cache(maxsize=1024)
def family(key: str, k: int, limit: int, beta: float) -> Family:
    """A method for ``k`` queries, ``limit`` alarms and failure chance ``beta``. Raises InvalidArgument."""
    method = find(key)
    if method.tuned:
        design = best_design(k, beta, method.noise, limit, method.monotonic)
        share, offset, alpha = design.share, design.offset, design.alpha
    else:
        share, offset = 0.5, 0.0
        alpha = exact_alpha(NoisePair.of(1.0, 1.0, method.noise, share, limit, method.monotonic), k, limit, beta)
    unit = NoisePair.of(1.0, 1.0, method.noise, share, limit, method.monotonic)
    return Family(
        method=method,
        limit=limit,
        share=share,
        threshold_factor=unit.threshold_scale,
        query_factor=unit.query_scale,
        offset_factor=offset,
        alpha_factor=alpha,
    )
