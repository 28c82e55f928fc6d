"""The pictures of the most common option: how it is drawn, What if, all methods, one person, and the theorem."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dashboard import words
from dashboard.blocks import Ask, Block, Formula, Keep, Picture, Small, Text, Undo
from dashboard.charts.draws import noisy_race
from dashboard.charts.laws import chances
from dashboard.charts.promise import Line
from dashboard.charts.theme import colours
from dashboard.promise import Promise, along
from dashboard.questions.selection import one_person
from dashboard.questions.selection.most_common_controls import EDITABLE, METHODS, NAMES
from dashboard.questions.selection.most_common_setting import Setting
from dashboard.usual import people, questions
from dashboard.view import View
from dashboard.words import most_common as said
from dashboard.words import promise
from dpcore.selection import FiniteClass, FreeGap
from dpcore.theorems import theorems
from dpcore.validate import FloatArray, Neighbours

DRAWS, SHOWN = 12, 8


def how(setting: Setting, view: View) -> Sequence[Block]:
    """The mechanism as it runs, one formula, and its source."""
    edited, kind = setting.edited, METHODS[setting.main]
    mechanism = kind(
        epsilon=setting.epsilon / setting.questions,
        sensitivity=edited.sensitivity,
        monotonic=setting.relation == "add_remove" and edited.one_way,
    )
    order = np.argsort(-edited.scores, kind="stable")[:SHOWN]
    rng = np.random.Generator(np.random.PCG64(setting.seed))
    noise = mechanism.noise(edited.scores.size, rng, DRAWS)[:, order]
    winners = [edited.names[order[place]] for place in np.argmax(edited.scores[order] + noise, axis=1)]
    race = Picture(
        key="selection-race",
        figure=lambda dark: noisy_race(
            words.labels([edited.names[place] for place in order]),
            edited.scores[order],
            noise,
            unit=edited.unit,
            dark=dark,
        ),
        alt=said.race_alt(DRAWS, winners),
    )
    gap = []
    if setting.main == "permute_and_flip":
        free = FreeGap(epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity, monotonic=mechanism.monotonic)
        gap = [Small(said.free_gap(free.mean_gap(edited.scores), edited.unit))]
    return [
        Text(said.method_in_use(kind.about)),
        race,
        *gap,
        Formula(latex=kind.about.formula, source=said.source(edited.sensitivity, kind.about.source)),
    ]


def what_if(setting: Setting, view: View, right: float) -> Sequence[Block]:
    """What the picture depends on, edited in place."""
    shared = questions("what_if_questions")
    factor = people("what_if_factor", said.as_many(setting.as_is.unit))
    controls = (*((factor,) if setting.as_is.counted else ()), shared)
    least = view.needed().epsilon
    more = len(setting.as_is.names) - EDITABLE
    return [
        Text(said.what_if(setting.changed)),
        Ask((setting.counts,)),
        Ask(controls),
        Undo(label=said.BACK, controls=(setting.counts, *controls), enabled=setting.changed),
        *([Small(said.largest(EDITABLE, len(setting.as_is.names)))] if more > 0 else []),
        Keep(
            current=(
                ("ε", words.number(setting.epsilon)),
                (view.size_word, words.whole(view.size)),
                ("questions", str(setting.questions)),
                (view.scale.title, words.number(view.at(setting.main) * view.scale.factor)),
                ("ε needed", "none" if least is None else words.number(least)),
            )
        ),
    ]


def compare(setting: Setting, view: View) -> Sequence[Block]:
    """Every method's chances side by side, and why the noisy-counts idea costs so much."""
    edited, problem = setting.edited, setting.problem(setting.edited, setting.questions)
    order = np.argsort(-edited.scores, kind="stable")[:SHOWN]
    laws = {key: problem.law(key, setting.epsilon) for key in METHODS}
    right = {key: float(law[edited.best].sum()) for key, law in laws.items()}
    return [
        Text(said.which_one(right, setting.main)),
        Picture(
            key="selection-chances",
            figure=lambda dark: chances(
                words.labels([edited.names[place] for place in order]),
                {key: law[order] for key, law in laws.items()},
                NAMES,
                colours(view.everything, dark),
                dark=dark,
            ),
            alt=said.chances_alt({NAMES[key]: chance for key, chance in right.items()}),
        ),
        Text(said.why_not_all(len(edited.names), right, edited.one_way and setting.relation == "add_remove")),
    ]


def two_worlds(setting: Setting) -> Sequence[Block]:
    """Two worlds that differ in one person."""
    share = setting.epsilon / setting.questions
    return one_person.choice_blocks(setting.case, setting.read, setting.edited, setting.main, setting.relation, share)


def theory(setting: Setting, view: View) -> Sequence[Block]:
    """The utility theorem against people up to 10⁹, what is true of the worst scores, and of these."""
    edited, problem = setting.edited, setting.problem(setting.edited, setting.questions).central
    one_way = setting.relation == "add_remove" and edited.one_way
    share, size = setting.epsilon / setting.questions, edited.scores.size
    mechanism = METHODS[setting.main](epsilon=share, sensitivity=edited.sensitivity, monotonic=one_way)
    relation: Neighbours = "add_remove" if one_way else "replace_one"
    slack = math.log(size / setting.beta)
    x = along(10.0, max(1e9, 10 * view.size))

    def exact() -> tuple[float, FloatArray]:
        finite = FiniteClass(epsilon=share, relation=relation, method=setting.main)
        lead = finite.worst_lead(size, setting.beta) * edited.sensitivity
        loss = problem.evaluate(setting.main, "expected_loss", np.full(x.size, setting.epsilon), x).value
        return lead, np.asarray(loss / x)

    lead, loss = setting.case.memo((*view.identity, "theory", setting.main, setting.epsilon, setting.questions), exact)
    return Promise(
        key="selection-theory",
        theorem=theorems()["selection_utility"],
        axis="n",
        x=x,
        settings={
            "k": size,
            "epsilon": share,
            "beta": setting.beta,
            "sensitivity": edited.sensitivity,
            "c": mechanism.utility_bound(size, setting.beta) * share / (edited.sensitivity * slack),
        },
        chosen=view.size,
        truth=100.0 * lead / view.size,
        truth_name=promise.WORST,
        exact=(
            Line(key="worst", name=promise.WORST, x=x, values=100.0 * lead / x),
            Line(key="here", name=promise.AVERAGE, x=x, values=100.0 * loss),
        ),
        x_title=promise.PEOPLE,
        y_title=promise.short_of_best(view.size_word),
        unit=promise.of_100(view.size_word),
        factor=100.0,
        share=True,
    ).blocks()
