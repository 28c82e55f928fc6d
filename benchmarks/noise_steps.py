"""The descent of ``ScaledDescent`` again, with its noise used in other ways: candidates of ``benchmarks.noise``.

All publish exactly what ``ScaledDescent`` publishes (noisy counts, ``steps`` noisy clipped gradient sums, noisy counts
for calibration) with its shares of 1/σ², a row added or removed, so all have its proof and its cost: (ε, δ), one
Gaussian release of multiplier σ, ρ = 1/(2σ²). What differs is only what is made of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpcore.training.coded import CodedRows
from dpcore.training.kernel.codes import gather, scatter, softmax_slopes
from dpcore.training.losses import Logistic
from dpcore.training.scaled_descent import ScaledDescent, ScaledSums, calibrating, scales_squared, step_lengths

Single = NDArray[np.float32]
Array = NDArray[np.float64]
Sums = Callable[[Single], Single]
MIRROR_RATE = 3.0
"""How far noise alone may carry a mirror descent, over how far it carries ours: chosen on made-up rows."""
_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Begun:
    """What comes before the steps, for (levels × replicas) models: noisy counts, and scales and clips that follow."""

    methods: Sequence[ScaledDescent]
    rows: CodedRows
    answers: Single
    people: Array
    scales: Single
    loads: Array
    clip: Array
    replicas: int

    @classmethod
    def of(
        cls, methods: Sequence[ScaledDescent], rows: CodedRows, y: Array, rng: np.random.Generator, replicas: int
    ) -> Begun:
        """Buys the counts, as ``ScaledDescent`` does and from the same draws. ``loads`` (d, models): each scaled
        one's noisy mean square, 1 in all."""
        noise = np.repeat([method.counts_noise(rows.most_ones) for method in methods], replicas)
        counts = rows.counts()[:, None] + noise * rng.standard_normal((rows.shape[1], noise.size))
        people = np.maximum(counts[-1], np.maximum(noise, 1.0))
        squares = scales_squared(counts, people, noise)
        clips = [method.per_clip * method.clips(own) for method, own in
                 zip(methods, people.reshape(len(methods), replicas), strict=True)]  # fmt: skip
        return cls(
            methods=methods,
            rows=rows,
            answers=y.astype(np.float32),
            people=people,
            scales=np.sqrt(squares).astype(np.float32),
            loads=np.clip(counts / people, 0.0, 1.0) * squares,
            clip=np.concatenate(clips),
            replicas=replicas,
        )

    def spread(self, values: Sequence[float]) -> Array:
        """One value a level as one a model."""
        return np.repeat(np.asarray(values, dtype=float), self.replicas)

    @property
    def noises(self) -> Array:
        """Standard deviations (models,) of a step's noise."""
        return self.clip * self.spread([method.step_noise for method in self.methods])

    @property
    def smoothness(self) -> float:
        first = self.methods[0]
        return 0.5 if first.outputs > 1 else first.loss.smoothness

    @property
    def lengths(self) -> Array:
        """How long our own steps are (models,)."""
        first, rates = self.methods[0], self.spread([method.used_rate for method in self.methods])
        return step_lengths(
            self.people, self.noises, rates, smoothness=self.smoothness, steps=first.steps, momentum=first.momentum
        )

    def clipped_whole(self) -> Sums:
        """Our own gradient sums: each row's gradient shortened as a whole."""
        return ScaledSums(self.methods[0], self.rows, self.answers, self.scales, self.clip)

    def finished(self, weights: Single, rng: np.random.Generator) -> Array:
        """Weights (models, d, outputs) of the unscaled ones, calibrated on noisy counts: all that is left to buy."""
        factors = np.ones(weights.shape[1])
        first = self.methods[0]
        if isinstance(first.loss, Logistic):
            cells = ScaledSums(first, self.rows, self.answers, self.scales, self.clip).cells(weights)
            for place, noise in enumerate(self.spread([method.calibration_noise for method in self.methods])):
                noisy = cells[place] + noise * rng.standard_normal(cells[place].shape)
                factors[place] = calibrating(noisy, float(noise))
        whole = (weights * self.scales[:, :, None]).transpose(1, 0, 2).astype(np.float64)
        return np.asarray(whole * factors[:, None, None])


def descended(
    begun: Begun,
    sums: Sums,
    rng: np.random.Generator,
    *,
    lengths: Array | None = None,
    mirror: Callable[[Single], Single] | None = None,
) -> Single:
    """Averaged weights (d, models, outputs) of noisy steps with momentum; ``mirror`` takes what the steps add up to
    to the weights, and is the same number again for descent as we know it."""
    first = begun.methods[0]
    own = begun.lengths if lengths is None else lengths
    shape = (begun.rows.shape[1], begun.people.size, first.outputs)
    noise, step = (values.astype(np.float32)[:, None] for values in (begun.noises, own / begun.people))
    weights, dual, speed, total = (np.zeros(shape, dtype=np.float32) for _ in range(4))
    begin = first.steps - max(1, round(first.tail * first.steps))
    for at in range(first.steps):
        drawn = rng.standard_normal(shape, dtype=np.float32)
        if first.outputs > 1:
            drawn -= drawn.mean(axis=2, keepdims=True)
        speed *= np.float32(first.momentum)
        speed += sums(weights)
        speed += noise * drawn
        dual = dual - step * speed
        weights = dual if mirror is None else mirror(dual)
        if at >= begin:
            total += weights
    return np.asarray(total / np.float32(first.steps - begin))


# -- shrinkage ---------------------------------------------------------------------------------------------------------


def shrunk(begun: Begun, weights: Single) -> Single:
    """Empirical Bayes on what has been published, so free: each weight times τ²/(τ² + v), v its noise's variance and τ²
    by moments from all weights of its column of the table, Σ(w² − v)/k (Efron & Morris, JASA 1973). The constant stays.
    """
    spoilt, out = noise_variances(begun)[:, :, None], weights.astype(np.float64)
    outputs = weights.shape[2]
    if outputs > 1:
        spoilt = spoilt * (1.0 - 1.0 / outputs)
    for own in groups(begun.rows)[:-1]:
        signal = np.maximum((out[own] ** 2 - spoilt[own]).mean(axis=0), 0.0)
        out[own] *= signal / np.maximum(signal + spoilt[own], 1e-30)
    return out.astype(np.float32)


def groups(rows: CodedRows) -> list[slice]:
    """Which of the d ones are of each column of the table; the last is the constant."""
    ends = np.append(rows.starts[1:], rows.basis.shape[0])
    found = []
    for start, end in zip(rows.starts, ends, strict=True):
        own = rows.basis[int(start) : int(end)].indices
        found.append(slice(int(own.min()), int(own.max()) + 1))
    return found


def noise_variances(begun: Begun) -> Array:
    """The variance of the noise in every averaged weight (d, models), from what is public or published.

    Steps with momentum are linear in the noise where the loss is a parabola. It is taken as one without products of
    different ones, as curved as the loss can be: then one number's answer to a unit of noise is a recursion, and the
    variance the sum of squares of what each step's noise leaves in the average.
    """
    first = begun.methods[0]
    steps, begin = first.steps, first.steps - max(1, round(first.tail * first.steps))
    step = begun.lengths / begun.people
    pull = begun.smoothness * begun.loads * begun.people
    place, speed = np.zeros(pull.shape), np.ones(pull.shape)
    reached = np.zeros((steps + 1, *pull.shape), dtype=np.float32)  # what a unit of noise adds up to after k steps
    for at in range(steps):
        place = place - step * speed
        reached[at + 1] = reached[at] + place
        speed = first.momentum * speed + pull * place
    left = [reached[steps - at] - reached[max(begin - at, 0)] for at in range(steps)]
    share = sum((one.astype(np.float64) / (steps - begin)) ** 2 for one in left)
    return np.asarray(share * begun.noises**2)


# -- clipping by groups ------------------------------------------------------------------------------------------------


class GroupSums:
    """Gradient sums where each column of the table has its own clip: the part of a row's gradient that belongs to it is
    at most clip/√columns long, so that the whole is at most ``clip``: the sensitivity and the noise of our own.

    A rare option makes a row long; cut as a whole its other columns lose, cut by groups only the rare one does. As
    AdaCliP (Pichapati, Suresh, Yu, Reddi & Kumar, 2019) it clips where scales say; these are public or published.
    """

    def __init__(self, begun: Begun) -> None:
        first = begun.methods[0]
        self.begun, self.outputs = begun, first.outputs
        self.logistic = isinstance(first.loss, Logistic)
        self.clip = (begun.clip * (1.0 - 1e-5) / math.sqrt(begun.rows.codes.shape[1])).astype(np.float32)
        self.squares = begun.rows.table(begun.scales**2)

    def __call__(self, weights: Single) -> Single:
        rows, (d, models, outputs) = self.begun.rows, weights.shape
        table = rows.table((weights * self.begun.scales[:, :, None]).reshape(d, -1))
        total = np.zeros_like(table)
        size = max(64, _BLOCK // table.shape[1])
        for part, block in rows.blocks(size):
            slopes = np.empty((block.shape[0], table.shape[1]), dtype=np.float32)
            rows.gather(block, table, slopes)
            self._to_slopes(slopes, self.begun.answers[part])
            by_model = slopes.reshape(-1, models, outputs)
            steep = np.maximum(np.sqrt((by_model**2).sum(axis=2)), np.float32(1e-30))
            length = np.empty_like(steep)
            for column in range(block.shape[1]):
                codes = np.ascontiguousarray(block[:, column : column + 1])
                start = rows.starts[column : column + 1]
                gather(codes, start, self.squares, length)
                kept = np.minimum(np.float32(1.0), self.clip / (steep * np.sqrt(np.maximum(length, np.float32(1e-30)))))
                scatter(codes, start, (by_model * kept[:, :, None]).reshape(slopes.shape), total)
        folded = rows.folded(total).reshape(weights.shape)
        return np.asarray(folded * self.begun.scales[:, :, None], dtype=np.float32)

    def _to_slopes(self, margins: Single, answers: Single) -> None:
        """Slopes that nothing has cut, in place of margins."""
        if self.outputs > 1:
            free = np.full((margins.shape[0], margins.shape[1] // self.outputs), np.inf, dtype=np.float32)
            softmax_slopes(margins, free, answers, self.outputs)
        elif self.logistic:
            signs = answers[:, None]
            margins *= signs * np.float32(0.5)
            np.tanh(margins, out=margins)
            margins -= np.float32(1.0)
            margins *= signs * np.float32(0.5)
        else:
            margins -= answers[:, None]


# -- mirror descent ----------------------------------------------------------------------------------------------------


def p_norm(dual: Single, power: float) -> Single:
    """The weights that belong to what the steps have added up to: the gradient of ½‖·‖² in the norm of ``power`` q,
    sign(θ)|θ|^(q−1)‖θ‖^(2−q), over the first axis. With q about 2 ln d a few weights carry nearly all."""
    most = np.maximum(np.abs(dual).max(axis=0, keepdims=True), np.float32(1e-30))
    share = np.abs(dual) / most
    norm = (share**power).sum(axis=0, keepdims=True) ** (1.0 / power)
    norm = np.maximum(norm, np.float32(1e-30))
    return np.asarray(np.sign(dual) * most * norm * (share / norm) ** (power - 1.0), dtype=np.float32)


def mirrored(begun: Begun, rng: np.random.Generator, rate: float = MIRROR_RATE) -> Single:
    """Mirror descent with the p-norm's map, p = q/(q − 1), q = 2 ln d (Gentile, Machine Learning 2003; private mirror
    descent is Talwar, Thakurta & Zhang, 2014): for a few columns that matter among many.

    Noise has a q-norm of about √(2 ln d) and not √d. A step is as long that noise alone carries the weights to a p-norm
    of ``rate`` × √(most ones) × what it does to each of ours, at most what ½‖·‖²'s convexity, p − 1, allows.
    """
    first, d = begun.methods[0], begun.rows.shape[1]
    power = max(2.0, 2.0 * math.log(d))
    moment = 0.5 * power * math.log(2.0) + gammaln((power + 1.0) / 2.0) - 0.5 * math.log(math.pi)
    noise_norm = math.exp((math.log(d) + moment) / power)
    uncapped = rate * begun.spread([method.used_rate for method in begun.methods]) * 0.25 / begun.smoothness
    uncapped = uncapped * math.sqrt(begun.rows.most_ones) / noise_norm
    whole = uncapped * begun.people / (begun.noises / math.sqrt(first.steps))
    steepest = begun.smoothness * np.maximum(begun.loads.max(axis=0), 1e-6)
    most = 2.0 * (1.0 + first.momentum) / ((power - 1.0) * steepest)
    lengths = np.minimum(whole * (1.0 - first.momentum) / first.steps, most)
    return descended(begun, begun.clipped_whole(), rng, lengths=lengths, mirror=lambda dual: p_norm(dual, power))
