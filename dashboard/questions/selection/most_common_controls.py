"""What can be set about the most common option: the counts that can be edited, and what is asked for."""

from __future__ import annotations

import numpy as np

from dashboard.case import Case
from dashboard.controls import Number, Numbers, slug
from dashboard.questions.selection.candidates import Candidates
from dashboard.words import most_common as said
from dpcore.selection import catalog
from dpcore.selection.measures import measures
from dpcore.validate import FloatArray

METHODS = {key: kind for key, kind in catalog().items() if hasattr(kind, "probabilities")}
NAMES = {key: kind.about.name for key, kind in METHODS.items()} | {"theory": said.THEORY}
METRICS = {key: measure.metric for key, measure in measures().items()}
EDITABLE = 12
OWN_LOSS = 5.0
"""How far from the best a person accepts an option of their own data until they say, in the scores' unit."""


def counts_of(case: Case, as_is: Candidates) -> Numbers:
    """The counts that can be edited: the largest, in the order of the table."""
    places = _largest(as_is)
    return Numbers(
        key=slug("edit", case.source.key, as_is.column),
        label=said.EDIT,
        names=tuple(as_is.names[place] for place in places),
        default=tuple(float(as_is.shown[place]) for place in places),
        low=0.0 if as_is.counted else None,
        linked=case.source.public,
    )


def edited(as_is: Candidates, counts: Numbers, edits: tuple[float, ...], times: float) -> Candidates:
    """The candidates with their largest counts edited and all counts taken so many times."""
    if edits == counts.default and times == 1.0:
        return as_is
    values: FloatArray = as_is.shown.copy()
    values[list(_largest(as_is))] = edits
    if as_is.counted:
        values = np.maximum(values, 0.0) * times
        if values.sum() < 1:
            return as_is
    return as_is.with_shown(values)


def _largest(as_is: Candidates) -> list[int]:
    return sorted(np.argsort(-as_is.scores, kind="stable")[:EDITABLE].tolist())


def need(case: Case, as_is: Candidates, metric: str) -> Number:
    """What a person needs; a person's own file begins with a number that does not come from it."""
    if metric == "success":
        return Number(
            key="selection_target", label=said.NEED_RIGHT, help=said.NEED_HELP, default=95.0, low=1.0, high=99.9
        )
    known = METRICS[metric]
    spread = (float(np.ptp(as_is.scores)) or 1.0) / 20 if case.source.public else OWN_LOSS
    usual = float(f"{spread * known.factor:.3g}")
    return Number(
        key="selection_target_loss" if metric == "expected_loss" else f"selection_target_{metric}",
        label=said.need(known),
        help=said.NEED_HELP,
        default=95.0 if known.share else usual,
        low=1e-9,
        high=99.9 if known.share else 1e9,
        step=1.0 if known.share else max(usual / 10, 1e-6),
    )
