"""What is proved of how much a drawn model leans on the rows it was made from."""

from __future__ import annotations

from dashboard.usual import RELATIONS
from dashboard.words import hits as said
from dpcore.releases.steps_chosen import UNCOVERED
from dpcore.training.confusion import lean
from dpcore.training.model import LinearModel


def leaning(model: LinearModel, *, alone: bool) -> float | str:
    """The bound by its ρ, below 1, only where that is all that ties the model to its rows; else in words why none is.

    It is not where its notes say that ε does not cover something, or that words of the file are its options, where it
    is of a version that noted nothing, or where it is not ``alone``: of several that were drawn the one that is kept
    may be the one that is right most often here.
    """
    about = model.about
    rho, hidden, notes = (about.get(name) for name in ("rho", "neighbours", "notes"))
    if not isinstance(rho, (int, float)) or hidden not in RELATIONS or not isinstance(notes, (list, tuple)):
        return said.USELESS
    if any(UNCOVERED in str(note) for note in notes) or about.get("words_from_file"):
        return said.OUTSIDE
    if not alone:
        return said.SEVERAL
    most = lean(float(rho), hidden)
    return most if most < 1.0 else said.USELESS
