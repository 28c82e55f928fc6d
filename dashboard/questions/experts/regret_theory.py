"""The textbook's theorems about regret on logarithmic axes, beside exact regret on the losses at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dashboard.blocks import Block
from dashboard.case import Case
from dashboard.charts.promise import Line
from dashboard.promise import Promise, along
from dashboard.questions.experts.followed import Followed
from dashboard.words import promise as said
from dpcore.experts import ExpertsProblem, catalog
from dpcore.experts.batched import Batched
from dpcore.theorem import Theorem
from dpcore.theorems import theorems
from dpcore.validate import FloatArray

MOST_ROUNDS = 1e6
MOST_LOSSES = 2_000_000
"""Losses that exact regret goes over: rounds × experts."""
PLACES = 15
BOOK = "textbook"


def blocks(
    case: Case, whom: Followed, problem: ExpertsProblem, main: str, name: str, epsilon: float
) -> Sequence[Block]:
    """Theorem 11.3 with 11.4, 11.1 and the bound without privacy beside it, all in points per 100 rounds."""
    plain = replace(problem, assumption="independent", band=0.0)
    longest = min(problem.longest_for(BOOK), max(problem.n, MOST_LOSSES // problem.experts), int(MOST_ROUNDS))
    lengths = np.unique(np.rint(np.geomspace(10, longest, PLACES)))
    places = np.union1d(lengths, [float(problem.n)])

    def exact(key: str) -> FloatArray:
        made = plain.evaluate(key, "regret_per_round", np.full(places.size, epsilon), places)
        return np.asarray(100.0 * made.value)

    key = ("regret theory", *whom.key, problem.delta, epsilon)
    book = case.memo((*key, BOOK), lambda: exact(BOOK))
    lines = [Line(key=BOOK, name=said.strategy(catalog()[BOOK].about.name), x=places, values=book)]
    if main != BOOK and not hasattr(catalog()[main], "largest") and places[-1] <= plain.longest_for(main):
        used = case.memo((*key, main), lambda: exact(main))
        lines.append(Line(key=main, name=said.strategy(name), x=places, values=used))
    known = theorems()
    beside = []
    if main == Batched.key:
        beside.append(case.memo((*key, "held"), lambda: _held(known["held"], plain, epsilon, places)))
    private = {"experts": float(problem.experts), "epsilon": epsilon, "delta": problem.delta}
    free = {"experts": float(problem.experts)}
    return Promise(
        key="experts-theory",
        theorem=known["11.3"],
        axis="rounds",
        x=along(10.0, max(MOST_ROUNDS, float(problem.n))),
        settings=private,
        chosen=float(problem.n),
        truth=float(book[np.flatnonzero(places == float(problem.n))[0]]),
        truth_name=lines[0].name,
        exact=tuple(lines),
        also=(
            (known["11.4"], {**private, "beta": problem.beta}),
            (known["11.1"], free),
            (known["hedge"], free),
        ),
        beside=tuple(beside),
        x_title=said.rounds(whom.units),
        y_title=said.per_100(whom.units),
        unit=said.points(whom.units),
        factor=100.0,
        share=True,
    ).blocks()


def _held(theorem: Theorem, problem: ExpertsProblem, epsilon: float, places: FloatArray) -> Line:
    """The theorem about held plays, where each length of the series has its own rate and its own hold."""
    runs = [
        Batched.at(epsilon=epsilon, delta=problem.delta, rounds=int(length), experts=problem.experts)
        for length in places
    ]
    total = theorem.value(
        learning_rate=np.array([run.rate for run in runs]),
        rounds=places,
        experts=float(problem.experts),
        hold=np.array([float(run.held) for run in runs]),
    )
    return Line(
        key=theorem.key,
        name=theorem.name,
        x=places,
        values=100.0 * total / places,
        bound=True,
        hover=said.hover(theorem),
    )
