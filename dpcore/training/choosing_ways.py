"""The ways to build a model on steps that can be chosen among, and what choosing costs: public constants all."""

from __future__ import annotations

from dpcore.errors import InvalidArgument
from dpcore.training.choosing_pairs import CHOSEN
from dpcore.training.features import Features
from dpcore.training.pairable import possible_pairs
from dpcore.training.uncut import is_bought

FREE, COARSE, BOUGHT, PAIRED = "public cuts", "coarse cuts", "bought cuts", "bought pairs"
WAYS = (FREE, COARSE, BOUGHT, PAIRED)
WAYS_SHARE, PICK_SHARE = 0.1, 0.1
"""Of 1/σ², or of ρ, what choosing has, and of that the draw: fixed for every table."""
TRIAL_STEPS = 60


def possible_ways(features: Features) -> tuple[str, ...]:
    """Those that the declarations allow, always in the same order."""
    return tuple(way for way in WAYS if _allowed(features, way))


def features_for(features: Features, way: str) -> Features:
    """``features`` as a way needs them, whatever their cuts were.

    Raises InvalidArgument where the declarations do not allow it.
    """
    if way == BOUGHT:
        return features.uncut
    return features.coarse if way == COARSE else features.bare.stepped


def _allowed(features: Features, way: str) -> bool:
    """Whether a way can be had, and differs from the first, by what is declared alone."""
    try:
        used = features_for(features, way)
        if way == PAIRED:
            possible_pairs(used, CHOSEN)
    except InvalidArgument:
        return False
    return used != features.bare.stepped if way == COARSE else way != BOUGHT or any(map(is_bought, used.columns))
