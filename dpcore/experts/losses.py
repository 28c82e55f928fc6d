"""From a person's table to losses: what each expert would have lost on each day, between 0 and 1 by declared bounds.

Bounds are public knowledge, declared and not read from the data. A value outside is refused, or moved to the bound
with ``clip`` (as a table with declared columns has done already).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, finite_vector, one_of, positive

LossKind = Literal["squared", "absolute", "zero_one"]
LOSS_KINDS: tuple[LossKind, ...] = ("squared", "absolute", "zero_one")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpertLosses:
    """``values`` (rounds, experts) within [0, 1], the ``names`` of the experts, and in a sentence what a loss is."""

    values: FloatArray
    names: tuple[str, ...]
    meaning: str

    @property
    def rounds(self) -> int:
        return int(self.values.shape[0])

    @property
    def experts(self) -> int:
        return int(self.values.shape[1])


def from_losses(
    table: ArrayLike, names: Sequence[str], low: float = 0.0, high: float = 1.0, *, clip: bool = False
) -> ExpertLosses:
    """Columns that already hold losses, from ``low`` (best) to ``high`` (worst). Raises InvalidArgument."""
    span = _span(low, high)
    experts = _names(names)
    values = _bounded(_numbers(table, experts, "losses"), experts, low, high, clip)
    return _finished((values - low) / span, experts, f"0 is a loss of {low:g}, 1 a loss of {high:g}")


def from_forecasts(
    table: ArrayLike,
    outcome: ArrayLike,
    names: Sequence[str],
    low: float,
    high: float,
    *,
    kind: str = "squared",
    clip: bool = False,
) -> ExpertLosses:
    """Columns of forecasts and what then happened, shape (rounds,), all between ``low`` and ``high``.

    ``squared``: ((forecast − outcome)/(high − low))²; ``absolute``: |forecast − outcome|/(high − low); ``zero_one``: 1
    when the forecast is not the outcome. Raises InvalidArgument.
    """
    span = _span(low, high)
    one_of(LOSS_KINDS, kind=kind)
    experts = _names(names)
    forecasts = _bounded(_numbers(table, experts, "forecasts"), experts, low, high, clip)
    happened = _numbers(np.asarray(outcome)[:, None] if np.ndim(outcome) == 1 else outcome, ("outcome",), "outcome")
    if happened.shape[0] != forecasts.shape[0]:
        raise InvalidArgument("outcome", "must have one value for each day of the forecasts")
    happened = _bounded(happened, ("outcome",), low, high, clip)
    if kind == "zero_one":
        return _finished((forecasts != happened).astype(np.float64), experts, "1 on a day the forecast was wrong")
    off = np.abs(forecasts - happened) / span
    if kind == "squared":
        return _finished(off * off, experts, f"the squared miss, 1 being a miss by {span:g}")
    return _finished(off, experts, f"the miss, 1 being a miss by {span:g}")


def from_prices(table: ArrayLike, names: Sequence[str], low: float, high: float, *, clip: bool = True) -> ExpertLosses:
    """Columns of prices, one row a day: the loss of holding one of them from each day to the next.

    The relative change between ``low`` (as −0.1 for a fall by 10 %) and ``high``, 0 for the best and 1 for the worst;
    changes outside are moved to the bound unless ``clip`` is False. Raises InvalidArgument.
    """
    span = _span(low, high)
    experts = _names(names)
    prices = _numbers(table, experts, "prices")
    if (prices <= 0).any():
        raise InvalidArgument("prices", "must be greater than 0 on every day")
    if prices.shape[0] < 3:
        raise InvalidArgument("prices", "must cover at least three days, which makes two rounds")
    changes = _bounded(prices[1:] / prices[:-1] - 1, experts, low, high, clip)
    return _finished((high - changes) / span, experts, f"0 is a change of {high:+.3g}, 1 a change of {low:+.3g}")


def check_days(days: ArrayLike) -> int:
    """That ``days`` (dates or numbers, shape (rounds,)) come in order and only once each; how many gaps they have.

    A gap is a step longer than the commonest one, such as a weekend: rounds are the rows, so it does no harm, but a
    person may want to know. Raises InvalidArgument.
    """
    order = np.asarray(days)
    if order.ndim != 1 or order.dtype.kind not in "fiuM":
        raise InvalidArgument("days", "must be a column of dates or numbers")
    if (np.isnat(order) if order.dtype.kind == "M" else ~np.isfinite(order)).any():
        raise InvalidArgument("days", "must not be missing in any row")
    steps = np.diff(order)
    if (steps == steps.dtype.type(0)).any():
        raise InvalidArgument("days", "must all be different: one row for each day")
    if (steps < steps.dtype.type(0)).any():
        raise InvalidArgument("days", "must be in order, the earliest first")
    sizes, times = np.unique(steps, return_counts=True)
    return int(times[sizes > sizes[np.argmax(times)]].sum()) if steps.size else 0


def _span(low: float, high: float) -> float:
    bottom, top = finite_vector(bounds=[low, high])
    if bottom >= top:
        raise InvalidArgument("bounds", "must have the lower one below the upper one")
    return positive(bounds=top - bottom)


def _names(names: Sequence[str]) -> tuple[str, ...]:
    experts = tuple(str(name) for name in names)
    if len(experts) < 2:
        raise InvalidArgument("experts", "must be at least two: with one there is nothing to choose")
    if len(set(experts)) < len(experts):
        raise InvalidArgument("experts", "must all be different: the same column was chosen twice")
    return experts


def _numbers(table: Any, names: Sequence[str], argument: str) -> FloatArray:
    values = np.asarray(table)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InvalidArgument(argument, "must be a table with one column for each name")
    if values.dtype.kind not in "fiub":
        raise InvalidArgument(argument, "must be numbers in every column; choose numeric columns or convert them first")
    numbers = values.astype(np.float64)
    if numbers.shape[0] < 2:
        raise InvalidArgument(argument, "must cover at least two days: with one there is nothing to learn from")
    gaps = np.isnan(numbers)
    if gaps.any():
        column = names[int(np.argmax(gaps.any(axis=0)))]
        raise InvalidArgument(argument, f"must not miss a day: fill or leave out the missing days of “{column}” first")
    if not np.isfinite(numbers).all():
        raise InvalidArgument(argument, "must be finite on every day")
    return numbers


def _bounded(values: FloatArray, names: Sequence[str], low: float, high: float, clip: bool) -> FloatArray:
    if clip:
        return np.clip(values, low, high)
    outside = ((values < low) | (values > high)).any(axis=0)
    if outside.any():
        column = names[int(np.argmax(outside))]
        raise InvalidArgument(
            "bounds", f"must hold every value: “{column}” goes outside {low:g} to {high:g}; widen them, or clip"
        )
    return values


def _finished(values: FloatArray, names: tuple[str, ...], meaning: str) -> ExpertLosses:
    _, first, times = np.unique(values, axis=1, return_index=True, return_counts=True)
    if (times > 1).any():
        kept = int(first[int(np.argmax(times > 1))])
        same = [name for i, name in enumerate(names) if (values[:, i] == values[:, kept]).all()]
        raise InvalidArgument("experts", f"must differ: “{same[0]}” and “{same[1]}” lose the same on every day")
    values = np.clip(values, 0.0, 1.0)  # rounding only
    values.setflags(write=False)
    return ExpertLosses(values=values, names=names, meaning=meaning)
