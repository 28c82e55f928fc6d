"""A model as an answer holds it, of public weights: for requests that ask about one that was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.datasets import Declaration, Schema
from dpcore.training.features import Features
from dpcore.training.model import LinearModel

SEED = 20
RECEIPT = "5eed" * 16


def drawn_model(declaration: Declaration, *, target: str, columns: Sequence[str], **how: Any) -> dict[str, Any]:
    """Of these declared columns, as large weights as a release gives; as ``ModelConfusion.of`` takes it.

    Raises InvalidArgument.
    """
    declared = tuple(declaration.column(name) for name in dict.fromkeys((target, *columns)))
    features = Features.of(Schema(columns=declared), target=target, columns=columns, **how)
    shape = (features.d, features.outputs) if features.apart else (features.d,)
    weights = 3.0 * np.random.Generator(np.random.PCG64(SEED)).standard_normal(shape)
    about: dict[str, Any] = {"epsilon": 0.5, "rho": 0.005, "neighbours": declaration.hidden, "notes": []}
    return LinearModel(features=features, weights=weights, about=about).plain()
