"""Change one row: how often each column is chosen in two worlds that differ in one row of costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.case import Case
from dashboard.charts.worlds import OFFERED, SHOWN, Pair, option_worlds
from dashboard.controls import Choice, Number, Read, slug
from dashboard.questions.experts.day_worlds import MOST, DayWorlds, found_day
from dashboard.words import change_one as said
from dpcore.experts.linear import (
    LinearLearner,
    LinearMethod,
    OneRow,
    PrintedLearner,
    VertexExponential,
    VertexPermuteAndFlip,
    one_row,
    row_worlds,
)
from dpcore.experts.linear.learner import unit_losses
from dpcore.experts.linear.vertices import SENSITIVITY
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, Neighbours

MOST_CODE = 3000
BROKEN = Choice(
    key="one_row_broken",
    label=said.BROKEN,
    options=tuple(said.ROW_BROKEN_NAMES),
    names=said.ROW_BROKEN_NAMES,
    default="three_rows",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Costed:
    """Named columns of ``costs`` (rows, columns) in [−1, 1]: a table of rows called ``unit``, ``times`` as long."""

    names: tuple[str, ...]
    costs: FloatArray
    unit: str
    times: float


def blocks(case: Case, read: Read, costed: Costed, method: LinearMethod) -> Sequence[Block]:
    """The two worlds of the method in use: of one draw its law, of a learner its plays."""
    if isinstance(method, VertexExponential | VertexPermuteAndFlip):
        return _draw(case, read, costed, method)
    if isinstance(method, LinearLearner | PrintedLearner):
        return _learner(case, read, costed, method)
    return [Small(said.no_worlds(method.about.name))]


def _column(case: Case, costed: Costed, label: str) -> Choice[int]:
    cheapest = np.argsort(costed.costs.mean(axis=0), kind="stable")
    offered = tuple(int(place) for place in cheapest[:OFFERED])
    return Choice(
        key=slug("one_row", case.source.key, *costed.names),
        label=label,
        options=offered,
        names=lambda place: words.visible(costed.names[place], 40),
        default=offered[1],
        linked=case.source.public,
    )


def _draw(case: Case, read: Read, costed: Costed, method: VertexExponential | VertexPermuteAndFlip) -> Sequence[Block]:
    """A draw with and without a row, or with one changed, and a broken version of it beside."""
    comes = method.one_way
    which = _column(case, costed, said.ROW_COMES_FOR if comes else said.ROW_CHANGES_FOR)
    chosen, variant = read(which, "tab"), read(BROKEN, "tab")
    name = ("one row", case.table.fingerprint, costed.names, costed.times, chosen)

    def rows(arrives: bool) -> OneRow:
        relation: Neighbours = "add_remove" if arrives else "replace_one"
        return case.memo((*name, relation), lambda: one_row(costed.costs, chosen, relation))

    here = rows(comes)
    kept = case.memo((*name, repr(method)), lambda: Pair.of(row_worlds(method, here)))

    def break_it() -> Pair:
        if variant == "both_ways":
            return Pair.of(row_worlds(replace(method, one_way=True), rows(False)))
        drawn = method.mechanism(epsilon=method.epsilon, sensitivity=SENSITIVITY, monotonic=comes)
        laws = [drawn.probabilities(one) for one in (here.before, here.before + 3.0 * here.moved)]
        return Pair.of(TwoWorlds(before=laws[0], after=laws[1], promised=method.epsilon))

    broken = case.memo((*name, repr(method), variant), break_it)
    largest = np.argsort(-here.before, kind="stable")[:SHOWN].tolist()
    order = [*largest, *([chosen] if chosen not in largest else [])]
    called = words.shortened([costed.names[place] for place in order], 24)
    worlds, ends = kept.worlds, said.row_words(method.epsilon, comes)
    told = said.row_broken(method.epsilon, broken.most)
    listed = [", ".join(f"{score!r}" for score in one.tolist()) for one in (here.before, here.after)]
    return [
        Text(f"{said.look(method.epsilon, kept.most, None)} {told}"),
        Ask((which, BROKEN)),
        Picture(
            key="linear-one-row",
            figure=lambda dark: option_worlds(
                words.labels(called),
                worlds.before[order],
                worlds.after[order],
                {"kept": kept.ratio[order], "broken": broken.ratio[order]},
                method.epsilon,
                ends,
                dark=dark,
            ),
            alt=said.row_alt(
                called,
                worlds.before[order].tolist(),
                worlds.after[order].tolist(),
                kept.most,
                told,
            ),
            data=lambda: pd.DataFrame(
                {
                    "column": list(costed.names),
                    "before": worlds.before,
                    "after": worlds.after,
                    "log ratio": kept.ratio,
                    "log ratio broken": broken.ratio,
                }
            ),
            code=said.code_options(method.mechanism.key, method.epsilon, SENSITIVITY, comes, *listed),
        ),
        Small(said.ROW_COMES if here.row is None else said.row_changes(here.row)),
    ]


def _learner(case: Case, read: Read, costed: Costed, method: LinearLearner | PrintedLearner) -> Sequence[Block]:
    """The plays whose average a learner answers, before and after one row; of the printed one, where its proof breaks.

    Neighbours differ in one row. A play on losses in [0, 1] gives away at most 2η (Dwork and Roth, 2014, in
    the proof of Theorem 11.2); the printed learner's costs in [−1, 1] make that twice what its proof says.
    """
    of, columns = costed.costs.shape
    rounds = min(of, max(10, MOST // columns))
    which = _column(case, costed, said.ROW_CHANGES_FOR)
    when = Number(
        key=slug("one_row_place", case.source.key),
        label=said.ROW_PLACE,
        default=float(max(1, rounds // 3)),
        low=1.0,
        high=float(rounds),
        whole=True,
        linked=case.source.public,
    )
    chosen, place, rate = read(which, "tab"), int(read(when, "tab")) - 1, method.unit_rate
    other = np.ones(columns)
    other[chosen] = 0.0
    table = unit_losses(costed.costs[:rounds])
    key = ("one row of plays", case.table.fingerprint, costed.names, costed.times, rounds, place, chosen, rate)
    found = case.memo(key, lambda: found_day(table, place, other, rate))
    changed = ", ".join(f"{one!r}" for one in other.tolist())
    made = f"losses = {table.tolist()!r}\n"
    worlds = DayWorlds(
        key="linear-one-row",
        found=found,
        unit=costed.unit,
        name=costed.names[found.expert],
        day=place,
        rounds=rounds,
        of=of,
        epsilon=method.epsilon,
        promised=True,
        code=said.code_day(made, rounds, place, changed, rate) if table.size <= MOST_CODE else None,
    )
    printed = isinstance(method, PrintedLearner)
    return [
        worlds.look,
        *([Text(said.printed_play(found.most, rate))] if printed else []),
        Ask((which, when)),
        *worlds.pictures,
    ]
