"""Can the same noise be used better? Private ways that are not in the product, raced against those that are.

On the tables of ``benchmarks.models``, ours (``PrivateClassifier`` and ``PrivateRegressor`` with classes declared, that
is ``ScaledDescent``) against candidates at the same (ε, δ), from the same declared columns: ours with its weights
shrunk, with the clip of each column apart, with a p-norm's mirror (``noise_steps``), the double-noise Newton method
(``noise_newton``), and for numbers AdaSSP and AdaSSP boosted (``noise_sums``). Whoever is ahead by more than two
standard errors runs again on other splits of the whole table, and on cuts that are
bought. Written to docs/benchmarks-noise.md.

``python -m benchmarks.noise [TABLE …] [--splits N]``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from threadpoolctl import threadpool_limits

from benchmarks.models import DELTA, answers, measured, splits, uncut
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import Task, tasks
from benchmarks.noise_newton import STEPS, newton
from benchmarks.noise_steps import Begun, GroupSums, descended, mirrored, shrunk
from benchmarks.noise_sums import BoostedAdaSSP
from dpcore.training import AdaSSP, ScaledDescent
from dpcore.training.coded import CodedRows
from dpcore.training.declared import Declared, coded_rows
from dpcore.training.losses import SQUARED
from dpcore.training.paid_cuts import CUTS_SHARE

LEVELS, OURS = (0.1, 0.5, 1.0), "ours"
ON_STEPS = ("shrunk weights", "clips by column", "mirror")
NEWTON, SUMS = "double-noise Newton", ("AdaSSP", "boosted AdaSSP")
CANDIDATES = (*ON_STEPS, NEWTON, *SUMS)
SPLITS, FEW_SPLITS, MOST, FRESH = 6, 3, 20_000, 100
REPORT = DOCS / "benchmarks-noise.md"


def ways(begun: Begun, rng: np.random.Generator, wanted: Collection[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Weights (d, models, outputs) of ours and of the ``wanted`` candidates on the same rows and noisy counts."""
    own = descended(begun, begun.clipped_whole(), rng)
    yield OURS, own
    if ON_STEPS[0] in wanted:
        yield ON_STEPS[0], shrunk(begun, own)
    if ON_STEPS[1] in wanted:
        yield ON_STEPS[1], descended(begun, GroupSums(begun), rng)
    if ON_STEPS[2] in wanted:
        yield ON_STEPS[2], mirrored(begun, rng)
    if NEWTON in wanted and begun.methods[0].outputs == 1:
        yield NEWTON, newton(begun, rng)


def methods(task: Task) -> list[ScaledDescent]:
    """Ours at every ε, as the estimators have it."""
    if task.target:
        return [ScaledDescent(epsilon=one, delta=DELTA, loss=SQUARED, calibration_share=0.0) for one in LEVELS]
    return [ScaledDescent(epsilon=one, delta=DELTA, classes=len(task.classes)) for one in LEVELS]


def on_cuts(
    task: Task, train: NDArray[np.int64], rng: np.random.Generator, *, bought: bool
) -> Iterator[tuple[list[ScaledDescent], CodedRows]]:
    """Methods, and the rows that they train on: cut at public places, or each at its own that it buys first."""
    columns = {name: Declared.of(name, given) for name, given in task.columns.items()}
    values = [task.frame[name] for name in columns]
    if not bought:
        yield methods(task), coded_rows(list(columns.values()), values)
        return
    asked = {name: column.to_be_bought() for name, column in columns.items()}
    many = sum(column.paid for column in asked.values())
    for plain in methods(task):
        method = replace(plain, cuts_share=CUTS_SHARE)
        own = [
            column.bought(task.frame[name].iloc[train], noise=method.cuts_noise, columns=many, rng=rng)
            if column.paid
            else column
            for name, column in asked.items()
        ]
        yield [method], coded_rows(own, values)


def scores(
    task: Task,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    seed: int,
    wanted: Collection[str],
    *,
    bought: bool = False,
) -> dict[tuple[str, float], float]:
    """Accuracy, or the mean absolute error, of ours and of the ``wanted`` ways at every ε on one split."""
    y = answers(task)
    low, high = task.target or (0.0, 1.0)
    several = not task.target and len(task.classes) > 2
    aims = y.astype(float) if several else np.clip(2.0 * (np.clip(y, low, high) - low) / (high - low) - 1.0, -1.0, 1.0)

    def told(margins: NDArray[np.float64]) -> NDArray[np.float64]:
        if task.target:
            return np.asarray(low + (np.clip(margins[:, 0], -1.0, 1.0) + 1.0) / 2.0 * (high - low))
        return np.asarray(softmax(margins, axis=1) if several else expit(margins[:, 0]))

    def score(predicted: NDArray[np.float64]) -> float:
        return next(iter(measured(task, y[test], predicted).values()))

    rng = np.random.Generator(np.random.SFC64([seed, 9]))
    found = {}
    for own, rows in on_cuts(task, train, rng, bought=bought):
        begun, held = Begun.of(own, rows.take(train), aims[train], rng, 1), rows.take(test)
        for way, weights in ways(begun, rng, wanted):
            for method, one in zip(own, begun.finished(weights, rng), strict=True):
                found[way, method.epsilon] = score(told(held.margins(one).astype(float)))
    if task.target and not set(SUMS).isdisjoint(wanted):
        _, X = uncut(task)
        for level in LEVELS:
            plain = AdaSSP(epsilon=level, delta=DELTA).fit(X[train], aims[train], rng).weights[0]
            boosted = BoostedAdaSSP(epsilon=level).fit(X[train], aims[train], rng)
            for way, one in zip(SUMS, (plain, boosted), strict=True):
                found[way, level] = score(told((X[test] @ one)[:, None]))
    return found


@dataclass
class Race:
    """One table's scores, one dictionary a split."""

    task: Task
    runs: list[dict[tuple[str, float], float]] = field(default_factory=list)

    def mean(self, way: str, level: float) -> float:
        return float(np.mean([run[way, level] for run in self.runs]))

    def ran(self, way: str, level: float) -> bool:
        return (way, level) in self.runs[0]

    def gain(self, way: str, level: float) -> tuple[float, float]:
        """By how much a candidate does better than ours: mean and standard error over splits."""
        sign = -1.0 if self.task.target else 1.0
        each = [sign * (run[way, level] - run[OURS, level]) for run in self.runs]
        error = float(np.std(each, ddof=1) / math.sqrt(len(each))) if len(each) > 1 else math.inf
        return round(float(np.mean(each)), 12), error

    def ahead(self, way: str, level: float, sign: float = 1.0) -> bool:
        """By more than two standard errors; with ``sign`` −1: behind."""
        if not self.ran(way, level):
            return False
        mean, error = self.gain(way, level)
        return sign * mean > 2.0 * error


def sampled(task: Task) -> Task:
    """At most ``MOST`` of its rows, drawn once: what is raced on."""
    if len(task.frame) <= MOST:
        return task
    kept = np.sort(np.random.Generator(np.random.SFC64(77)).choice(len(task.frame), MOST, replace=False))
    return replace(task, frame=task.frame.iloc[kept].reset_index(drop=True), y=task.y.iloc[kept].reset_index(drop=True))


def raced(
    task: Task, count: int, first: int = 0, wanted: Collection[str] = CANDIDATES, *, bought: bool = False
) -> Race:
    """The race on ``count`` splits from seed ``first`` on, on public cuts or on ``bought`` ones."""
    every = enumerate(islice(splits(task, answers(task), first + count), first, None), first)
    return Race(task, [scores(task, train, test, seed, wanted, bought=bought) for seed, (train, test) in every])


def lines_of(race: Race) -> list[str]:
    found = []
    for level in LEVELS:
        cells = []
        for way in CANDIDATES:
            if not race.ran(way, level):
                cells.append("–")
                continue
            mean, error = race.gain(way, level)
            cells.append(f"{race.mean(way, level):.4g} ({mean:+.2g} ± {error:.1g})")
        what = "error" if race.task.target else "accuracy"
        found.append(f"| {race.task.name} ({what}) | {level:g} | {race.mean(OURS, level):.4g} | {' | '.join(cells)} |")
    return found


def told_again(race: Race, again: Race | None) -> list[str]:
    """One line for everything that was ahead, with what it is on fresh splits."""
    found = []
    for way in CANDIDATES:
        for level in LEVELS:
            if again is None or not race.ahead(way, level):
                continue
            (mean, error), (later, later_error) = race.gain(way, level), again.gain(way, level)
            verdict = "again ahead" if again.ahead(way, level) else "not again"
            found.append(
                f"| {way} | {race.task.name} | {level:g} | {mean:+.2g} ± {error:.1g} | "
                f"{later:+.2g} ± {later_error:.1g} | {verdict} |"
            )
    return found


def verdicts(races: list[Race], fresh: dict[str, Race]) -> list[str]:
    """Each candidate's wins, counted where they held on fresh splits, and its losses."""
    found = []
    for way in CANDIDATES:
        tried = [(race, level) for race in races for level in LEVELS if race.ran(way, level)]
        won = [
            (race, level)
            for race, level in tried
            if race.ahead(way, level) and race.task.name in fresh and fresh[race.task.name].ahead(way, level)
        ]
        lost = sum(race.ahead(way, level, -1.0) for race, level in tried)
        where = ", ".join(f"{race.task.name} at {level:g}" for race, level in won) or "nowhere"
        found.append(f"- {way}: ahead twice {where}; behind in {lost} of {len(tried)} lines.")
    return found


def on_bought(races: list[Race], fresh: dict[str, Race], paid: dict[str, Race]) -> list[str]:
    """What was again ahead, with cuts that are bought: a line each."""
    found = []
    for race in races:
        name = race.task.name
        for way in CANDIDATES if name in paid else ():
            for level in LEVELS:
                if paid[name].ran(way, level) and race.ahead(way, level) and fresh[name].ahead(way, level):
                    mean, error = paid[name].gain(way, level)
                    free, own = fresh[name].mean(way, level), paid[name].mean(OURS, level)
                    found.append(f"| {way} | {name} | {level:g} | {free:.4g} | {own:.4g} | {mean:+.2g} ± {error:.1g} |")
    return found


def report(races: list[Race], fresh: dict[str, Race], paid: dict[str, Race], count: int) -> list[str]:
    rows = [line for race in races for line in lines_of(race)]
    looks = sum(len(race.runs[0]) - len(LEVELS) for race in races)
    again = [line for race in races for line in told_again(race, fresh.get(race.task.name))]
    return [
        "# Better use of noise",
        "",
        f"Written by `python -m benchmarks.noise`: {count} splits of each table; where it has more than {MOST:,} rows",
        f"{MOST:,} of them, drawn at random, and {FEW_SPLITS} splits. Accuracy (more is better) or the mean absolute",
        "error (less is better). “Ours” is what `PrivateClassifier` and `PrivateRegressor` do with classes declared;",
        f"all have the same declared columns and are (ε, {DELTA:g})-differentially private, a row added or removed. In",
        "brackets by how much a way does better than ours (+) or worse (−) ± standard error over splits.",
        "",
        "- Shrunk weights: what ours publishes, each weight shortened by what its noise is known to be (no cost).",
        "- Clips by column: each column's part of a row's gradient is cut apart, to clip/√columns.",
        "- Mirror: the same noisy gradients, steps by the mirror of a p-norm, for a few columns that matter.",
        f"- Double-noise Newton: {STEPS} second-order steps, noise on gradient and on direction (Ganesh, Haghifam,",
        "  Steinke and Thakurta, 2023); two classes or a number.",
        "- AdaSSP and boosted AdaSSP (20 rounds, clip 0.5): regression from noisy sums, on uncut columns.",
        "",
        f"| table | ε | ours | {' | '.join(CANDIDATES)} |",
        "|---|---|---|" + "---|" * len(CANDIDATES),
        *rows,
        "",
        f"Of {looks} differences some are ahead by more than two standard errors by chance alone, so these ran again",
        "on as many other splits, of all rows of the table, with other noise:",
        "",
        "| way | table | ε | better by | on other splits | |",
        "|---|---|---|---|---|---|",
        *again,
        "",
        *verdicts(races, fresh),
        "",
        "What was ahead twice, beside an option that the product has: ours with its cuts bought, and what the way adds",
        "to that, on further splits.",
        "",
        "| way | table | ε | the way | ours, bought cuts | the way adds |",
        "|---|---|---|---|---|---|",
        *on_bought(races, fresh, paid),
        "",
    ]  # fmt: skip


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.noise", __doc__, SPLITS).parse_args(arguments)
    races: list[Race] = []
    fresh: dict[str, Race] = {}
    paid: dict[str, Race] = {}
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        for task in found:
            count = min(given.splits, FEW_SPLITS) if len(task.frame) > MOST else int(given.splits)
            races.append(raced(sampled(task), count))
            ahead = {way for way in CANDIDATES for level in LEVELS if races[-1].ahead(way, level)}
            if ahead:
                fresh[task.name] = raced(task, count, FRESH, ahead)
                again = {way for way in ahead for level in LEVELS if fresh[task.name].ahead(way, level)}
                if again - set(SUMS) and any(isinstance(given, tuple) for given in task.columns.values()):
                    paid[task.name] = raced(task, count, 2 * FRESH, again, bought=True)
            print("\n".join([*lines_of(races[-1]), *told_again(races[-1], fresh.get(task.name))]), flush=True)
            write(REPORT, report(races, fresh, paid, given.splits), absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
