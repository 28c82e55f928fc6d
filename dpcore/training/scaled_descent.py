"""Noisy gradient descent that first pays for how common each step and category is, and scales the columns by it.

Rows are ``CodedRows``: zeros and ones. A one that few people have gets a large scale and one that nearly all have a
small one, as if every feature were standardised, so that all can be learnt in the same number of steps and noise goes
where it is harmless: a rare one's weight is noisy, but few predictions use it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit

from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.training.coded import CodedRows, Single
from dpcore.training.dense_rows import DenseRows
from dpcore.training.losses import LOGISTIC, Logistic, Squared
from dpcore.validate import (
    FloatArray,
    IntArray,
    Neighbours,
    finite_vector,
    generator,
    in_range,
    one_of,
    positive,
    probability,
    whole,
)

if TYPE_CHECKING:
    from numpy.random import Generator

FEWEST = 0.001  # share of the rows below which a one is not scaled up any further
_BLOCK = 1 << 18  # margins at a time: 1 MB
_SLACK = 1.0 - 1e-5  # single precision rounds: a row's part stays below the clip all the same
# Calibration: places (log-odds) of the bins of how sure a model is, and the factors it may choose from.
SURE = np.array([-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0])
_FACTORS = np.exp(np.linspace(math.log(0.05), math.log(20.0), 241))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaledFit:
    """Independent private models: ``weights`` (replicas, d, outputs), ``factors`` (replicas,) that calibrate margins,
    ``rows`` (replicas,) the noisy number of rows, ``right`` (replicas,) the noisy number of training rows told right
    (NaN without calibration), and the privacy ``cost`` of releasing all of one of them."""

    weights: FloatArray
    factors: FloatArray
    rows: FloatArray
    right: FloatArray
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledDescent:
    """Noisy counts, ``steps`` noisy clipped gradient sums, and noisy counts for calibration: Gaussian releases all.

    (ε, δ)-DP, exactly, with a row added or removed; where one is replaced, counts move √2 times and gradient sums twice
    as far. With σ the multiplier at which one Gaussian release is (ε, δ)-DP (Balle & Wang,
    ICML 2018), a release of L2 sensitivity s with noise sσ/√a takes the share a of 1/σ², and Gaussian releases that
    may depend on earlier ones compose to the sum (Dong, Roth & Su, 2022). Shares: ``counts_share`` for how many rows
    have each one (a row has at most m ones: sensitivity √m), ``calibration_share`` for how often the model is right
    by how sure it is (one row is in one cell: sensitivity 1), ``names_share`` is set aside for counts of classes that
    the caller makes (sensitivity 1, noise ``names_noise``), ``cuts_share`` for a Gaussian release by which the caller
    buys cuts (multiplier ``cuts_noise``), ``pairs_share`` for choosing pairs (``choosing_pairs``), the rest is for the
    steps (sensitivity ``clip``, times √2 with three or more classes, whatever the scales, since each row's gradient is
    clipped to it).

    The noisy counts give n, so the number of rows is not used exactly anywhere. A one of share f is scaled by
    1/√(f + c), c = .001 + the noise, all normalised to a mean squared row length of 1. A step's length is
    ``used_rate`` × n/noise spread over the run, at most what the loss allows. The defaults for classes were chosen on a
    validation part of the census training rows, the rate for numbers on four tables of the benchmark. Raises
    InvalidArgument.
    """

    epsilon: float
    delta: float
    classes: int = 2
    loss: Logistic | Squared = LOGISTIC
    steps: int = 200
    clip: float | None = None
    rate: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    counts_share: float = 0.1
    calibration_share: float = 0.03
    names_share: float = 0.0
    cuts_share: float = 0.0
    pairs_share: float = 0.0
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        whole(2, classes=self.classes)
        whole(1, steps=self.steps)
        if self.clip is not None:
            positive(clip=self.clip)
        if self.rate is not None:
            positive(rate=self.rate)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)
        probability(counts_share=self.counts_share)
        in_range(0.0, 1.0, open_high=True, calibration_share=self.calibration_share)
        in_range(0.0, 1.0, open_high=True, names_share=self.names_share)
        in_range(0.0, 1.0, open_high=True, cuts_share=self.cuts_share)
        in_range(0.0, 1.0, open_high=True, pairs_share=self.pairs_share)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        if self.steps_share <= 0.0:
            raise InvalidArgument("calibration_share", "must leave something for the steps")
        if not isinstance(self.loss, Logistic | Squared) or self.loss.ridge != 0.0:
            raise InvalidArgument("loss", "must be logistic or squared here, without a ridge")

    @property
    def noise_multiplier(self) -> float:
        """σ of everything together."""
        return gaussian_noise_multiplier(self.epsilon, self.delta)

    @property
    def cost(self) -> Cost:
        sigma = self.noise_multiplier
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=0.5 / sigma**2,
            event=GaussianEvent(noise_multiplier=sigma, count=1),
        )

    @property
    def steps_share(self) -> float:
        """The share that is left for the gradient sums."""
        aside = self.names_share + self.cuts_share + self.pairs_share
        return 1.0 - self.counts_share - self.calibration_share - aside

    @property
    def outputs(self) -> int:
        """Numbers that a row is given: one for two classes or a number, else one for each class."""
        return self.classes if isinstance(self.loss, Logistic) and self.classes > 2 else 1

    @property
    def used_rate(self) -> float:
        """``rate``, or 2.5 for classes and 1 for a number."""
        return self.rate if self.rate is not None else 2.5 if isinstance(self.loss, Logistic) else 1.0

    def clips(self, people: FloatArray) -> FloatArray:
        """How long one row's gradient may be, (models,), for noisy numbers of rows: ``clip``, or by rule.

        The more rows for the noise, the less clipping pays: see ``clip_by_rule``.
        """
        if self.clip is not None:
            return np.full(people.shape, self.clip)
        return clip_by_rule(people, self.noise_multiplier)

    @property
    def per_clip(self) -> float:
        """How far one row can move the sum of clipped gradients, in L2, over the clip of a two-class model."""
        return math.sqrt(2.0) if self.outputs > 1 else 1.0

    @property
    def _cells_moved(self) -> float:
        """How far one row of one one moves counts, in L2: two rows have at most √2 between them."""
        return 1.0 if self.neighbours == "add_remove" else math.sqrt(2.0)

    def counts_noise(self, most_ones: int) -> float:
        """Standard deviation of the noise on every count of rows that have at most ``most_ones`` ones."""
        return self._cells_moved * self.noise_multiplier * math.sqrt(most_ones / self.counts_share)

    @property
    def step_noise(self) -> float:
        """Standard deviation of each step's noise on the gradient sum, over how long one row's part can be."""
        moved = 1.0 if self.neighbours == "add_remove" else 2.0
        return moved * self.noise_multiplier * math.sqrt(self.steps / self.steps_share)

    @property
    def calibration_noise(self) -> float:
        """Standard deviation of the noise on every cell of the calibration's counts; infinite without a share."""
        if not self.calibration_share:
            return math.inf
        return self._cells_moved * self.noise_multiplier / math.sqrt(self.calibration_share)

    @property
    def names_noise(self) -> float:
        """Standard deviation of the noise on every class's count where ``names_share`` is for finding the classes."""
        return self._cells_moved * self.noise_multiplier / math.sqrt(self.names_share) if self.names_share else math.inf

    @property
    def cuts_noise(self) -> float:
        """The multiplier of the Gaussian release that buys cuts with ``cuts_share``."""
        return self._cells_moved * self.noise_multiplier / math.sqrt(self.cuts_share) if self.cuts_share else math.inf

    def fit(self, rows: CodedRows | DenseRows, y: FloatArray, rng: Generator, replicas: int = 1) -> ScaledFit:
        """``replicas`` independent private models; y (n,) is −1 or 1, 0..classes − 1, or in [−1, 1]: see ``loss``."""
        return self.fit_all([self], rows, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], rows: CodedRows | DenseRows, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[ScaledFit]:
        """``fit`` for several ε at once: the rows are read once a step for all of them. Raises InvalidArgument."""
        generator(rng=rng)
        whole(1, replicas=replicas)
        first = methods[0]
        if any((one.loss, one.classes, one.steps) != (first.loss, first.classes, first.steps) for one in methods):
            raise InvalidArgument("methods", "must all have the same loss, classes and steps")
        answers = _checked(rows, y, first)

        def spread(name: str) -> FloatArray:
            return np.repeat([float(getattr(method, name)) for method in methods], replicas)

        ones = rows.most_ones
        counts_noise = np.repeat([method.counts_noise(ones) for method in methods], replicas)
        people, scales = scaled(rows, counts_noise, rng)
        parts = [slice(place * replicas, (place + 1) * replicas) for place in range(len(methods))]
        lengths = [method.clips(people[part]) for method, part in zip(methods, parts, strict=True)]
        clip = first.per_clip * np.concatenate(lengths)
        sums = ScaledSums(first, rows, answers, scales, clip)
        weights = _descend(first, sums, people, clip * spread("step_noise"), spread("used_rate"), rng)
        factors, right = np.ones(len(methods) * replicas), np.full(len(methods) * replicas, np.nan)
        if isinstance(first.loss, Logistic):
            cells = sums.cells(weights)
            for place, noise in enumerate(spread("calibration_noise")):
                if math.isfinite(noise):
                    noisy = cells[place] + noise * rng.standard_normal(cells[place].shape)
                    factors[place], right[place] = calibrating(noisy, noise), noisy[:, 1].sum()
        by_model = (weights * scales[:, :, None]).transpose(1, 0, 2).astype(np.float64)
        return [
            ScaledFit(
                weights=by_model[part], factors=factors[part], rows=people[part], right=right[part], cost=method.cost
            )
            for method, part in zip(methods, parts, strict=True)
        ]


def scaled(rows: CodedRows | DenseRows, noise: FloatArray, rng: Generator) -> tuple[FloatArray, Single]:
    """The noisy number of rows (models,) and the scale of every one (d, models), from noisy counts alone.

    The last of the d ones is the intercept, which every row has: its count is the number of rows where that is private.
    """
    counts = rows.counts()[:, None] + noise * rng.standard_normal((rows.shape[1], noise.shape[0]))
    known = np.maximum(counts[-1], np.maximum(noise, 1.0))
    people = known if rows.people is None else np.full_like(known, rows.people)
    return people, np.sqrt(scales_squared(counts, people, noise)).astype(np.float32)


def scales_squared(counts: FloatArray, people: FloatArray, noise: FloatArray) -> FloatArray:
    """The squares of the scales (d, models) from noisy ``counts`` (d, models); ``people``, ``noise`` (models,)."""
    shares = np.clip(counts / people, 0.0, 1.0)
    squares = 1.0 / (shares + FEWEST + noise / people)
    squares /= np.maximum((shares * squares).sum(axis=0), 1e-12)
    return np.asarray(squares)


def clip_by_rule(people: FloatArray, sigma: float) -> FloatArray:
    """¼√(n/(8000 σ)), from ¼ to 1: how long one row's gradient may be, for about n ``people`` and one multiplier σ."""
    return np.asarray(np.clip(0.25 * np.sqrt(people / (8000.0 * sigma)), 0.25, 1.0))


def step_lengths(
    people: FloatArray, noises: FloatArray, rate: FloatArray, *, smoothness: float, steps: int, momentum: float
) -> FloatArray:
    """A step's length (models,): ``rate`` × n/noise spread over the run, at most what the loss's smoothness allows."""
    whole_run = rate * 0.25 / smoothness * people / (noises / math.sqrt(steps))
    return np.asarray(np.minimum(whole_run * (1.0 - momentum) / steps, 2.0 * (1.0 + momentum) / smoothness))


def _descend(
    method: ScaledDescent, sums: ScaledSums, people: FloatArray, noises: FloatArray, rate: FloatArray, rng: Generator
) -> Single:
    """The averaged weights (d, models, outputs); ``noises`` (models,) are the standard deviations of a step's noise."""
    smoothness = 0.5 if method.outputs > 1 else method.loss.smoothness
    momentum, steps = method.momentum, method.steps
    length = step_lengths(people, noises, rate, smoothness=smoothness, steps=steps, momentum=momentum)
    shape = (sums.d, people.shape[0], method.outputs)
    noise, step = (np.asarray(values, dtype=np.float32)[:, None] for values in (noises, length / people))
    weights, speed, total = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    begin = steps - max(1, round(method.tail * steps))
    for at in range(steps):
        drawn = rng.standard_normal(shape, dtype=np.float32)
        if method.outputs > 1:  # gradients add up to 0 over the classes, so noise that does not is known to be noise
            drawn -= drawn.mean(axis=2, keepdims=True)
        speed *= np.float32(momentum)
        speed += sums(weights)
        speed += noise * drawn
        weights = weights - step * speed
        if at >= begin:
            total += weights
    return np.asarray(total / np.float32(steps - begin))


class ScaledSums:
    """``sums(weights)``: Σ over rows of the clipped gradient by scaled ones; weights and result (d, models, outputs).

    ``scales`` (d, models) and ``clip`` (models,): each row's gradient has at most that L2 length.
    """

    def __init__(
        self, method: ScaledDescent, rows: CodedRows | DenseRows, answers: Single, scales: Single, clip: FloatArray
    ) -> None:
        self.d = rows.shape[1]
        self._rows: Any = rows  # each kind of rows takes its own blocks
        self._answers, self._scales = answers, scales
        self._clip = (clip * _SLACK).astype(np.float32)
        self._lengths = rows.table(scales**2)
        self._logistic = isinstance(method.loss, Logistic)
        self._outputs = method.outputs

    def __call__(self, weights: Single) -> Single:
        rows, models = self._rows, weights.shape[1]
        flat = (weights * self._scales[:, :, None]).reshape(self.d, -1)
        table = rows.table(flat)
        total = np.zeros_like(table)
        size = max(64, _BLOCK // table.shape[1])
        margins, caps = (np.empty((size, width), dtype=np.float32) for width in (table.shape[1], models))
        for part, block in rows.blocks(size):
            here, cap = margins[: block.shape[0]], caps[: block.shape[0]]
            rows.gather(block, table, here)
            rows.squares(block, self._lengths, cap)
            np.maximum(cap, np.float32(1e-30), out=cap)
            np.sqrt(cap, out=cap)
            np.divide(self._clip, cap, out=cap)
            self._to_slopes(here, cap, self._answers[part])
            rows.scatter(block, here, total)
        by_one = rows.folded(total).reshape(weights.shape)
        return np.asarray(by_one * self._scales[:, :, None], dtype=np.float32)

    def _to_slopes(self, margins: Single, caps: Single, answers: Single) -> None:
        """Clipped slopes in place of margins."""
        from dpcore.training.kernel.codes import softmax_slopes

        if self._outputs > 1:
            softmax_slopes(margins, caps, answers, self._outputs)
            return
        signs = answers[:, None]
        if not self._logistic:
            margins -= signs
            np.clip(margins, -caps, caps, out=margins)
            return
        margins *= signs
        margins *= np.float32(0.5)
        np.tanh(margins, out=margins)
        margins -= np.float32(1.0)
        margins *= np.float32(0.5)
        np.maximum(margins, -caps, out=margins)
        margins *= signs

    def cells(self, weights: Single) -> FloatArray:
        """How many rows are told wrong and right, by how sure each model is of them: (models, bins, 2)."""
        rows, models = self._rows, weights.shape[1]
        table = rows.table((weights * self._scales[:, :, None]).reshape(self.d, -1))
        found = np.zeros((models, SURE.size + 1, 2))
        size = max(64, _BLOCK // table.shape[1])
        for part, block in rows.blocks(size):
            here = np.empty((block.shape[0], table.shape[1]), dtype=np.float32)
            rows.gather(block, table, here)
            sure, told = surest(here.reshape(block.shape[0], models, self._outputs))
            answers = self._answers[part]
            right = told == (answers if self._outputs > 1 else (answers > 0.0).astype(np.float32))[:, None]
            bins = np.searchsorted(SURE, sure, side="right")
            for model in range(models):
                place = 2 * bins[:, model] + right[:, model]
                found[model] += np.bincount(place, minlength=2 * SURE.size + 2).reshape(-1, 2)
        return found


def surest(margins: Single) -> tuple[FloatArray, IntArray]:
    """The log-odds that a model gives its best class, and that class; ``margins`` (rows, models, outputs)."""
    if margins.shape[2] == 1:
        return np.abs(margins[:, :, 0]).astype(np.float64), (margins[:, :, 0] > 0.0).astype(np.int64)
    told = margins.argmax(axis=2)
    best = np.take_along_axis(margins, told[:, :, None], axis=2)
    others = np.exp(np.minimum(margins - best, 0.0).astype(np.float64)).sum(axis=2) - 1.0
    return -np.log(np.maximum(others, 1e-300)), told


def calibrating(cells: FloatArray, noise: float) -> float:
    """The factor on the margins that noisy ``cells`` (bins, 2) fit best; as many cases as noise speak for 1."""
    inner = (SURE[1:] + SURE[:-1]) / 2.0
    places = np.concatenate([[SURE[0] - 0.5], inner, [SURE[-1] + 0.5]])
    kept = np.maximum(cells, 0.0) + noise * np.stack([expit(-places), expit(places)], axis=1)
    sure = _FACTORS[:, None] * places
    fits = -(kept[:, 0] * np.logaddexp(0.0, sure) + kept[:, 1] * np.logaddexp(0.0, -sure)).sum(axis=1)
    return float(_FACTORS[int(fits.argmax())])


def _checked(rows: CodedRows | DenseRows, y: FloatArray, method: ScaledDescent) -> Single:
    answers = finite_vector(at_least=0, y=y)
    if answers.shape[0] != rows.shape[0]:
        raise InvalidArgument("y", "must have one entry for every row")
    if isinstance(method.loss, Squared):
        if answers.size and float(np.abs(answers).max()) > 1.0:
            raise InvalidArgument("y", "must lie between −1 and 1: scale it by public bounds first")
    else:
        allowed = (-1.0, 1.0) if method.outputs == 1 else np.arange(method.classes)
        if not np.isin(answers, allowed).all():
            raise InvalidArgument("y", "must be −1 or 1, or with more classes their numbers from 0")
    return answers.astype(np.float32)
