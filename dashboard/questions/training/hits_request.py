"""The release behind how often a drawn model is right: which models can be asked about, and the request."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Literal

from dashboard.case import DrawnModel, Memo
from dashboard.words import hits as said
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.asked_confusion import AskedConfusion, check_declared
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.training.model import LinearModel, load_model
from dpcore.validate import Neighbours

Without = Literal["of a number", "of classes", "declared otherwise", "of another version"]
"""Why a model cannot be asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is remembered of a model, which may be thousands of times as large: the column that it predicts, the ε that
    it was drawn at, and why it cannot be asked about, if so."""

    target: str = ""
    epsilon: float | None = None
    without: Without | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """The ``models`` that can be asked about by their receipts, in order; and in a sentence which cannot."""

    models: Mapping[str, Known]
    others: str


def fitting(models: Sequence[DrawnModel], declared: Declaration, memo: Memo) -> Fitting:
    """Of the drawn ones those with two classes of which every column is declared as it was then: from public things
    alone. Each is read once, one after the other. Raises CannotAsk."""

    def found() -> Fitting:
        # it may be as large as a model, and each of them is remembered with it
        stated = sha256(repr(declared).encode("utf-8", "backslashreplace")).hexdigest()
        known = {
            one.receipt: memo(("hits known", one.receipt, stated), partial(_known, one, declared)) for one in models
        }
        why = Counter(one.without for one in known.values())
        cells = said.without_cells(why["of a number"], why["of classes"])
        others = said.not_counted(cells, why["declared otherwise"], why["of another version"])
        return Fitting(models={receipt: one for receipt, one in known.items() if one.without is None}, others=others)

    return memo(("hits models", tuple(one.receipt for one in models), declared), found)


def enough(request: AskedConfusion, rows: float) -> float | None:
    """The smallest ε in hundredths, up to 10, at which both numbers are told at most ``rows`` off, 95 times in 100, if
    there is one."""
    hundredths = range(1, 1001)

    def within(step: int) -> bool:
        try:
            return replace(request, epsilon=step / 100).error_bound(0.05).number <= rows
        except InvalidArgument:  # more noise than can be drawn
            return False

    at = bisect_left(hundredths, True, key=within)
    return None if at == len(hundredths) else hundredths[at] / 100


def _known(drawn: DrawnModel, declared: Declaration) -> Known:
    try:
        model = load_model(drawn.answer())
    except InvalidArgument:
        return Known(without="of another version")
    if model.features.apart:
        return Known(without="of classes")
    if not model.features.two_classes:
        return Known(without="of a number")
    if not _as_declared(declared, model):
        return Known(without="declared otherwise")
    epsilon = model.about.get("epsilon")
    known = float(epsilon) if isinstance(epsilon, (int, float)) else None
    return Known(target=model.features.target.name, epsilon=known)


def _as_declared(declared: Declaration, model: LinearModel) -> bool:
    try:
        check_declared(declared, model.features)
    except InvalidArgument:
        return False
    return True


def hits_request(
    declared: Declaration,
    model: LinearModel,
    drawn: str,
    *,
    epsilon: float,
    delta: float | None,
    neighbours: Neighbours,
) -> AskedConfusion | str:
    """The request about a model by its receipt, at ε alone or with a δ; or why it cannot be made, in one sentence."""
    try:
        if delta is None:
            return ModelConfusion.of(declared, model, drawn=drawn, epsilon=epsilon, neighbours=neighbours)
        return GaussianConfusion.of(declared, model, drawn=drawn, epsilon=epsilon, delta=delta, neighbours=neighbours)
    except InvalidArgument as error:
        return said.cannot_release(str(error))
