"""The ways of ``dpcore.thresholding.ways``, fitted to a series: all about a method but its ε."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from dpcore.thresholding.above_threshold import AboveThreshold
from dpcore.thresholding.noise import NoisePair, offset_of
from dpcore.thresholding.sparse import Sparse
from dpcore.thresholding.ways import Way, catalog
from dpcore.validate import one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A way fitted to a number of queries and alarms: everything about it but ε.

    ``threshold_factor``, ``query_factor``, ``offset_factor`` and ``alpha_factor`` times Δ/ε are its two noise scales,
    its offset, as far as one may lie (``offset_of``), and its exact α.
    """

    way: type[Way]
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
            "offset": offset_of(self.offset_factor, sensitivity, epsilon),
        }
        noise, monotonic = self.way.noise, self.way.monotonic
        if self.limit == 1:
            return AboveThreshold(noise=noise, monotonic=monotonic, **settings)
        return Sparse(noise=noise, monotonic=monotonic, limit=self.limit, **settings)


@functools.lru_cache(maxsize=1024)
def family(key: str, k: int, limit: int, beta: float) -> Family:
    """A way for ``k`` queries, ``limit`` alarms and failure chance ``beta``. Raises InvalidArgument."""
    ways = catalog()
    way = ways[one_of(tuple(ways), method=key)]
    design = way.design(k, limit, beta)
    unit = NoisePair.of(1.0, 1.0, way.noise, design.share, limit, way.monotonic)
    return Family(
        way=way,
        limit=limit,
        share=design.share,
        threshold_factor=unit.threshold_scale,
        query_factor=unit.query_scale,
        offset_factor=design.offset,
        alpha_factor=design.alpha,
    )
