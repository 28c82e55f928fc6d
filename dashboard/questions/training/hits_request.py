"""The release behind how often a drawn model is right: which models can be asked about, and the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.case import DrawnModel
from dashboard.words import hits as said
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.confusion import ModelConfusion, check_declared
from dpcore.training.model import LinearModel, load_model
from dpcore.validate import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitting:
    """The ``models`` that can be asked about by their receipts, in order; and in a sentence which cannot."""

    models: dict[str, tuple[DrawnModel, LinearModel]]
    others: str


def fitting(models: Sequence[DrawnModel], declared: Declaration) -> Fitting:
    """Of the drawn ones those with two classes of which every column is declared as it was then: from public things
    alone."""
    found: dict[str, tuple[DrawnModel, LinearModel]] = {}
    numbers = apart = otherwise = older = 0
    for one in models:
        try:
            model = load_model(one.answer)
        except InvalidArgument:
            older += 1
            continue
        if model.features.apart:
            apart += 1
        elif not model.features.two_classes:
            numbers += 1
        elif not _as_declared(declared, model):
            otherwise += 1
        else:
            found[one.receipt] = one, model
    return Fitting(models=found, others=said.not_counted(said.without_cells(numbers, apart), otherwise, older))


def _as_declared(declared: Declaration, model: LinearModel) -> bool:
    try:
        check_declared(declared, model.features)
    except InvalidArgument:
        return False
    return True


def hits_request(
    declared: Declaration, model: DrawnModel, *, epsilon: float, neighbours: Neighbours
) -> ModelConfusion | str:
    """The request about a drawn model, or why it cannot be made, in one sentence."""
    try:
        return ModelConfusion.of(declared, model.answer, drawn=model.receipt, epsilon=epsilon, neighbours=neighbours)
    except InvalidArgument as error:
        return said.cannot_release(str(error))
