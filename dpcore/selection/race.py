"""The law of report noisy max: every score gets independent noise and the largest total wins. Exact, by quadrature.

Measure depth below the best score in units of noise, and put the winner's total at depth −ln t. A candidate at depth x
with p = exp(−x) stays below it with probability F and meets it with hazard h, so the chance to win is ∫ h ∏F dt/t:

* Exponential noise (permute-and-flip): z = p·t, F = 1 − z, h = z / (1 − z), over t in (0, 1).
* Laplace noise: z = p·t/2, F = 1 − z, h = z / (1 − z) while z ≤ 1/2, that is above the score; below it F = 1/(4z)
  and h = 1. Over t in (0, ∞), with a kink wherever t passes a score.

Two facts make this exact to rounding. (1) On (0, 1) the product is a polynomial bounded by exp(S·|t|), S = Σ z/t, and
worth less than e^−40 past t = 40/S: Gauss–Legendre with ⌈k/2⌉ nodes is exact, and 40 nodes on (0, min(1, 40/S)) err
by less than 1e-16 for every k (at most ρ^−80·exp(40·(½ + (ρ + 1/ρ)/4)), ρ = 8). (2) Below the best score every
candidate passed halves the product, so the panels between scores end after 41 units of log-probability. Where z is
small for many candidates, power sums Σ z^m stand for their factors, O(k) each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dpcore.selection.scores import DEEP, scaled, within_reach
from dpcore.validate import FloatArray

_DECAY = 40.0  # e^−40 is 4e-18: what lies further out is left out
_HALVINGS = 41.0
_NODES = 40
_PASSED = 60  # past this many candidates the product is below e^−41
_DIRECT = 48  # groups up to which every factor is multiplied out
_PANEL = 48  # nodes between two scores at most
_BLOCK = 1 << 15  # settings × nodes worked on at a time: arrays of 256 kB stay in the cache
_SERIES = 1 / 32  # largest z that a power series stands for …
_FEW = 12  # candidates in all, up to which one node set is enough between two scores
_TERMS = 11  # … with this many terms: 40 · 32^−11 / 12 is 1e-16


@cache
def _gauss(size: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return (nodes + 1) / 2, weights / 2


@dataclass(frozen=True, slots=True)
class Race:
    """Law over groups with Exponential noise, or with Laplace noise when ``two_sided``."""

    two_sided: bool

    def rows(self, depths: FloatArray, counts: FloatArray) -> FloatArray:
        """Probability of each group, shape (m, d), for ``depths`` (m, d) with a 0 in each row, ``counts`` (d,)."""
        depths = np.minimum(depths, DEEP)
        if depths.shape[1] > _DIRECT:
            return np.stack([self._spread_row(row, counts) for row in depths])
        block = max(1, _BLOCK // (_NODES + (_PANEL * depths.shape[1] if self.two_sided else 0)))
        if len(depths) <= block:
            return self._direct(depths, counts)
        law = np.empty_like(depths)
        # settings of like noise need like nodes, so they are worked on together
        order = np.argsort(depths.sum(axis=1))
        for i in range(0, len(order), block):
            rows = order[i : i + block]
            law[rows] = self._direct(depths[rows], counts)
        return law

    def summary(self, gaps: FloatArray, counts: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance of a best candidate and expected gap, (m,) each; ``gaps`` (d,) ascend from 0, ``slopes`` (m,)."""
        if gaps.size <= _DIRECT:
            law = self.rows(scaled(gaps, slopes), counts)
            return law[:, 0], law @ gaps
        found = [self._summary_row(gaps, counts, float(slope)) for slope in slopes]
        return np.array([row[0] for row in found]), np.array([row[1] for row in found])

    def _direct(self, depths: FloatArray, counts: FloatArray) -> FloatArray:
        """``rows`` with every factor multiplied out: for few groups and many settings."""
        nodes, weights = self._nodes(depths, counts)
        chance = np.exp(-depths.T[:, :, None]) * (0.5 if self.two_sided else 1.0)
        product = np.ones_like(nodes)
        hazards = []
        for share, count in zip(chance, counts, strict=True):
            z = share * nodes
            stays, hazard = self._factor(z)
            product *= stays if count == 1.0 else np.exp(count * self._log_stays(z))
            hazards.append(hazard)
        product *= weights
        law = np.stack([np.einsum("mq,mq->m", product, hazard) for hazard in hazards], axis=1)
        law *= counts
        return law

    def _factor(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance to stay below the winner's total, and hazard of meeting it, for ``z`` of any shape."""
        if not self.two_sided:
            stays = 1 - z
            return stays, z / stays
        above = np.minimum(z, 0.5)
        stays = 1 - above
        hazard = above / stays
        # past the score the chance halves with every doubling of t; up to it this factor is 1
        stays *= 0.5 / np.maximum(z, 0.5)
        return stays, hazard

    def _log_stays(self, z: FloatArray) -> FloatArray:
        """Logarithm of the chance to stay below, accurate where it is tiny and counts are large."""
        if not self.two_sided:
            return np.log1p(-z)
        logs: FloatArray = np.log1p(-np.minimum(z, 0.5))
        logs -= np.log(np.maximum(2 * z, 1.0))
        return logs

    def _nodes(self, depths: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Nodes t and their weights for dt/t, shape (m, q) each, for ``depths`` (m, d), ascending if there are many."""
        sums = np.exp(-depths) @ counts / (2.0 if self.two_sided else 1.0)
        size = int(min(_NODES, -(-counts.sum() // 2)))
        u, w = _gauss(size)
        reach = np.minimum(1.0, _DECAY / sums)
        nodes = [reach[:, None] * u]
        weights = [np.broadcast_to(w / u, (len(depths), size))]
        if self.two_sided:
            if depths.shape[1] <= _DIRECT:
                order = np.argsort(depths, axis=1)
                _add_panels(np.take_along_axis(depths, order, axis=1), counts[order], nodes, weights)
            else:
                _add_panels(depths, counts[None, :], nodes, weights)
        return np.concatenate(nodes, axis=1), np.concatenate(weights, axis=1)

    def _spread_row(self, depths: FloatArray, counts: FloatArray) -> FloatArray:
        order = np.argsort(depths, kind="stable")
        near, moments, z = self._long(depths[order], counts[order])
        far = np.full_like(z, moments[-1])
        for moment in moments[-2::-1]:
            far *= z
            far += moment
        law = np.empty_like(depths)
        law[order] = np.concatenate([near, far * z]) * counts[order]
        return law

    def _summary_row(self, gaps: FloatArray, counts: FloatArray, slope: float) -> tuple[float, float]:
        size = within_reach(gaps, slope)
        gaps, counts = gaps[:size], counts[:size]
        depths = gaps * slope
        near, moments, z = self._long(depths, counts)
        cut = near.size
        loss = float((near * counts[:cut]) @ gaps[:cut])
        loss += float(moments @ _power_sums(z, counts[cut:] * gaps[cut:]))
        best = near[0] if cut else moments @ z[0] ** np.arange(1, _TERMS + 1)
        return float(best * counts[0]), loss

    def _long(self, depths: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For many groups of ascending ``depths``: chances of one candidate in each near group, moments for the rest.

        Each far candidate wins with probability Σ_m moments[m − 1] · z^m, its ``z`` the third result.
        """
        nodes, weights = (part[0] for part in self._nodes(depths[None, :], counts))
        half = 0.5 if self.two_sided else 1.0
        reach = nodes.max()
        cut = int(np.searchsorted(depths, np.log(reach * half / _SERIES)))
        near = np.exp(-depths[:cut, None]) * (half * nodes)
        far = np.exp(np.log(reach * half) - depths[cut:])
        powers = (nodes / reach) ** np.arange(1, _TERMS + 1)[:, None]
        log_product = counts[:cut] @ self._log_stays(near)
        log_product -= (_power_sums(far, counts[cut:]) / np.arange(1, _TERMS + 1)) @ powers
        mass = np.exp(log_product) * weights
        return self._factor(near)[1] @ mass, powers @ mass, far


def _power_sums(z: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ weights · z^m for m = 1 … ``_TERMS``."""
    sums = np.empty(_TERMS)
    power = weights.copy()
    for m in range(_TERMS):
        power *= z
        sums[m] = power.sum()
    return sums


def _add_panels(x: FloatArray, number: FloatArray, nodes: list[FloatArray], weights: list[FloatArray]) -> None:
    """Nodes below the best score, panel by panel between neighbouring scores, for Laplace noise.

    ``x`` (m, d): depths ascending in each row; ``number``: candidates at each, (m, d) or (1, d), at least 1.
    """
    total = float(number[0].sum())
    further = (number[:, _PASSED:] * np.exp(-x[:, _PASSED:])).sum(axis=1, keepdims=True)
    following = np.concatenate([x[:, 1 : _PASSED + 1], np.full((len(x), 1), np.inf)], axis=1)[:, :_PASSED]
    x, number = x[:, :_PASSED], number[:, :_PASSED]
    passed = np.cumsum(number, axis=1)
    # −log of the product at the top of each panel is at least this; what is left of 41 bounds the panel's length …
    spent = passed * (x + np.log(2.0)) - np.cumsum(number * x, axis=1)
    fast = x + np.maximum(_HALVINGS - spent, 0.0) / passed
    # … and past that only candidates far below can still win: their hazard grows with t, as one factor less
    room = np.maximum(_HALVINGS - spent + x, 0.0)
    with np.errstate(divide="ignore"):
        slow = np.minimum(x + room / np.maximum(passed - 1, 0.0), DEEP)
    chance = number * np.exp(-x)
    ahead = np.zeros_like(chance)
    ahead[:, :-1] = np.cumsum(chance[:, :0:-1], axis=1)[:, ::-1]
    ahead += further
    with np.errstate(divide="ignore"):
        busy = -np.log(ahead / 2)  # depth at which half the sum of what lies ahead reaches 1
    used = max(1, int((room > 0).any(axis=0).sum()))
    top = np.where(room > 0, x, 0.0)[:, :used]
    bottom = np.minimum(np.minimum(slow, busy + np.log(_DECAY)), following)[:, :used]
    bottom = np.where(room[:, :used] > 0, np.maximum(bottom, top), top)
    cuts = [top, np.clip(fast[:, :used], top, bottom), bottom]
    if total > _FEW:
        # where many candidates lie ahead the product falls doubly exponentially: nodes of their own from there
        cuts.append(np.clip(busy[:, :used], top, bottom))
    edges = np.sort(cuts, axis=0)
    lengths = np.diff(edges, axis=0)
    # by how much the logarithm of what is integrated changes within each part
    rate = total if total <= _FEW else passed[:, :used] + 2 * np.where(edges[1:] > busy[:, :used], _DECAY, 1.0)
    change = (lengths * rate).max(axis=1)
    for size, chosen in ((8, (change > 0) & (change <= 3)), (20 if total <= _FEW else 24, change > 3)):
        part, panel = np.nonzero(chosen)
        if part.size:
            u, w = _gauss(size)
            start, length = edges[part, :, panel].T, lengths[part, :, panel].T
            nodes.append(np.exp(start[:, :, None] + length[:, :, None] * u).reshape(len(x), -1))
            weights.append((length[:, :, None] * w).reshape(len(x), -1))
