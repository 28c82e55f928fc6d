"""Words on the controls that several questions share."""

from __future__ import annotations

from dpcore.ledger.words import hides
from dpcore.validate import Neighbours

SEED = "Seed of the pictures"
SEED_HELP = "Simulated draws repeat exactly for the same seed. Private answers never use it."
BETA = "Chance that the theorem's promise fails (β)"
BETA_HELP = "Theorems promise an accuracy except with this small chance."
SAMPLING = "Show what other people of the same kind would have given (sampling error)"
SAMPLING_HELP = "A second error besides the noise: your people are themselves a draw. Shaded: 80 in 100 draws."
BAND = (
    "Shaded: range of what you might see if as many other people of the same kind had come. "
    "That is sampling error, apart from the privacy noise, which the line itself holds."
)
NEIGHBOURS = "Who is hidden: two data sets count as neighbours when they differ by"
NEIGHBOURS_HELP = "With one person added or removed, counts can only move one way, which often allows half the noise."
QUESTIONS = "How many such questions share this ε"
QUESTIONS_HELP = "Several questions about the same people share one budget, so each gets a smaller part of ε."


def relation(neighbours: Neighbours) -> str:
    return hides(neighbours)
