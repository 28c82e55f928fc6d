"""Every term of the field that a page uses, in one line each: one place, shown behind one button on every page.

The names of methods come from the methods themselves (``About``), so that a new one is explained by being there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from dpcore import experts, selection, thresholding, training
from dpcore.about import About
from dpcore.experts import linear
from dpcore.thresholding import ways

TITLE, FIND = "What the words mean", "Find a word"
LONGEST_SOUGHT = 60
"""Characters of a word to find; no term is longer."""
LOSS = "How much an answer may depend on the one it protects  \nmore privacy ⟵ ⟶ more accuracy"
"""Said under the slider of ε: one phrase for who never opens the words."""
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "ε": "epsilon, the privacy loss: how much an answer may depend on any one person. Smaller hides better.",
        "δ": "delta: a tiny chance by which a guess may be right more often than ε alone allows.",
        "ρ": "rho: what a small answer costs where a budget counts many small answers together.",
        "α": "alpha: how far from the line, or from the best, an answer may lie.",
        "β": "beta: the small chance with which a theorem's promise of accuracy may fail.",
        "Δ": "how much one person can change a score at most.",
        "σ": "sigma: the size of the noise.",
        "η": "eta: how long a step of a descent is.",
        "λ": "lambda: how strongly a regulariser pulls.",
        "τ": "tau: how far off one answer of an oracle may be.",
        "Noise": "random numbers added so that nobody can tell one person's part in an answer.",
        "Private answer": "an answer with noise. It may be shown, as it hides every one person up to ε.",
        "Privacy budget": "the ε that all answers about the same people may use together.",
        "Receipt": "the record of an answer: the question, its cost and its time, sealed against changes.",
        "Practice": "private answers about sample data; their budget can be reset.",
        "Theorem": "a proof of how good an answer is at least, whatever the data. The truth is often much better.",
        "Textbook": "Dwork and Roth, The Algorithmic Foundations of Differential Privacy, 2014.",
        "Simulated": "tried out with made-up noise, many times. Calculated means exact, without trying.",
        "Seed": "a number that makes a simulation come out the same again.",
        "Sampling error": "what would differ had other people come; it has nothing to do with privacy.",
        "Neighbours": "two tables that differ in one person; an answer must look much the same on both.",
        "Regret": "what a rule lost more than the best expert, who is known only afterwards.",
        "Points": "what a bad day costs: 0 at best, 1 at worst.",
        "Expert": "anything that can be followed, such as a forecaster or a share.",
        "Follow the leader": "doing what was best so far.",
        "False alarm": "an alarm before the line was reached.",
        "Missed": "no alarm although the line was reached.",
        "Gradient descent": "learning in small steps, each towards a better model.",
        "Clipping": "shortening what one row asks for, so that nobody counts more than others.",
        "Regulariser": "a price on long weights, which pulls them to 0.",
        "Overfitting": "learning rows by heart, so that new rows are predicted worse.",
        "Batch": "the few rows that one step of learning looks at.",
        "Ball": "all numbers, or models, up to a given length; an answer is chosen among them.",
        "Lipschitz constant": "how steep one row's loss can be at most.",
        "Loss": "how badly a model fits; smaller is better.",
        "Excess risk": "how much worse a model fits than the best one does.",
        "Squared error": "the square of how far a prediction is off, on average; smaller is better.",
        "Weight": "how much a column counts in a model.",
        "Quantile": "the value below which a given share of people lies; the median has half below it.",
        "PAC": "probably approximately correct: a theorem on how many people learning takes.",
        "Agnostic, realizable": "whether no rule need be perfect, or some rule never errs.",
        "zCDP": "a way to add up many small answers, which keeps one number for each, ρ.",
        "RDP": "a way to add up answers, which keeps a curve for each (Rényi divergences).",
        "PLD": "a way to add up answers exactly, by all that each can give away.",
        "Composition": "what several answers cost together.",
        "Twin": "rows simulated from what you declared; no row of a file is used.",
        "What if": "pictures made from the file itself. They are not private.",
        "CSV": "a table as plain text, which any spreadsheet opens.",
        "DP": "differential privacy, the promise that ε measures.",
        "JSON": "a small text file that programs read.",
        "DOI": "the lasting address of a paper or a table.",
    }
)
"""Terms in the order in which they are listed; methods follow."""
_GREEK = re.compile("[α-ωΑ-ΩϵΔΣ]")
_INITIALS = re.compile(r"\b[A-Za-z]?[A-Z]{2,}[A-Za-z]*\b")
KNOWN_INITIALS = frozenset(
    {"US", "UTC", "UCI", "UK", "CC", "BY", "MIT", "FOCS", "STOC", "PODS", "KDD", "ICML", "COLT", "TCC", "SIAM", "VLDB"}
)
"""Initials that are no terms: places, times, licences, and where papers were published."""


def methods() -> dict[str, About]:
    """Every method of every question by its name."""
    kinds: list[Any] = [
        *selection.catalog().values(),
        *experts.catalog().values(),
        *training.catalog().values(),
        *thresholding.catalog().values(),
        *ways.catalog().values(),
        *linear.catalog().values(),
    ]
    return {kind.about.name: kind.about for kind in kinds}


@cache
def listed() -> str:
    """The whole glossary as Markdown, one line a term."""
    terms = [f"- **{term}**: {line}" for term, line in TERMS.items()]
    named = [f"- **{name}**: {about.plain}." for name, about in sorted(methods().items())]
    return "\n".join([*terms, "", "**Methods**", "", *named])


@cache
def _lowered() -> tuple[tuple[str, str], ...]:
    """Each line of the glossary as it is compared, and as it is shown."""
    return tuple((line.lower(), line) for line in listed().splitlines())


def found(sought: str) -> str:
    """The lines in which ``sought`` occurs, or all of them. Looks at the first signs of it alone."""
    wanted = sought[:LONGEST_SOUGHT].strip().lower()
    return "\n".join(line for lowered, line in _lowered() if wanted in lowered) if wanted else listed()


def unexplained(text: str) -> set[str]:
    """Greek letters and initials in ``text`` that no line explains."""
    told = listed()
    found = {*_GREEK.findall(text), *_INITIALS.findall(text)} - KNOWN_INITIALS
    return {one for one in found if not re.search(rf"(?<![A-Za-z]){re.escape(one)}(?![A-Za-z])", told)}
