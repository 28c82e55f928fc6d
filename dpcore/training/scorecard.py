"""A private model to take home: the points that each step and option of a column adds, in plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.special import expit, softmax

from dpcore.datasets.text import named_markdown
from dpcore.errors import InvalidArgument
from dpcore.training.declared import Declared
from dpcore.training.pairs import Pair
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    import pandas as pd

KIND, VERSION, PAIRED = "epsilon-lab scorecard", 1, 2  # a file with pairs, which reading without would predict wrongly
UNKNOWN = float("nan")  # what a card says of a cost that the file does not state


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scorecard:
    """``points[c]`` (codes of column c, outputs) are added to ``intercept`` (outputs,); ``factor`` calibrates chances.

    With ``classes`` there is one output for two classes (the second's log-odds before ``factor``), else one for each;
    without, the output is a number of ``target`` bounds scaled to −1..1. ``about`` is what it cost.
    """

    columns: tuple[Declared, ...]
    points: tuple[FloatArray, ...]
    intercept: FloatArray
    classes: tuple[Any, ...] = ()
    target: tuple[float, float] | None = None
    factor: float = 1.0
    about: Mapping[str, Any]
    pairs: tuple[tuple[Pair, FloatArray], ...] = ()

    def margins(self, frame: pd.DataFrame) -> FloatArray:
        """Points of every row, shape (n, outputs). Raises InvalidArgument for a column that is not there."""
        total = np.tile(self.intercept, (len(frame), 1))
        for column, points in zip(self.columns, self.points, strict=True):
            name = column.encoding.name
            if name not in frame.columns:
                raise InvalidArgument("frame", f"must have the column “{name}”")
            total += points[column.codes(frame[name])]
        if self.pairs:
            known = {column.encoding.name: column for column in self.columns}
            for pair, points in self.pairs:
                total += points[pair.codes(*(known[name].typed(frame[name]) for name in pair.names))]
        return total

    def chances(self, frame: pd.DataFrame) -> FloatArray:
        """The chance of every class, shape (n, classes). Raises InvalidArgument for a model of a number."""
        if not self.classes:
            raise InvalidArgument("frame", "has no chances: this model predicts a number")
        return chances(self.margins(frame), self.factor, len(self.classes))

    def predict(self, frame: pd.DataFrame) -> list[Any]:
        """The likeliest class, or the number, of every row."""
        if self.classes:
            return [self.classes[place] for place in self.chances(frame).argmax(axis=1)]
        return cast(list[Any], self.numbers(frame).tolist())

    def numbers(self, frame: pd.DataFrame) -> FloatArray:
        """The number predicted for every row, within the target's bounds, shape (n,)."""
        low, high = self.target or (-1.0, 1.0)
        inside = np.clip(self.margins(frame)[:, 0], -1.0, 1.0)
        return np.asarray(low + (inside + 1.0) / 2.0 * (high - low))

    def plain(self) -> dict[str, Any]:
        """The model as JSON can hold it; ``load_scorecard`` reads it back."""
        columns = [
            column.plain() | {"steps": list(column.labels), "points": points.tolist()}
            for column, points in zip(self.columns, self.points, strict=True)
        ]
        together = [
            {
                "columns": list(pair.names),
                "cuts": [[list(level) for level in column.levels] for column in (pair.first, pair.second)],
                "cells": list(pair.labels),
                "points": points[:-1].tolist(),
            }
            for pair, points in self.pairs
        ]
        return {
            "kind": KIND,
            "version": PAIRED if together else VERSION,
            "classes": list(self.classes),
            "target": list(self.target) if self.target else None,
            "factor": self.factor,
            "intercept": self.intercept.tolist(),
            "columns": columns,
            **({"pairs": together} if together else {}),
            "about": dict(self.about),
        }

    def weighty(self, column: int) -> float:
        """How far apart the points of a column's known steps are at most, over the outputs."""
        points = self.points[column][:-1]
        return float((points.max(axis=0) - points.min(axis=0)).max()) if points.size else 0.0

    @property
    def _together(self) -> str:
        if not self.pairs:
            return "Columns act one by one: no pair of columns acts together."
        named = ", ".join(named_markdown(" with ".join(pair.names)) for pair, _ in self.pairs)
        return f"Columns act one by one, and beyond that these act together: {named}."

    def card(self) -> str:
        """The model in words, from public and released numbers alone: what it does, what it cost, what to beware of."""
        about, names = self.about, [named_markdown(column.encoding.name) for column in self.columns]
        order = sorted(range(len(names)), key=lambda place: -self.weighty(place))
        if self.classes:
            named = ", ".join(named_markdown(str(name)) for name in self.classes)
            task = f"Predicts one of {len(self.classes)} classes: {named}."
        else:
            task = "Predicts a number from {:g} to {:g}.".format(*(self.target or (-1.0, 1.0)))
        lines = [
            "# Model card",
            "",
            task,
            f"It adds up points, one for each of {len(names)} columns, that depend on the step or option a row is in.",
            "",
            "## Privacy",
            f"({about.get('epsilon', UNKNOWN):g}, {about.get('delta', UNKNOWN):g})-differential privacy "
            "for adding or removing one row, for everything in this file together: points, class names, calibration "
            "and the number of rows. Column names, bounds, options and cuts were declared, not read from the data.",
            "It holds for a person with one row; with k rows the promise is k times as weak.",
            "",
            "## What decides most",
            "Columns by how far apart their points are (noise included, so small differences mean little):",
            *(f"- {names[place]}: {self.weighty(place):.3g}" for place in order[:10]),
            "",
            "## Use",
            f"Trained on about {about.get('rows', 0):,} rows (a noisy number). How good it is was not measured: "
            "measuring on the training data would cost privacy; use data that were not trained on.",
            "Values beyond the declared bounds count as the bound; missing and unknown values have points of their "
            "own, which mean nothing if the training data had none.",
            "Rare steps and options carry mostly noise. " + self._together,
        ]
        return "\n".join(lines) + "\n"


def chances(margins: FloatArray, factor: float, classes: int) -> FloatArray:
    """Chances (n, classes) from margins (n, outputs): one output for two classes, none needed for one."""
    if classes == 1:
        return np.ones((margins.shape[0], 1))
    if margins.shape[1] == 1:
        second = expit(factor * margins[:, 0])
        return np.column_stack([1.0 - second, second])
    return np.asarray(softmax(factor * margins, axis=1))


def scorecard(
    columns: Sequence[Declared],
    weights: FloatArray,
    *,
    pairs: Sequence[Pair] = (),
    classes: Sequence[Any] = (),
    target: tuple[float, float] | None = None,
    factor: float = 1.0,
    about: Mapping[str, Any],
) -> Scorecard:
    """From ``weights`` (d, outputs) of ``coded`` rows with these ``pairs``."""
    points, start = [], 0
    for basis in (*(column.encoding.basis() for column in columns), *(pair.basis() for pair in pairs)):
        points.append(np.asarray(basis @ weights[start : start + basis.shape[1]]))
        start += basis.shape[1]
    return Scorecard(
        columns=tuple(columns),
        points=tuple(points[: len(columns)]),
        pairs=tuple(zip(pairs, points[len(columns) :], strict=True)),
        intercept=weights[start],
        classes=tuple(classes),
        target=target,
        factor=factor,
        about=about,
    )


def _read_pair(columns: Sequence[Declared], plain: Mapping[str, Any]) -> tuple[Pair, FloatArray]:
    """From what ``Scorecard.plain`` says of a pair."""
    known = {column.encoding.name: column.encoding for column in columns}
    first, second = (
        replace(known[name], levels=tuple(tuple(float(cut) for cut in level) for level in levels))
        for name, levels in zip(plain["columns"], plain["cuts"], strict=True)
    )
    pair = Pair(first=first, second=second)
    points = np.array(plain["points"], dtype=np.float64)
    if points.shape[0] != pair.cells:
        raise ValueError("points")
    return pair, np.vstack([points, np.zeros((1, points.shape[1]))])


def load_scorecard(source: str | Path | Mapping[str, Any]) -> Scorecard:
    """From a JSON file, its text or its contents. Raises InvalidArgument for anything else."""
    contents: Any = source
    try:
        if not isinstance(source, Mapping):
            text = str(source) if str(source).lstrip().startswith("{") else Path(source).read_text(encoding="utf-8")
            contents = json.loads(text)
        if contents["kind"] != KIND or contents["version"] != (PAIRED if contents.get("pairs") else VERSION):
            raise InvalidArgument("source", "must be a scorecard of Epsilon Lab in JSON")
        bounds = contents["target"]
        columns = tuple(Declared.read(column) for column in contents["columns"])
        return Scorecard(
            columns=columns,
            pairs=tuple(_read_pair(columns, pair) for pair in contents.get("pairs", ())),
            points=tuple(np.array(column["points"], dtype=np.float64) for column in contents["columns"]),
            intercept=np.array(contents["intercept"], dtype=np.float64),
            classes=tuple(contents["classes"]),
            target=(float(bounds[0]), float(bounds[1])) if bounds else None,
            factor=float(contents["factor"]),
            about=dict(contents["about"]),
        )
    except InvalidArgument:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument("source", "must be a scorecard of Epsilon Lab in JSON") from None
