"""Accuracy and excess risk of every method over ε and sample size, simulated in slices.

A ``Sweep`` is plain data. ``sweep.parts()`` are its slices in the order to run them, ``run_slice(sweep, part)`` does
one, ``collect(sweep, results)`` makes the tidy frame of those that are done: a worker process can report progress
after each and be stopped between any two. ``stream`` does all of it in this process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import InvalidArgument
from dpcore.tradeoff import COLUMNS
from dpcore.training.baselines import (
    MAJORITY,
    NON_PRIVATE,
    commonest_share,
    majority_share,
    non_private,
    non_private_classes,
)
from dpcore.training.fit import Fit, projected, told_right
from dpcore.training.judges import FOURTH, SECOND, moments
from dpcore.training.losses import Logistic, objective
from dpcore.training.optimum import minimise
from dpcore.training.plan import Part, Sweep
from dpcore.training.recall import BALANCED, FOUND, commonest, of_two_classes
from dpcore.validate import FloatArray

_BAND = (0.1, 0.9)  # low and high: 8 replicas of 10 lie between


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartResult:
    """What a slice found: a metric's values of shape (ε, replicas) by its name, "objective" in place of excess risk.

    Beside a squared error, its ``moments`` over the rows that it was measured on; beside right predictions of two
    classes, how many of the second's are ``FOUND``, and how many of both alike (``BALANCED``).
    """

    part: Part
    values: dict[str, FloatArray]


def run_slice(sweep: Sweep, part: Part) -> PartResult:
    """Train and measure one slice. The same slice gives the same numbers wherever and whenever it runs."""
    X, y = sweep.training_rows(part.size)
    if part.method == NON_PRIVATE:
        return PartResult(part=part, values=_baselines(sweep, X, y))
    stream = [sweep.seed, 2, zlib.crc32(part.method.encode()), part.size, part.number]
    rng = np.random.Generator(np.random.SFC64([*stream, *(int(1e6 * level) for level in part.epsilon)]))
    methods = [sweep.method(part.method, level) for level in part.epsilon]
    kind: Any = type(methods[0])
    codes = sweep.coded_rows(part.method, part.size)
    if codes is not None:
        fits = kind.fit_all(methods, codes, y, rng, part.replicas)
        measured = [_measured_on_codes(sweep, fit) for fit in fits]
    else:
        fits = kind.fit_all(methods, X, y, rng, part.replicas)
        measured = [_measured(sweep, fit, X, y) for fit in fits]
    return PartResult(part=part, values={name: np.stack([one[name] for one in measured]) for name in measured[0]})


def _measured(sweep: Sweep, fit: Fit, X: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    if isinstance(sweep.loss, Logistic):
        values = of_two_classes(told_right(fit, sweep.X_test, sweep.y_test), sweep.y_test)
    else:
        values = _squared(sweep.X_test @ fit.weights.T, sweep.y_test)
    if fit.loss == sweep.loss:
        values["objective"] = objective(sweep.loss, projected(fit.weights, sweep.radius), X, y)
    return values


def trained(sweep: Sweep, method: str, epsilon: float, models: int, number: int = 0) -> FloatArray:
    """Margins on the test rows of ``models`` private models of all training rows, shape (test rows, models), or with
    several classes (test rows, models, classes). Those of another ``number`` are other ones."""
    stream = [sweep.seed, 4, zlib.crc32(method.encode()), int(1e6 * epsilon), *([number] if number else [])]
    rng = np.random.Generator(np.random.SFC64(stream))
    X, y = sweep.training_rows(sweep.n)
    made: Any = sweep.method(method, epsilon)
    codes = sweep.coded_rows(method, sweep.n)
    fit = made.fit(X if codes is None else codes, y, rng, models)
    return np.asarray(sweep.X_test @ fit.weights.T) if codes is None else _margins_on_codes(sweep, fit)


def _margins_on_codes(sweep: Sweep, fit: Fit) -> FloatArray:
    rows = sweep.codes_for(fit.method, test=True)
    if rows is None:
        raise InvalidArgument("coded_test", "must be given")
    if fit.weights.ndim == 2:
        return rows.margins(fit.weights.T).astype(np.float64)
    models, d, classes = fit.weights.shape
    flat = fit.weights.transpose(1, 0, 2).reshape(d, models * classes)
    return rows.margins(flat).astype(np.float64).reshape(-1, models, classes)


def _measured_on_codes(sweep: Sweep, fit: Fit) -> dict[str, FloatArray]:
    margins = _margins_on_codes(sweep, fit)
    if sweep.classes > 2:
        return {"accuracy": (margins.argmax(axis=2) == sweep.y_test[:, None]).mean(axis=0)}
    if isinstance(sweep.loss, Logistic):
        return of_two_classes((margins > 0.0) == (sweep.y_test[:, None] > 0.0), sweep.y_test)
    return _squared(margins, sweep.y_test)


def _squared(margins: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """As ``mean_squared_error``, from predictions of shape (rows, models)."""
    errors = (np.clip(margins, -1.0, 1.0) - y[:, None]) ** 2
    return {"squared_error": errors.mean(axis=0), **moments(errors)}


def _baselines(sweep: Sweep, X: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    if sweep.classes > 2:
        told = (sweep.X_test @ non_private_classes(X, y, sweep.classes)).argmax(axis=1)
        right = np.array([[float((told == sweep.y_test).mean())]])
        return {"accuracy": right, MAJORITY: np.array([[commonest_share(sweep.y_test)]])}
    values = {name: value[None] for name, value in _measured(sweep, non_private(X, y, sweep.loss), X, y).items()}
    values["minimum"] = np.array([[minimise(sweep.loss, X, y, radius=sweep.radius).objective]])
    if isinstance(sweep.loss, Logistic):
        values[MAJORITY] = np.array([[majority_share(sweep.y_test)]])
    return values


def collect(sweep: Sweep, results: Sequence[PartResult]) -> pd.DataFrame:
    """The tidy frame (``tradeoff.COLUMNS``) of the slices done so far, replicas of several rounds together.

    Values are means over replicas; 8 of 10 replicas lie within ``low``..``high``. Excess risk appears once the
    baseline of its size is there. Baselines (methods "non_private" and "majority_class") are of kind "exact".
    """
    minima = {one.part.size: float(one.values["minimum"][0, 0]) for one in results if "minimum" in one.values}
    pooled: dict[tuple[str, float, int, str], list[FloatArray]] = {}
    rows: list[tuple[Any, ...]] = []
    for one in results:
        if one.part.method == NON_PRIVATE:
            rows += _baseline_rows(sweep, one)
            continue
        for name, values in one.values.items():
            if name in (SECOND, FOURTH) or (name == "objective" and one.part.size not in minima):
                continue
            for level, found in zip(one.part.epsilon, values, strict=True):
                shown = np.maximum(found - minima[one.part.size], 0.0) if name == "objective" else found
                metric = "excess_risk" if name == "objective" else name
                pooled.setdefault((one.part.method, level, one.part.size, metric), []).append(shown)
    for (key, level, size, metric), arrays in pooled.items():
        values = np.concatenate(arrays)
        low, high = np.quantile(values, _BAND)
        rows.append((key, level, size, metric, float(values.mean()), float(low), float(high), "simulated"))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.sort_values(["method", "metric", "n", "epsilon"], kind="stable", ignore_index=True)


def _baseline_rows(sweep: Sweep, one: PartResult) -> list[tuple[Any, ...]]:
    main = sweep.metrics[0]
    size, rows = one.part.size, []
    guessed = commonest(sweep.y_test) if MAJORITY in one.values and sweep.classes == 2 else {}
    for level in sweep.epsilon:
        for metric in (main, *(name for name in (FOUND, BALANCED) if name in one.values)):
            value = float(one.values[metric][0, 0])
            rows.append((NON_PRIVATE, level, size, metric, value, value, value, "exact"))
        if "minimum" in one.values:
            excess = max(0.0, float(one.values["objective"][0, 0] - one.values["minimum"][0, 0]))
            rows.append((NON_PRIVATE, level, size, "excess_risk", excess, excess, excess, "exact"))
        if MAJORITY in one.values:
            share = float(one.values[MAJORITY][0, 0])
            for metric, value in {main: share, **guessed}.items():
                rows.append((MAJORITY, level, size, metric, value, value, value, "exact"))
    return rows


def stream(sweep: Sweep) -> Iterator[tuple[float, pd.DataFrame]]:
    """After every slice, the fraction done and the frame so far."""
    parts, results = sweep.parts(), []
    for index, part in enumerate(parts):
        results.append(run_slice(sweep, part))
        yield (index + 1) / len(parts), collect(sweep, results)


def reaching(
    frame: pd.DataFrame, target: float, *, method: str, metric: str, along: str = "epsilon", most: bool = False
) -> float | None:
    """The smallest ε (or, ``along`` "n", size) at which a swept curve reaches ``target``, or None within its range.

    The curve of means, or where ``most`` models are to reach it the edge of the band that 9 of 10 are beyond.

    The simulated curve is made monotone by least squares first and read off between its points on a log scale. What
    is found at its first point may be more than needed: nothing below was swept. Of how many of a class are ``FOUND``
    only what comes after the last point below ``target`` counts, as it stands: models that are all noise find one half,
    and better ones may find fewer before they find more.
    """
    from scipy.optimize import isotonic_regression

    higher = metric in ("accuracy", FOUND, BALANCED)
    part = frame[(frame["method"] == method) & (frame["metric"] == metric)].sort_values(along)
    if most:
        part = part.assign(value=part["low" if higher else "high"])
    if part.empty:
        raise InvalidArgument("method", "must have been swept for this metric")
    if metric == FOUND:
        part = part.iloc[max(0, int(np.flatnonzero(np.append(True, part["value"] < target))[-1]) - 1) :]
    places = np.log(part[along].to_numpy(dtype=np.float64))
    smooth = part["value"].to_numpy(dtype=np.float64)
    if metric != FOUND:
        smooth = isotonic_regression(smooth, increasing=higher).x
    ahead = smooth - target if higher else target - smooth
    reached = np.flatnonzero(ahead >= 0.0)
    if reached.size == 0:
        return None
    first = int(reached[0])
    if first == 0 or ahead[first] == ahead[first - 1]:
        return float(part[along].to_numpy(dtype=np.float64)[first])
    back = ahead[first] / (ahead[first] - ahead[first - 1])
    return float(np.exp(places[first] - back * (places[first] - places[first - 1])))
