"""Change one person: the laws of a private choice, or of a quantile, in two worlds that differ in one person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Picture, Text
from dashboard.case import Case
from dashboard.charts.worlds import OFFERED, SHOWN, Pair, option_worlds, place_worlds
from dashboard.controls import Choice, Number, Read, slug
from dashboard.questions.selection.candidates import Candidates
from dashboard.words import change_one as said
from dpcore.selection import catalog, choice_worlds, quantile_worlds
from dpcore.selection.quantile import Quantile
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, Neighbours

MOST_CODE = 1000
"""Entries of a list that the code of a picture carries."""


def choice_blocks(
    case: Case, read: Read, found: Candidates, method: str, relation: Neighbours, epsilon: float
) -> Sequence[Block]:
    """A choice among ``found`` by ``method``, with and without one person."""
    largest = np.argsort(-found.scores, kind="stable")
    offered = tuple(int(place) for place in largest[:OFFERED])
    one_way = found.one_way and relation == "add_remove"
    label = said.WHO if one_way else said.CHANGES if found.one_way else said.SHIFTED
    who = Choice(
        key=slug("one_person", case.source.key, found.column),
        label=label,
        options=offered,
        names=lambda place: words.visible(found.names[place], 40),
        default=offered[1],
        linked=case.source.public,
    )
    wrong = Choice(
        key="one_person_broken",
        label=said.BROKEN,
        options=tuple(said.BROKEN_NAMES),
        names=said.BROKEN_NAMES,
        default="three_rows",
    )
    chosen, variant = read(who, "tab"), read(wrong, "tab")
    mechanism = catalog()[method](epsilon=epsilon, sensitivity=found.sensitivity, monotonic=one_way)
    rival = offered[0] if chosen != offered[0] else offered[1]
    after = _moved(found, chosen, rival, one_way)
    name = ("one person", case.table.fingerprint, found.column, method, relation, epsilon, chosen)
    scores = tuple(found.scores.tolist())
    kept = case.memo((*name, scores), lambda: Pair.of(choice_worlds(mechanism, found.scores, after)))

    def break_it() -> Pair:
        if variant == "three_rows":
            careless, moved = mechanism, found.scores + 3.0 * (after - found.scores)
        else:
            careless = catalog()[method](epsilon=epsilon, sensitivity=found.sensitivity, monotonic=True)
            moved = found.scores.copy()
            moved[chosen] += found.sensitivity
            moved[rival] -= found.sensitivity
        laws = [careless.probabilities(one) for one in (found.scores, moved)]
        return Pair.of(TwoWorlds(before=laws[0], after=laws[1], promised=epsilon))

    broken = case.memo((*name, scores, variant), break_it)
    order = [*offered[:SHOWN], *([chosen] if chosen not in offered[:SHOWN] else [])]
    worlds = kept.worlds
    names = words.shortened([found.names[place] for place in order], 24)
    drawn = {"kept": kept.ratio[order], "broken": broken.ratio[order]}
    code = None
    if found.scores.size <= MOST_CODE:
        listed = [", ".join(f"{score!r}" for score in one.tolist()) for one in (found.scores, after)]
        code = said.code_options(method, epsilon, found.sensitivity, one_way, *listed)
    return [
        Text(said.look(epsilon, kept.most, broken.most)),
        Ask((who, wrong)),
        Picture(
            key="selection-one-person",
            figure=lambda dark: option_worlds(
                words.labels(names),
                worlds.before[order],
                worlds.after[order],
                drawn,
                epsilon,
                said.words(epsilon),
                dark=dark,
            ),
            alt=said.options_alt(names, worlds.before[order].tolist(), worlds.after[order].tolist(), kept.most),
            data=lambda: pd.DataFrame(
                {
                    "option": list(found.names),
                    "without": worlds.before,
                    "with": worlds.after,
                    "log ratio": kept.ratio,
                    "log ratio broken": broken.ratio,
                }
            ),
            code=code,
        ),
    ]


def _moved(found: Candidates, chosen: int, rival: int, one_way: bool) -> FloatArray:
    """Scores with one person more who chooses ``chosen``, one who changes over from ``rival``, or one as bad as can be
    where a person moves every score either way."""
    after = found.scores.copy()
    after[chosen] += found.sensitivity
    if found.one_way and not one_way:
        after[rival] -= found.sensitivity
    elif not found.one_way:
        others = np.arange(after.size) != chosen
        after[others] -= found.sensitivity
    return after


def quantile_blocks(
    case: Case, read: Read, quantile: Quantile, values: FloatArray, column: str, unit: str
) -> Sequence[Block]:
    """A quantile with and without one more person at a value that is typed."""
    low, high = quantile.low, quantile.high
    where = Number(
        key=slug("one_value", case.source.key, column),
        label=said.VALUE,
        default=high,
        low=low,
        high=high,
        step=float(f"{(high - low) / 50:.1g}"),
        linked=case.source.public,
    )
    value = read(where, "tab")
    replaced = quantile.relation == "replace_one"
    other = np.append(values[:-1] if replaced else values, value)
    key = ("one value", case.table.fingerprint, column, repr(quantile), value)
    worlds = case.keeping(4.0 * values.size)(key, lambda: quantile_worlds(quantile, values, other))
    pair = Pair.of(worlds)
    edges = worlds.edges
    if edges is None:
        raise TypeError("the two worlds of a quantile are over intervals")
    middles = (edges[:-1] + edges[1:]) / 2.0
    place = words.number(float(middles[int(np.argmax(np.abs(pair.ratio)))]))
    code = None
    if values.size <= MOST_CODE and not replaced:
        settings = (
            f"epsilon={quantile.epsilon!r}, low={low!r}, high={high!r}, q={quantile.q!r}, "
            f"relation={quantile.relation!r}, rows_per_person={quantile.rows_per_person!r}, points={quantile.points!r}"
        )
        code = said.code_quantile(", ".join(f"{one:g}" for one in values.tolist()), value, settings)
    return [
        Text(said.quantile_look(quantile.epsilon, pair.most, value, unit)),
        Ask((where,)),
        Picture(
            key="quantile-one-person",
            figure=lambda dark: place_worlds(
                middles,
                worlds.before,
                worlds.after,
                {"kept": pair.ratio},
                quantile.epsilon,
                said.words(quantile.epsilon, said.DENSITY_AXIS),
                x_title=words.html(unit or column),
                steps=True,
                dark=dark,
            ),
            alt=said.places_alt(quantile.epsilon, pair.most, None, place),
            data=lambda: pd.DataFrame(
                {
                    "from": edges[:-1],
                    "to": edges[1:],
                    "without": worlds.before,
                    "with": worlds.after,
                    "log ratio": pair.ratio,
                }
            ),
            code=code,
        ),
    ]
