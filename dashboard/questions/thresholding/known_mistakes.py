"""Versions of the method that give away more than they promise, and the attacker's odds against each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.blocks import Ask, Block, Picture, Text
from dashboard.case import Case
from dashboard.charts.alarms import odds
from dashboard.controls import Choice, Number, Read
from dashboard.view import EPSILON_HIGH, EPSILON_LOW
from dashboard.words import alarm as said
from dpcore.thresholding import broken_catalog
from dpcore.validate import FloatArray


def blocks(case: Case, read: Read) -> Sequence[Block]:
    """One mistake: what it is, and what it gives away against what it promises."""
    variants = broken_catalog()
    which = Choice(
        key="broken",
        label=said.MISTAKE,
        options=tuple(variants),
        names={key: variant.label for key, variant in variants.items()},
        default=next(iter(variants)),
    )
    variant = variants[read(which, "tab")]
    many = Number(
        key="broken_size",
        label=f"{said.MISTAKE_SIZE}: {variant.size_word}",
        default=4.0,
        low=1.0,
        high=200.0,
        whole=True,
    )
    size = int(read(many, "tab"))
    levels = np.geomspace(EPSILON_LOW, EPSILON_HIGH, 31)

    def make() -> list[FloatArray]:
        verdicts = [variant.verdict(float(level), size) for level in levels]
        return [np.array([getattr(v, part) for v in verdicts]) for part in ("promised_odds", "right_odds", "odds")]

    promised, honest, broken = case.memo(("broken", variant.name, size), make)
    now = case.memo(("broken", variant.name, size, case.epsilon), lambda: variant.verdict(case.epsilon, size))
    return [
        Text(said.MISTAKES_INTRODUCTION),
        Ask((which, many)),
        Text(said.mistake(variant.label, variant.fault, variant.source)),
        Text(said.mistake_odds(now, case.epsilon)),
        Picture(
            key="thresholding-broken",
            figure=lambda dark: odds(levels, promised, honest, broken, names=said.ODDS_NAMES, dark=dark),
            alt=said.mistake_alt(variant.label, now.odds),
        ),
    ]
