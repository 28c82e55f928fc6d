"""The pictures of following experts: whom over time, one run, What if, all strategies compared, and the theorems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Block, Formula, Keep, Note, Picture, Rows, Slow, Small, Text
from dashboard.charts.experts import life, ribbon
from dashboard.questions.experts import follow_controls as controls
from dashboard.questions.experts import one_day, regret_theory
from dashboard.questions.experts.follow_controls import NON_PRIVATE
from dashboard.questions.experts.follow_setting import Setting
from dashboard.view import View
from dashboard.words import follow as said
from dpcore.experts import Strategy, catalog, running_regret
from dpcore.validate import FloatArray

LONGEST_RUN = 20_000
Run = tuple[np.ndarray, FloatArray, FloatArray]


def whom(setting: Setting) -> Picture:
    """Whom the strategy follows over time."""
    weights, names = setting.weights(), setting.whom.losses.names
    shown = words.labels(names)
    return Picture(
        key="experts-ribbon",
        figure=lambda dark: ribbon(shown, weights, rounds=setting.problem.n, time=setting.whom.unit, dark=dark),
        alt=said.whom_alt(names[int(np.argmax(weights[-1]))]),
        data=lambda: pd.DataFrame(weights, columns=list(names)),
        note=said.WHOM_NOTE,
    )


def one_run(setting: Setting) -> Sequence[Block]:
    """Plays, losses and running regret of one simulated run, and how the strategy in use works."""
    about, values = catalog()[setting.main].about, setting.losses
    how: list[Block] = [Text(said.method_in_use(about))]
    formula = Formula(latex=about.formula, source=about.source)
    if len(values) > LONGEST_RUN:
        return [*how, Note(said.too_long(LONGEST_RUN, len(values), setting.whom.units)), formula]
    key = (*setting.identity, "run", setting.main, setting.epsilon, setting.seed)
    asked = (setting.strategy, values, setting.seed)
    if setting.large:
        slow = Slow(
            slot="experts-run",
            key=key,
            work=_run,
            common=lambda: asked,
            show=lambda found: _shown_run(setting, found),
            what=said.EVALUATING,
        )
        return [*how, slow, formula]
    return [*how, *_shown_run(setting, setting.case.memo(key, partial(_run, asked))), formula]


def _shown_run(setting: Setting, found: Run) -> Sequence[Block]:
    plays, regret, expected = found
    names = setting.whom.losses.names
    end, average, last = float(regret[-1]), float(expected[-1]), int(plays[-1])
    shown = words.labels(names)
    return [
        Picture(
            key="experts-life",
            figure=lambda dark: life(shown, plays, regret, expected, time=setting.whom.unit, dark=dark),
            alt=said.run_alt(end, average),
            data=lambda: pd.DataFrame({"followed": [names[play] for play in plays], "lost_more": regret}),
            note=said.run_note(
                setting.seed, end, average, names[last], float(setting.weights()[-1][last]), setting.whom.unit
            ),
        )
    ]


def what_if(setting: Setting, view: View) -> Sequence[Block]:
    """Scenarios; the story itself is edited where the experts are chosen."""
    least = view.needed().epsilon
    return [
        Text(said.what_if(setting.whom.scenario is not None)),
        Keep(
            current=(
                ("ε", words.number(setting.epsilon)),
                (setting.whom.units, words.whole(setting.problem.n)),
                ("experts", str(setting.problem.experts)),
                ("strategy", setting.problem.labels[setting.main]),
                (view.scale.title, words.number(view.at(setting.main) * view.scale.factor)),
                ("ε needed", "none" if least is None else words.number(least)),
            )
        ),
    ]


def compare(setting: Setting) -> Sequence[Block]:
    """Every strategy at the chosen ε, and what must hold for it to lose little."""
    problem, units = setting.problem, setting.whom.units
    widest = replace(problem, assumption="independent", band=0.0)
    here = np.array([setting.epsilon]), np.array([float(problem.n)])
    columns = said.compared_columns(units)
    rows: list[tuple[float, tuple[str, ...]]] = [
        (0.0, (said.BEST_ROW, "0", "", "", "")),
        (setting.at_random, (said.RANDOM_ROW, words.number(100 * setting.at_random), "", "", "")),
    ]
    for key, kind in catalog().items():
        if key not in widest.methods:
            continue
        lost = setting.case.memo(
            (*setting.identity, "compared", key, setting.epsilon),
            partial(controls.one_value, widest, key, "regret_per_round", *here),
        )
        private = said.NOT_PRIVATE if key == NON_PRIVATE else said.RELEASED[kind.about.release is not None]
        about = kind.about
        row = (about.name, words.number(100 * lost), said.GOOD_WHEN[kind.assumption], private, about.plain)
        rows.append((lost, row))
    frame = pd.DataFrame([row for _, row in sorted(rows, key=lambda one: one[0])], columns=list(columns))
    # Theorem 11.3's rate ε/√(32 T ln(1/δ)) passes the bound's own best √(ln k/T) here
    turn = math.sqrt(32 * math.log(1 / problem.delta) * math.log(problem.experts))
    return [
        Text(said.comparison(setting.epsilon, problem.delta, units)),
        Rows(frame=frame, alt=said.COMPARED_ALT),
        *([Small(said.overshoot(turn))] if turn <= 100.0 else []),
    ]


def theory(setting: Setting) -> Sequence[Block]:
    """The textbook's theorems against rounds up to 10⁶, and what its strategy and the one in use really lose."""
    name = catalog()[setting.main].about.name
    return regret_theory.blocks(setting.case, setting.whom, setting.problem, setting.main, name, setting.epsilon)


def two_worlds(setting: Setting) -> Sequence[Block]:
    """Two worlds that differ in one day."""
    return one_day.blocks(setting.case, setting.read, setting.whom, setting.problem, setting.epsilon)


def _run(asked: tuple[Strategy, FloatArray, int], _: None = None) -> Run:
    """One simulated run: the plays, its running regret, and the average of that over runs."""
    strategy, values, seed = asked
    plays = strategy.play(values, np.random.Generator(np.random.PCG64(seed)))
    suffered = np.cumsum((strategy.weights(values) * values).sum(axis=1))
    best = np.cumsum(values, axis=0, dtype=np.float64).min(axis=1)
    return plays, running_regret(values, plays), suffered - best
