"""What can be set about training: from which columns, cut into steps or not, how many models, and what is needed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dashboard import words
from dashboard.case import Case
from dashboard.controls import Choice, Control, Group, Number, Read, Several, Switch, slug
from dashboard.questions.training.prepared_rows import Task, can_be_cut, possible_pairs, usable, varying
from dashboard.usual import delta as usual_delta
from dashboard.words import measured as measured_words
from dashboard.words import page as page_words
from dashboard.words import predict as said
from dpcore.training.recall import BALANCED, FOUND
from dpcore.training.training_problem import METRICS

SEEDS: Choice[int] = Choice(
    key="training_seeds", label=said.SEEDS, options=(8, 12, 20, 40, 100), default=12, look="scale"
)
NUMBERS: Choice[str] = Choice(
    key="training_numbers",
    label=said.NUMBERS,
    options=("steps", "line"),
    names=said.NUMBERS_AS,
    help=said.NUMBERS_HELP,
    default="line",  # at ε = 0.5 better on 23 of 30 tasks of the samples, worse on 4
    look="buttons",
)
MOST_PAIRED = 24
"""Columns up to which pairs of them are offered: more make a list that nobody reads."""
HALFWAY, SMALLER = 0.5, 0.75
"""The first goal: so far between guessing and being always right, or so much of the error of guessing."""
OWN_RIGHT, ERROR = 80.0, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which columns to predict from, which class to tell or all ``apart``, and which pairs of these columns act
    together."""

    columns: tuple[str, ...]
    positive: str | None
    apart: bool
    pairs: tuple[tuple[str, str], ...]


def columns(case: Case, target: str, read: Read) -> tuple[Chosen, Group]:
    """What to predict from, with the controls for it."""
    table, public = case.table, case.source.public
    offered = usable(table.schema, target)
    # A sample's columns that never vary are left out from the start. An own file's begin with those that were declared:
    # nothing that its values decide, as a neighbouring file must begin alike.
    started = case.source.stated(offered)
    if public:
        started = case.memo(("training", table.fingerprint, target, "started"), lambda: varying(table, offered))
    columns = Several(
        key=slug("training_columns", case.source.key, target),
        label=said.COLUMNS,
        options=offered,
        names=words.visible,
        default=started,
        least=1,
        refusal=page_words.too_few(1),
        linked=public,
    )
    chosen, column = read(columns, "sentence"), table.schema.column(target)
    controls: list[Control[Any]] = [columns]
    told, apart = None, False
    classes = tuple(column.categories) if column.type == "category" else ()
    if len(classes) > 2:
        every = Switch(
            key=slug("training_apart", case.source.key, target),
            label=said.APART,
            help=said.APART_HELP,
            default=False,
            linked=public,
        )
        controls.append(every)
        apart = read(every, "sentence")
    if classes and not apart:
        positive: Choice[str] = Choice(
            key=slug("training_class", case.source.key, target),
            label=said.CLASS,
            options=classes,
            names=words.visible,
            default=classes[-1] if len(classes) == 2 else classes[0],
            linked=public,
        )
        told = read(positive, "sentence")
        controls.append(positive)
    pairs = _pairs(case, target, chosen)
    together: tuple[tuple[str, str], ...] = ()
    if pairs.options:
        controls.append(pairs)
        together = tuple(_names(option) for option in read(pairs, "sentence"))
    made = Chosen(columns=chosen, positive=told, apart=apart, pairs=together)
    notes = (said.TOO_MANY_TO_PAIR,) if len(chosen) > MOST_PAIRED else ()
    return made, Group(label=said.FROM, controls=tuple(controls), notes=notes, icon=":material/view_column:")


def _pairs(case: Case, target: str, chosen: tuple[str, ...]) -> Several:
    """Which two of the ``chosen`` columns may act together: by what is declared of them."""
    key = ("training", case.table.fingerprint, chosen, "pairs")
    few = len(chosen) <= MOST_PAIRED
    possible = case.memo(key, lambda: possible_pairs(case.table.schema, chosen)) if few else ()
    return Several(
        key=slug("training_pairs", case.source.key, target),
        label=said.PAIRS,
        help=said.PAIRS_HELP,
        options=tuple(json.dumps(pair, ensure_ascii=False) for pair in possible),
        names=lambda option: said.pair(*_names(option)),
        default=(),
        keeps=True,
        linked=case.source.public,
    )


def _names(option: str) -> tuple[str, str]:
    first, second = json.loads(option)
    return str(first), str(second)


def delta(case: Case) -> Choice[float]:
    """δ of a model, and of whatever else is released about one at a δ."""
    return usual_delta(case, "training_delta", said.DELTA)


def steps(case: Case, columns: tuple[str, ...], read: Read) -> bool:
    """Whether numbers and dates are cut into steps; asked where some were chosen."""
    return any(can_be_cut(case.table.schema.column(name)) for name in columns) and read(NUMBERS) == "steps"


def need(case: Case, task: Task, metric: str) -> Number:
    """What a person needs. Begins between guessing and being always right, each sample with a goal of its own; for an
    own file at a goal that does not depend on it."""
    higher = METRICS[metric].higher
    if metric in (FOUND, BALANCED):
        start = OWN_RIGHT
    elif higher:
        start = float(round(100 * (task.guessing + HALFWAY * (1 - task.guessing)))) if case.source.public else OWN_RIGHT
    elif metric == "excess_risk" or not case.source.public:
        start = ERROR
    else:
        start = float(f"{SMALLER * task.guessing:.2g}")
    return Number(
        key=slug(f"training_{metric}_target", case.source.key, task.target),
        label=measured_words.need(metric, task.classes[1] if task.two_classes else ""),
        help=said.NEED_HELP,
        default=min(start, 99.0) if higher else max(start, 1e-6),
        low=1e-6,
        high=99.99 if higher else 10.0,
        step=1.0 if higher else 0.01,
        linked=case.source.public,
    )
