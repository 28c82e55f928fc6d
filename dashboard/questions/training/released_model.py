"""The release of a private model: the request from declared facts, and what stands below an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import words
from dashboard.blocks import Ask, Block, Download, Text
from dashboard.controls import Choice, Control, Number, Read
from dashboard.questions.training.prepared_rows import shapes
from dashboard.words import predict as said
from dpcore.accounting import gaussian_epsilon
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.ledger import Receipt
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.chosen_model import ChosenModel
from dpcore.releases.model import PrivateModel
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.steps_model import StepsModel
from dpcore.training import Encoding, load_model

KINDS = (ScaledModel, BoughtModel, PairedModel, ChosenModel)
ON_STEPS: Mapping[str, type[ScaledModel | BoughtModel | PairedModel | ChosenModel]] = {kind.key: kind for kind in KINDS}
"""Requests for a model on steps, which cut every number themselves."""


def model_request(
    kind: str,
    declared: Declaration,
    *,
    target: str,
    columns: tuple[str, ...],
    positive: str | None,
    steps: bool,
    epsilon: float,
    delta: float,
    pairs: tuple[tuple[str, str], ...] = (),
    apart: bool = False,
) -> PrivateModel | StepsModel | str:
    """The request of the ``kind`` (a key of ``dpcore.releases``), or why it cannot be made, in one sentence.

    With ``steps`` numbers and dates are cut at the coarsest of their public cuts; a model on steps cuts them all.
    ``pairs`` act together: a person chose them, so they cost nothing. ``apart`` tells all classes from each other.

    About how many rows there are is what was declared, and else bought with a part of ε: never the file's own number.
    """
    try:
        if kind in ON_STEPS:
            return ON_STEPS[kind].of(
                declared,
                target=target,
                columns=columns,
                positive=positive,
                epsilon=epsilon,
                delta=delta,
                pairs=pairs,
                apart=apart,
            )
        return PrivateModel.of(
            declared,
            target=target,
            columns=columns,
            positive=positive,
            shapes=shapes(declared.columns, columns) if steps else None,
            pairs=pairs,
            apart=apart,
            epsilon=epsilon,
            delta=delta,
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def charted_epsilon(request: PrivateModel | StepsModel) -> float:
    """The ε at which the chart's models have the noise of ``request``.

    Both take the same steps, so it is their noise that is compared. The chart counts its Gaussian steps exactly; the
    release counts them as zCDP, which the ledger can add up with other answers, and may buy a noisy count with one part
    more: its steps are a little noisier, as at a slightly smaller ε.
    """
    if isinstance(request, StepsModel):
        return gaussian_epsilon(request.noise_multiplier, request.delta)
    return gaussian_epsilon(request.noise_multiplier / request.steps**0.5, request.delta)


def bought(request: PrivateModel | StepsModel) -> tuple[Text, ...]:
    """What a part of this answer's privacy buys before its model is built, and what that costs."""
    if isinstance(request, BoughtModel):
        return (Text(said.cuts_bought(len(request.bought), request.cuts_share)),)
    if isinstance(request, PairedModel):
        return (Text(said.pairs_bought(request.many, request.pairs_share)),)
    if isinstance(request, ChosenModel):
        ways = request.possible
        left = request.final(ways[0]).epsilon
        return (Text(said.way_chosen(len(ways), request.ways_share, request.epsilon, left)),)
    return ()


def below(receipt: Receipt, read: Read) -> Sequence[Block]:
    """The model to take away, and a small form to try it."""
    content = receipt.answer | {"receipt": {"id": receipt.request_id, "journal_hash": receipt.journal_hash}}
    model = load_model(receipt.answer)
    controls = [
        (column, control)
        for place, column in enumerate(model.features.columns)
        if (control := _field(column, place)) is not None
    ]
    record: dict[str, Any] = dict.fromkeys(column.name for column in model.features.columns)
    for column, control in controls:
        record[column.name] = read(control, "tab")
    predicted = model.predict([record])[0]
    if model.features.apart:
        told = said.predicts(str(predicted), float(model.chances([record]).max()))
    elif model.features.two_classes:
        chance = float(model.chances([record])[0])
        told = said.predicts(str(predicted), max(chance, 1 - chance))
    else:
        told = said.estimates(float(predicted))
    return [
        Download(
            label=said.MODEL,
            data=lambda: json.dumps(content, indent=1),
            name=f"model-{receipt.request_id[:8]}.json",
            mime="application/json",
        ),
        Download(
            label=said.CARD,
            data=model.card,
            name=f"model-card-{receipt.request_id[:8]}.md",
            mime="text/markdown",
        ),
        Text(said.HOW_TO_USE),
        Text(said.TRY),
        *([Ask(tuple(control for _, control in controls))] if controls else []),
        Text(told),
    ]


def _field(column: Encoding, place: int) -> Control[Any] | None:
    """What a person types for one column of the model; None for a date, which counts as missing."""
    label, key = words.visible(column.name, 30), f"try-{place}"
    if column.kind == "yes/no":
        return Choice(key=key, label=label, options=("no", "yes"), default="no", linked=False)
    if column.categories:
        options = tuple(column.categories)
        return Choice(key=key, label=label, options=options, names=words.visible, default=options[0], linked=False)
    if column.kind == "number":
        low, high = float(column.low or 0.0), float(column.high or 1.0)
        middle, step = (low + high) / 2, (high - low) / 20
        return Number(key=key, label=label, default=middle, low=low, high=high, step=step, linked=False)
    return None
