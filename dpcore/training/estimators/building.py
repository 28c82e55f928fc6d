"""How a model is built from a table as declared: one setting of it, or the way that does best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.training.choosing_pairs import CHOSEN, PAIRS_SHARE, choose_pairs
from dpcore.training.choosing_ways import BOUGHT, COARSE, FREE, PAIRED, PICK_SHARE, TRIAL_STEPS
from dpcore.training.chosen_steps import ChosenSteps, score
from dpcore.training.coded import CodedRows
from dpcore.training.declared import Declared
from dpcore.training.encoding import coded
from dpcore.training.paid_cuts import CUTS_SHARE
from dpcore.training.pairs import Pair, all_pairs, declared_pairs
from dpcore.training.scaled_descent import ScaledDescent, ScaledFit
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be tried: the learning rate, how many levels of cuts, from the coarsest on, columns have, whether cuts
    are bought, and how many pairs are."""

    rate: float | None = None
    levels: int | None = None
    bought: bool = False
    pairs: int = 0


ONE_WAY = Setting()
WAYS = {FREE: ONE_WAY, COARSE: Setting(levels=1), BOUGHT: Setting(bought=True), PAIRED: Setting(pairs=CHOSEN)}


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A private model of one setting: its columns, with the cuts that were bought, its pairs, its rows, and what was
    fitted on them."""

    columns: dict[Any, Declared]
    pairs: tuple[Pair, ...]
    rows: CodedRows
    fitted: ScaledFit


def cuts_share(declared: Mapping[Any, Declared]) -> float:
    """What buying cuts takes of 1/σ²."""
    return CUTS_SHARE if any(column.paid for column in declared.values()) else 0.0


def pairs_share(pairs: Any) -> float:
    """What choosing pairs takes of 1/σ²: nothing where they are declared."""
    return PAIRS_SHARE if isinstance(pairs, int) else 0.0


def ways(declared: Mapping[Any, Declared]) -> dict[str, Setting]:
    """The ways that the declarations allow."""
    columns = [column.encoding for column in declared.values()]
    cut = [len(column.levels) for column in columns]
    possible = {FREE: True, COARSE: any(many > 1 for many in cut), BOUGHT: any(cut), PAIRED: bool(all_pairs(columns))}
    return {way: setting for way, setting in WAYS.items() if possible[way]}


def buy_cuts(
    frame: pd.DataFrame, declared: Mapping[Any, Declared], method: ScaledDescent, rng: Generator
) -> dict[Any, Declared]:
    """The columns with their paid cuts, all bought in one Gaussian release with the method's ``cuts_share``."""
    paid = sum(column.paid for column in declared.values())
    return {
        name: column.bought(frame[name], noise=method.cuts_noise, columns=paid, rng=rng) if column.paid else column
        for name, column in declared.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class Building:
    """What models are built of: a table, what is declared of its columns, the places of the rows that are ``kept``,
    their ``answers``, the ``pairs`` that are declared by name, or how many are to be chosen, and a generator."""

    frame: pd.DataFrame
    declared: Mapping[Any, Declared]
    kept: IntArray
    answers: FloatArray
    pairs: list[list[str]] | int
    rng: Generator

    def built(self, method: ScaledDescent, setting: Setting = ONE_WAY) -> Built:
        """A model of one setting by all of the ``method``'s budget."""
        declared = self.declared
        columns = {name: column.to_be_bought() for name, column in declared.items()} if setting.bought else declared
        pairs = setting.pairs or self.pairs
        own = replace(method, rate=setting.rate, cuts_share=cuts_share(columns), pairs_share=pairs_share(pairs))
        bought = buy_cuts(self.frame, columns, own, self.rng)
        cut = {name: column.at_levels(setting.levels) for name, column in bought.items()}
        encodings = [column.encoding for column in cut.values()]
        typed = [column.typed(self.frame[name])[self.kept] for name, column in cut.items()]
        if isinstance(pairs, int):
            chosen = choose_pairs(own, encodings, typed, self.answers, many=pairs, rng=self.rng)
        else:
            chosen = declared_pairs(encodings, pairs)
        rows = coded(encodings, typed, pairs=chosen)
        return Built(cut, chosen, rows, own.fit(rows, self.answers, self.rng))

    def best(self, method: ScaledDescent) -> tuple[str, Built]:
        """The way that does best, drawn and then built, each with its part of 1/σ²: see ``ChosenSteps``."""
        fields = ("epsilon", "delta", "loss", "steps", "classes", "neighbours")
        choice = ChosenSteps(**{name: getattr(method, name) for name in fields})
        settings = ways(self.declared)
        share = choice.ways_share * (1.0 - PICK_SHARE) / len(settings)
        trial = replace(choice.with_share(share).descent(), steps=min(method.steps, TRIAL_STEPS))
        scores = []
        for setting in settings.values():
            tried = self.built(trial, setting)
            margins = tried.rows.margins(tried.fitted.weights[0]).astype(np.float64) * tried.fitted.factors[0]
            scores.append(score(method.loss, margins, self.answers))
        way = list(settings)[int(choice.mechanism.sample(np.array(scores), self.rng, 1)[0])]
        return way, self.built(choice.with_share(1.0 - choice.ways_share).descent(), settings[way])
