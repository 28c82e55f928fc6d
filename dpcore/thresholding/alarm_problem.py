"""The question when a series of counts first passes a line, and how well a private alarm answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import pdtr

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.thresholding.above_threshold import AboveThreshold
from dpcore.thresholding.accuracy import theorem_alpha, theorem_beta
from dpcore.thresholding.laws import AlarmLaw, RunLaws, check_series, run_laws
from dpcore.thresholding.methods import Family, family
from dpcore.thresholding.noise import FARTHEST_SENSITIVITY, NoisePair, no_farther
from dpcore.thresholding.sparse import Sparse
from dpcore.thresholding.units import Units
from dpcore.thresholding.ways import catalog
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.validate import (
    FloatArray,
    IntArray,
    boolean,
    in_range,
    one_of,
    positive,
    positive_vector,
    probability,
    whole,
)

THEORY = "theory"
ABOUT_THEORY = About(
    name="What theory promises",
    plain="what the textbook's theorem is sure of",
    how=(
        "A theorem about the textbook's algorithm says how far from the line an answer must be to be told apart. It "
        "must hold for the worst series, so the truth is better."
    ),
    formula=r"\alpha = \frac{8 (\ln k + \ln(2/\beta))}{\varepsilon}",
    source="Dwork and Roth, 2014, Theorem 3.24.",
)
METRICS = keyed(
    Metric(
        key="on_time",
        name="On time",
        title="alarms on time, in 100",
        better="higher",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
    Metric(
        key="false_alarm",
        name="False alarms",
        title="false alarms in 100",
        better="lower",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
    Metric(
        key="late",
        name="Late",
        title="late alarms in 100",
        better="lower",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
    Metric(
        key="missed",
        name="Missed",
        title="missed in 100",
        better="lower",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
    Metric(
        key="alpha",
        name="Distance needed (α)",
        title="distance from the line that is told apart (α)",
        better="lower",
        natural=True,
    ),
)
REDRAWS = 32  # times the series is drawn anew for the band


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Chances of how a run ends, at m settings, shape (m,) each; the four add up to 1.

    ``false_alarms``: how many alarms are raised before any is due, on average.
    """

    on_time: FloatArray
    false_alarm: FloatArray
    late: FloatArray
    missed: FloatArray
    false_alarms: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AlarmProblem(Problem):
    """When does ``answers`` (k,) first reach ``threshold``? Every way to watch, exactly.

    The *first true crossing* is the first answer at or above the threshold. Alarms are due from ``early_by`` queries
    before it to ``late_by`` after it. A run is judged by its first alarm from then on: **on time** within that window,
    **late** after it. **False alarm**: all ``limit`` alarms were spent before the window. **Missed**: the run came to
    its end with alarms left. For a series that never crosses, any alarm is a false alarm and silence is on time.

    ``sensitivity``: how far one person moves one answer; ``monotonic``: one person added or removed moves all of them
    the same way, which adds the methods that make use of it. ``people`` (n): whom the answers count; at another n
    answers and threshold scale alike (the threshold is a share of the people), the noise does not. ``beta``: the
    failure chance α is for, and for which share and offset are tuned; they depend on no data.

    Metrics: ``on_time`` (higher is better), ``false_alarm``, ``late``, ``missed`` and ``alpha`` (lower), the exact α of
    the worst series in units of the answers. Only ``on_time`` and ``alpha`` are monotone in ε: small ε exchanges missed
    for false alarms. Method ``theory``: what Dwork & Roth 2014, Theorem 3.24, promises for the textbook's algorithm.

    With ``units`` the chances are those of the very release (``AlarmRun``), whose noise and offset are whole units:
    ``on_time`` can fall a little with ε where the offset falls by one. At another n that noise meets answers and line
    as they come. Left out, noise is continuous; so it is for α, in theory and in the band.

    Values are exact for the series as it is: privacy noise alone. With ``band`` above 0, ``low`` and ``high`` of the
    four chances show the other error, of one period among those that could have been: the share ``band`` of series
    whose counts are drawn anew around the observed ones (variance equal to the count), judged by the observed crossing
    and drawn from ``seed``. Raises InvalidArgument.

    >>> import numpy as np
    >>> cases = AlarmProblem(answers=[3.0, 4.0, 5.0, 30.0, 40.0], threshold=20.0)
    >>> cases.crossing
    3
    >>> cases.evaluate("book", "on_time", np.array([0.5, 2.0]), np.ones(2)).value.round(2).tolist()
    [0.76, 1.0]
    """

    answers: FloatArray
    threshold: float
    people: int = 1
    limit: int = 1
    early_by: int = 0
    late_by: int = 7
    sensitivity: float = 1.0
    monotonic: bool = False
    beta: float = 0.05
    band: float = 0.0
    seed: int = 1
    units: Units | None = None

    def __post_init__(self) -> None:
        whole(1, limit=self.limit)
        series, _ = check_series(self.answers, self.threshold, self.limit)
        series = series.copy()
        series.flags.writeable = False
        object.__setattr__(self, "answers", series)
        whole(1, people=self.people)
        whole(0, early_by=self.early_by)
        whole(0, late_by=self.late_by)
        if not 1.0 / FARTHEST_SENSITIVITY < positive(sensitivity=self.sensitivity) < FARTHEST_SENSITIVITY:
            raise InvalidArgument("sensitivity", "is too large or too small to reckon with noise for it")
        boolean(monotonic=self.monotonic)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        whole(0, seed=self.seed)
        if self.band > 0.0 and (series < 0.0).any():
            raise InvalidArgument("band", "needs answers that are counts, none of them negative")

    @property
    def n(self) -> int:
        """People the answers count."""
        return self.people

    @property
    def central(self) -> AlarmProblem:
        """The same question without the band, for maps, searches and the methods drawn beside the main one."""
        return self if self.band == 0.0 else replace(self, band=0.0)

    @property
    def crossing(self) -> int | None:
        """Index of the first answer at or above the threshold; None when there is none."""
        reached = np.flatnonzero(self.answers >= self.threshold)
        return int(reached[0]) if reached.size else None

    @property
    def abouts(self) -> Mapping[str, About]:
        """The catalogue of ways, the one-way ones only when ``monotonic``, and ``theory``."""
        fitting = {key: way.about for key, way in catalog().items() if self.monotonic or not way.monotonic}
        return fitting | {THEORY: ABOUT_THEORY}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """See the class."""
        return METRICS

    def family(self, method: str) -> Family:
        """A method fitted to this series: everything but ε. Raises InvalidArgument."""
        one_of(self.methods[:-1], method=method)
        return family(method, self.answers.size, self.limit, self.beta)

    def mechanism(self, method: str, epsilon: float) -> AboveThreshold | Sparse:
        """The mechanism that watches, at one ε. Raises InvalidArgument."""
        found = self.family(method).mechanism(positive(epsilon=epsilon), self.sensitivity)
        return found if self.units is None else replace(found, offset=self.units.offset(found.offset))

    @property
    def met(self) -> float:
        """The threshold as continuous noise meets it (``Units.met``)."""
        return self.threshold if self.units is None else self.units.met(self.threshold)

    def law(self, method: str, epsilon: float, n: float | None = None) -> AlarmLaw:
        """Where the alarms fall, exactly, at one ε and n. Raises InvalidArgument."""
        ratio = 1.0 if n is None else positive(n=n) / self.n
        k = self.answers.size
        run = self._run(method, epsilon, ratio, np.arange(k), k)
        return AlarmLaw(position=np.column_stack([run.alarm[0], np.cumsum(run.left[0])]))

    def judged_law(self, method: str, epsilon: float) -> FloatArray:
        """Where the alarm falls by which a run is judged, exactly, at one ε: shape (k+1,), the last entry "nowhere".

        Before the window it is the alarm that spent them all, from then on the first one. Raises InvalidArgument.
        """
        start = self.window[0]
        run = self._run(method, epsilon, 1.0, np.arange(self.answers.size), start)
        spent = -1 if self.crossing is not None else 0  # where nothing is due, any alarm is a false one
        return np.concatenate([run.alarm[0, spent, :start], run.alarm[0, 0, start:], run.left[0, :1]])

    def outcomes(self, method: str, epsilon: FloatArray, n: FloatArray) -> Outcomes:
        """How a run ends, exactly, at m settings: ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        ratio, levels = positive_vector(n=n) / self.n, positive_vector(epsilon=epsilon)
        if self.units is None:
            return self._outcomes(self.answers, self.family(method), levels, ratio)
        runs = [
            self._run(method, level, times, self._columns, self.window[0])
            for level, times in zip(levels.tolist(), ratio.tolist(), strict=True)
        ]
        alarm, left = np.concatenate([run.alarm for run in runs]), np.concatenate([run.left for run in runs])
        return _read(RunLaws(alarm=alarm, left=left), self.crossing is not None)

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``. Raises InvalidArgument."""
        one_of(tuple(self.metrics), metric=metric)
        levels, sizes = positive_vector(epsilon=epsilon), positive_vector(n=n)
        if method == THEORY:
            return Estimate.bound(self._promise(metric, levels, sizes / self.n))
        if metric == "alpha":
            return Estimate.exact(self.family(method).alpha_factor * self.sensitivity / levels)
        value: FloatArray = getattr(self.outcomes(method, levels, sizes), metric)
        if self.band == 0.0:
            return Estimate.exact(value)
        drawn = self._redrawn(method, metric, levels, sizes)
        low, high = np.quantile(drawn, [(1.0 - self.band) / 2.0, (1.0 + self.band) / 2.0], axis=0)
        return Estimate.exact(value, np.minimum(low, value), np.maximum(high, value))

    def watched_for(self, queries: int) -> AlarmProblem:
        """The same question over another number of queries.

        A longer run begins with the quiet time, before alarms are due, over again; a shorter one begins later, at the
        crossing at the latest, and then ends sooner. Raises InvalidArgument.
        """
        more = whole(self.limit, queries=queries) - self.answers.size
        quiet = self.answers[: self.window[0]]
        if more > 0 and quiet.size == 0:
            raise InvalidArgument("queries", "must be fewer: there is no quiet time before the crossing to repeat")
        if more > 0:
            return replace(self, answers=np.concatenate([np.resize(quiet[::-1], more)[::-1], self.answers]))
        cut = min(-more, quiet.size if self.crossing is None else self.crossing)
        return replace(self, answers=self.answers[cut : cut + queries])

    @property
    def window(self) -> tuple[int, int]:
        """First query that may raise an alarm on time, and the one after the last; both k where none is due."""
        k, crossing = self.answers.size, self.crossing
        if crossing is None:
            return k, k
        return max(crossing - self.early_by, 0), min(crossing + self.late_by + 1, k)

    @property
    def elsewhere(self) -> float:
        """How often other people like these would reach the threshold outside the window, or at all where it is not
        reached: from 0 to 1, exact, with no noise of privacy.

        Every answer is a count of people, drawn anew around the observed one by Poisson's law (variance equal to the
        count, as in the band), each for itself. Raises InvalidArgument where an answer is negative.
        """
        if (self.answers < 0.0).any():
            raise InvalidArgument("answers", "must be counts, none of them negative")
        most = np.ceil(self.threshold) - 1.0  # the largest count below the line
        quiet = np.asarray(pdtr(most, self.answers)) if most >= 0.0 else np.zeros_like(self.answers)
        start, end = self.window
        if self.crossing is None:
            return float(1.0 - np.prod(quiet))
        return float(1.0 - np.prod(quiet[:start]) * (1.0 - np.prod(quiet[start:end])))

    def _run(self, method: str, epsilon: float, ratio: float, column: IntArray, restart: int) -> RunLaws:
        """The law of one run, finely, over so many times the people; ``column`` and ``restart`` as in ``run_laws``."""
        from dpcore.thresholding.discrete import discrete_run_laws

        mechanism, limit = self.mechanism(method, epsilon), self.limit
        if self.units is None:
            pair = mechanism.scales
            return run_laws(
                self.answers,
                one_sided=pair.one_sided,
                threshold=np.array([self.threshold * ratio + mechanism.offset]),
                threshold_scale=np.array([pair.threshold_scale]),
                query_scale=np.array([pair.query_scale]),
                ratio=np.array([ratio]),
                limit=limit,
                column=column,
                restart=restart,
                fine=True,
            )
        pair = self.units.scales(
            epsilon, self.sensitivity, mechanism.noise, mechanism.share, limit, mechanism.monotonic
        )
        above = self.units.above(self.answers, self.threshold, ratio)
        return discrete_run_laws(pair, above, self.units.bar(mechanism.offset), limit, column, restart)

    @property
    def _columns(self) -> IntArray:
        """For each query whether its alarm comes before the window, in it, or later: 0, 1, 2."""
        start, end = self.window
        column = np.zeros(self.answers.size, dtype=np.int64)
        column[start:] = 1
        column[end:] = 2
        return column

    def _outcomes(self, answers: FloatArray, fitted: Family, epsilon: FloatArray, ratio: FloatArray) -> Outcomes:
        unit = self.sensitivity / epsilon
        run = run_laws(
            answers,
            one_sided=fitted.way.noise == "exponential",
            threshold=self.met * ratio + no_farther(fitted.offset_factor * unit),
            threshold_scale=fitted.threshold_factor * unit,
            query_scale=fitted.query_factor * unit,
            ratio=ratio,
            limit=self.limit,
            column=self._columns,
            restart=self.window[0],
        )
        return _read(run, self.crossing is not None)

    def _redrawn(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> FloatArray:
        """The metric for series drawn anew, shape (``REDRAWS``, m); the same draws at every setting."""
        normal = np.random.default_rng(self.seed).standard_normal((REDRAWS, self.answers.size))
        fitted = self.family(method)
        drawn = np.empty((REDRAWS, epsilon.size))
        sizes, place = np.unique(n / self.n, return_inverse=True)
        for index, ratio in enumerate(sizes):
            here = place == index
            spread = np.sqrt(self.answers / ratio)  # of counts at that size, in units of the observed ones
            for row, step in enumerate(normal):
                series = np.maximum(self.answers + spread * step, 0.0)
                found = self._outcomes(series, fitted, epsilon[here], np.full(int(here.sum()), ratio))
                drawn[row, here] = getattr(found, metric)
        return drawn

    def _promise(self, metric: str, epsilon: FloatArray, ratio: FloatArray) -> FloatArray:
        """The theorem's α; and its failure chance for the distance there is, when used as a promise about outcomes."""
        book = NoisePair.of(1.0, 1.0, "laplace", 0.5, self.limit, False)
        unit = self.sensitivity / epsilon
        if metric == "alpha":
            return theorem_alpha(book, self.answers.size, self.beta) * unit
        start, end = self.window
        if metric in ("late", "missed") and self.crossing is None:
            return np.zeros_like(epsilon)
        before, within = self.answers[:start], self.answers[start:end]
        below = self.met - float(before.max(initial=-np.inf))
        over = float(within.max()) - self.met if within.size else np.inf
        if metric == "false_alarm":
            end, distance = max(start, 1), below
        elif metric == "missed":
            end, distance = self.answers.size, float(self.answers.max()) - self.met
        else:
            end, distance = max(end, 1), min(below, over)
        wrong = theorem_beta(book, end, distance * ratio / unit)
        return 1.0 - wrong if metric == "on_time" else wrong


def _read(run: RunLaws, crossed: bool) -> Outcomes:
    """Columns are: before the crossing, on time, later. Without a crossing all queries are in the first."""
    before = run.alarm[:, :, 0]
    if not crossed:
        none = np.zeros(before.shape[0])
        quiet = run.left[:, 0]
        return Outcomes(
            on_time=quiet, false_alarm=before[:, 0], late=none, missed=none, false_alarms=before.sum(axis=1)
        )
    after = np.zeros((before.shape[0], 2))
    after[:, : run.alarm.shape[2] - 1] = run.alarm[:, 0, 1:]
    return Outcomes(
        on_time=after[:, 0],
        false_alarm=before[:, -1],
        late=after[:, 1],
        missed=run.left[:, 0],
        false_alarms=before.sum(axis=1),
    )
