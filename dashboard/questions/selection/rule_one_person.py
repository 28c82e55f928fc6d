"""Change one person: how likely each rule is chosen in two worlds that differ in what one person is like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.case import Case
from dashboard.charts.worlds import OFFERED, SHOWN, Pair, option_worlds
from dashboard.controls import Choice, Read, slug
from dashboard.questions.selection.learned import Learned
from dashboard.questions.selection.one_person import MOST_CODE
from dashboard.words import change_one as said
from dpcore.selection import catalog, choice_worlds
from dpcore.selection.laws import Selector
from dpcore.two_worlds import TwoWorlds

BROKEN = Choice(
    key="rule_broken",
    label=said.BROKEN,
    options=tuple(said.BROKEN_NAMES),
    names=said.BROKEN_NAMES,
    default="three_rows",
)


def blocks(case: Case, read: Read, learned: Learned, target: str, method: str, mechanism: Selector) -> Sequence[Block]:
    """The choice among the rules of ``learned`` before and after, and a broken version beside it.

    The person is right by one rule alone. Where they come, every other rule gets one mistake more; where they change,
    they were right by all others before, and that is as much as one person can do either way.
    """
    scores = -learned.errors
    best = np.argsort(learned.errors, kind="stable")
    offered = tuple(int(place) for place in best[:OFFERED])
    which = Choice(
        key=slug("rule_right_by", case.source.key, target),
        label=said.RIGHT_BY,
        options=offered,
        names=lambda place: words.visible(learned.names[place], 60),
        default=offered[min(1, len(offered) - 1)],
        linked=case.source.public,
    )
    chosen, variant = read(which, "tab"), read(BROKEN, "tab")
    comes = mechanism.monotonic
    after = scores - mechanism.sensitivity
    after[chosen] = scores[chosen] if comes else scores[chosen] + mechanism.sensitivity
    name = ("rule one person", case.table.fingerprint, target, learned.names, repr(mechanism), chosen)
    kept = case.memo(name, lambda: Pair.of(choice_worlds(mechanism, scores, after)))

    def break_it() -> Pair:
        other, moved = mechanism, scores + 3.0 * (after - scores)
        if variant == "both_ways":
            other = catalog()[method](epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity, monotonic=True)
            moved = scores - mechanism.sensitivity
            moved[chosen] = scores[chosen] + mechanism.sensitivity
        laws = [other.probabilities(one) for one in (scores, moved)]
        return Pair.of(TwoWorlds(before=laws[0], after=laws[1], promised=mechanism.epsilon))

    broken = case.memo((*name, variant), break_it)
    order = [*offered[:SHOWN], *([chosen] if chosen not in offered[:SHOWN] else [])]
    called = [learned.names[place] for place in order]
    worlds = kept.worlds
    code = None
    if scores.size <= MOST_CODE:
        listed = [", ".join(f"{score!r}" for score in one.tolist()) for one in (scores, after)]
        code = said.code_options(method, mechanism.epsilon, mechanism.sensitivity, comes, *listed)
    return [
        Text(said.look(mechanism.epsilon, kept.most, broken.most)),
        Ask((which, BROKEN)),
        Picture(
            key="rule-one-person",
            figure=lambda dark: option_worlds(
                words.labels([said.short_rule(name) for name in called], 24),
                worlds.before[order],
                worlds.after[order],
                {"kept": kept.ratio[order], "broken": broken.ratio[order]},
                mechanism.epsilon,
                said.words(mechanism.epsilon),
                dark=dark,
            ),
            alt=said.options_alt(called, worlds.before[order].tolist(), worlds.after[order].tolist(), kept.most),
            data=lambda: pd.DataFrame(
                {
                    "rule": list(learned.names),
                    "without": worlds.before,
                    "with": worlds.after,
                    "log ratio": kept.ratio,
                    "log ratio broken": broken.ratio,
                }
            ),
            code=code,
        ),
        Small(said.RULE_COMES if comes else said.RULE_CHANGES),
    ]
