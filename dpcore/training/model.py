"""A released model: plain JSON that predicts, without the data it was trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax

from dpcore.errors import InvalidArgument
from dpcore.training.encoding import Encoding
from dpcore.training.features import Features
from dpcore.training.model_card import model_card
from dpcore.training.pairs import Pair
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    import pandas as pd

KIND, VERSION, PAIRED = "epsilon-lab linear model", 1, 2  # with pairs, which reading without would predict wrongly
APART = 3  # with weights for each of several classes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearModel:
    """``features`` (public) and ``weights`` (d,), or (d, classes) where several are told apart.

    ``about`` is how it was trained and what it cost.
    """

    features: Features
    weights: FloatArray
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        shape = (self.features.d, self.features.outputs) if self.features.apart else (self.features.d,)
        if self.weights.shape != shape or not np.isfinite(self.weights).all():
            raise InvalidArgument("weights", "must have one entry for every feature, and for each class told apart")

    def margins(self, records: pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> FloatArray:
        """xᵀw for every record, shape (m,) or (m, classes).

        A missing or unknown value counts as the middle, or as no category. Records are a frame or dictionaries by
        column name. Raises InvalidArgument for a column that is not there.
        """
        rows = _listed(records)
        numbers = []
        for column in self.features.columns:
            if any(column.name not in row for row in rows):
                raise InvalidArgument("records", f"must have a value (or None) for “{column.name}”")
            numbers.append(column.plain([row[column.name] for row in rows]))
        return np.asarray(self.features.rows(numbers) @ self.weights)

    def chances(self, records: pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> FloatArray:
        """The model's own chance of the positive class, shape (m,), or where several classes are told apart of each,
        shape (m, classes). Raises InvalidArgument for a number to predict."""
        if not self.features.classifies:
            raise InvalidArgument("records", "have no chances: this model predicts a number")
        margins = self.margins(records)
        return np.asarray(softmax(margins, axis=1) if self.features.apart else expit(margins))

    def predict(self, records: pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Any]:
        """The class (its name) or the number for every record."""
        target, margins = self.features.target, self.margins(records)
        if self.features.apart:
            return [self.classes[place] for place in margins.argmax(axis=1)]
        if not self.features.two_classes:
            numbers = target.unscaled(margins)
            return [round(value) if target.integer else float(value) for value in numbers]
        return [self.classes[int(margin > 0.0)] for margin in margins]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the negative and the positive class, or of all that are told apart."""
        return self.features.classes

    def card(self) -> str:
        """The model in words, in Markdown, from public and released numbers alone: what it does, cost, and limits."""
        return model_card(self)

    def plain(self) -> dict[str, Any]:
        """The model as JSON can hold it; ``load_model`` reads it back."""
        return {
            "kind": KIND,
            "version": _version(self.features.apart, self.features.pairs),
            "predicts": _plain(self.features.target)
            | ({"apart": True} if self.features.apart else {"positive": self.features.positive}),
            "columns": [_plain(column) for column in self.features.columns],
            **(
                {"pairs": [[_plain(pair.first), _plain(pair.second)] for pair in self.features.pairs]}
                if self.features.pairs
                else {}
            ),
            "intercept": self.features.intercept,
            "divided_by": self.features.scale,
            "features": list(self.features.names),
            "weights": self.weights.tolist(),
            "about": dict(self.about),
        }


def load_model(source: str | Path | Mapping[str, Any]) -> LinearModel:
    """A model from a JSON file, its text or its contents, alone or within a receipt under "answer".

    Raises InvalidArgument for anything else.
    """
    contents: Any = source
    if not isinstance(source, Mapping):
        try:
            text = str(source) if str(source).lstrip().startswith("{") else Path(source).read_text(encoding="utf-8")
            contents = json.loads(text)
        except (OSError, ValueError):
            raise InvalidArgument("source", "must be a model file of Epsilon Lab in JSON") from None
    if isinstance(contents, Mapping) and "weights" not in contents:
        contents = contents.get("answer", contents)
    known = isinstance(contents, Mapping) and contents.get("kind") == KIND
    predicted = contents.get("predicts") if known else None
    apart = isinstance(predicted, Mapping) and predicted.get("apart") is True
    if not known or contents.get("version") != _version(apart, contents.get("pairs")):
        raise InvalidArgument("source", "must be a model file of Epsilon Lab in JSON")
    try:
        predicts = dict(contents["predicts"])
        positive = None if apart else predicts.pop("positive")
        features = Features(
            columns=tuple(_encoding(column) for column in contents["columns"]),
            target=_encoding(predicts),
            positive=positive,
            intercept=bool(contents["intercept"]),
            pairs=tuple(
                Pair(first=_encoding(first), second=_encoding(second)) for first, second in contents.get("pairs", ())
            ),
            apart=apart,
        )
        weights = np.array(contents["weights"], dtype=np.float64)
        about = dict(contents.get("about", {}))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument("source", "must be a complete model file of Epsilon Lab") from None
    return LinearModel(features=features, weights=weights, about=about)


def predict(
    model: LinearModel | str | Path | Mapping[str, Any],
    records: pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> list[Any]:
    """What a model, or a model file, predicts for every record. Raises InvalidArgument."""
    loaded = model if isinstance(model, LinearModel) else load_model(model)
    return loaded.predict(records)


def _version(apart: bool, pairs: Any) -> int:
    return APART if apart else PAIRED if pairs else VERSION


def _plain(column: Encoding) -> dict[str, Any]:
    found: dict[str, Any] = {"column": column.name, "kind": column.kind}
    if column.kind == "category":
        found["categories"] = list(column.categories)
    elif column.kind != "yes/no":
        found |= {"low": column.low, "high": column.high, "integer": column.integer}
    if column.levels:
        found["levels"] = [list(level) for level in column.levels]
    return found


def _encoding(plain: Mapping[str, Any]) -> Encoding:
    return Encoding(
        name=str(plain["column"]),
        kind=plain["kind"],
        low=float(plain.get("low", 0.0)),
        high=float(plain.get("high", 1.0)),
        categories=tuple(str(word) for word in plain.get("categories", ())),
        integer=bool(plain.get("integer", False)),
        levels=tuple(tuple(float(cut) for cut in level) for level in plain.get("levels", ())),
    )


def _listed(records: Any) -> list[Mapping[str, Any]]:
    if isinstance(records, Mapping):
        return [records]
    if hasattr(records, "to_dict"):
        return list(records.to_dict("records"))
    return list(records)
